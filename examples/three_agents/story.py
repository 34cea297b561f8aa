"""Three agents and a lighthouse, scene by scene. Every scene says what happens and does it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from dataclasses import field as member
from textwrap import fill
from uuid import uuid4

import quipu
import quipu.receipts

from world import VISITORS, World
from writing import write

TICKETS = "mcp:tickets:count-1"


def title(text: str) -> None:
    """Begins a scene."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}")


def say(text: str, indent: int = 2, hang: int = 0) -> None:
    """One paragraph; all lines but the first hang further in."""
    print(fill(text, width=100, initial_indent=" " * indent, subsequent_indent=" " * (indent + hang)))


@dataclass
class Story:
    """Who takes part, and what has come of it so far."""

    field: quipu.Field
    world: World = member(default_factory=World)
    name: str = member(default_factory=lambda: uuid4().hex[:6])

    def __post_init__(self) -> None:
        self.task_id = f"kessel-{self.name}"
        self.session_id = f"newsroom-{self.name}"
        rosa = self.field.agent("rosa", role="researcher", interests=["lighthouses", "harbours"])
        finn = self.field.agent("finn", role="fact checker", interests=["figures", "sources"])
        wilma = self.field.agent("wilma", role="writer", interests=["stories"])
        rosa.session(
            "create", self.session_id, goal="Three sentences about a lighthouse", policy={"trace_attunes": True}
        )
        for agent in (finn, wilma):
            agent.session("join", self.session_id)
        self.rosa, self.finn, self.wilma = (agent.within(self.session_id) for agent in (rosa, finn, wilma))

    def tell(self) -> None:
        """All of it."""
        self.research()
        conflict_id = self.check()
        figure = self.settle(conflict_id)
        self.hand_over()
        run, notes = self.write()
        decision = self.decide(run, figure)
        self.look_back(decision)
        self.again(run, notes)
        self.otherwise(run, notes)

    def research(self) -> None:
        """Findings with their intent."""
        title("1. Rosa looks things up")
        self.rosa.coordinate(
            "create",
            self.task_id,
            title="Write three sentences about the Kessel lighthouse",
            purpose="Fill the corner of the weekend edition",
            assignee="rosa",
        )
        self.rosa.coordinate("start", self.task_id)
        for text, score, because in (
            ("The Kessel lighthouse had 42,000 visitors in 2025.", 0.6, "A brochure, which wants to sell tickets"),
            ("The Kessel lighthouse was built by Ida Voss in 1871.", 0.95, "The stone above the door says so"),
            ("The harbour cafe closes at six.", 0.9, "I stood before it at seven"),
        ):
            self.rosa.record(
                text,
                purpose="Give the writer something true to write about",
                question="What is worth telling about the lighthouse?",
                task_id=self.task_id,
                confidence=score,
                reasoning=because,
            )
            say(f"{text} ({because}: {score})")

    def check(self) -> str:
        """What a colleague is shown, and a disagreement that the Field notices by itself."""
        title("2. Finn asks what matters to a fact checker")
        shown = self.finn.attune("check the number of visitors of the lighthouse", max_units=2)
        for it in shown.record:
            say(f"{it.relevance_score:.2f}  {it.memory_unit.content}")
            say(f"because: {it.relevance_reason}", 8)
        recorded = self.finn.record(
            f"The Kessel lighthouse had {VISITORS:,} visitors in 2025.",
            purpose="Keep a wrong figure out of the paper",
            task_id=self.task_id,
            confidence=0.95,
            reasoning="The ticket office counts turnstiles, not wishes",
            evidence=["Annual report of the ticket office, page 3"],
        )
        say("Finn asks the ticket office and records what it says. He accuses nobody, but:")
        # A busy Field looks a little later by itself; asking makes it look now.
        found = recorded.conflicts_detected or [
            it.id for it in self.finn.detect("check", target_id=recorded.memory_unit_id).conflicts
        ]
        (conflict,) = [it for it in self.finn.detect("list").conflicts if it.id in found]
        say(f"CONFLICT, found by the Field ({conflict.detected_by}): {conflict.description}")
        return conflict.id

    def settle(self, conflict_id: str) -> str:
        """MERGE. The unit that prevailed."""
        title("3. The conflict is settled")
        merged = self.finn.merge(conflict_id, "confidence_weighted", rationale="A turnstile beats a brochure")
        (loser_id,) = merged.side_effects["superseded_units"]
        (winner_id,) = {merged.conflict.unit_a, merged.conflict.unit_b} - {loser_id}
        say(f"By confidence: {self.finn.unit(winner_id).content}")
        say(f"Superseded, and kept in the log with its reasons: {self.finn.unit(loser_id).content}")
        return winner_id

    def hand_over(self) -> None:
        """HANDOFF."""
        title("4. Rosa hands the story over")
        offer = self.rosa.handoff(
            "offer",
            task_id=self.task_id,
            to_agent="wilma",
            reason="My shift ends",
            context={"summary": "All facts are in, one of them was wrong", "open_questions": ["Is it open in winter?"]},
        )
        handoff = offer.handoff
        assert handoff is not None
        count, asked = len(handoff.context.memory_unit_ids), handoff.context.open_questions[0]
        say(f"To Wilma, with {count} units that stand and a question: {asked}")
        self.wilma.handoff("accept", handoff_id=handoff.id)
        self.wilma.coordinate("start", self.task_id)
        say("Wilma accepts. Nobody had to paste anything into a prompt.")

    def write(self) -> tuple[quipu.Run, list[str]]:
        """A recorded Task."""
        title("5. Wilma writes, and every answer she is given is recorded")
        shown = self.wilma.attune("the lighthouse story", active_task_id=self.task_id)
        notes = sorted(str(unit.content) for unit in shown.units)
        with self.field.task("write about the Kessel lighthouse", agent="wilma", session=self.session_id) as run:
            run.result = write(run, self.world, notes)
        say(f'"{run.result["headline"]}"')
        say(run.result["text"], 4)
        say(f"It goes to {run.result['page']}. Asked outside: {', '.join(self.world.asked)}.")
        return run, notes

    def decide(self, run: quipu.Run, figure: str) -> str:
        """A decision that rests on what its author had been shown."""
        page = run.result["page"]
        decision = self.wilma.record(
            f"The lighthouse story is printed on {page}.",
            type="decision",
            purpose="Let the layout know where it goes",
            task_id=self.task_id,
            confidence=0.9,
            reasoning=f"{VISITORS:,} visitors are no news, but a nice corner",
            relations=[{"type": "depends_on", "target_id": figure}],
        )
        self.wilma.coordinate("complete", self.task_id, result_unit_ids=[decision.memory_unit_id])
        return decision.memory_unit_id

    def look_back(self, decision: str) -> None:
        """REPLAY."""
        title("6. Why page seven? REPLAY tells how the decision came about")
        told = self.wilma.replay("decision", decision, depth="detailed")
        for event in told.timeline:
            say(f"{event.epoch:>4}  {event.agent_id:<7} {event.description}", hang=14)
        say(f"{told.total_events} events, told from the log alone.")

    def again(self, run: quipu.Run, notes: list[str]) -> None:
        """An exact replay."""
        title("7. The same again, exactly, and nobody is asked")
        before = len(self.world.asked)
        replay = self.field.replay(run.id, agent="wilma")
        again = self.field.run_replay(replay.id, lambda it: write(it, self.world, notes), agent="wilma")
        same = again.result == run.result and not again.divergence().diverged
        say(f"Same story: {'yes' if same else 'NO'}. Asked outside: {len(self.world.asked) - before} times.")
        self._receipt("The run", run)
        self._receipt("Its replay", again)

    def otherwise(self, run: quipu.Run, notes: list[str]) -> None:
        """A counterfactual replay."""
        title("8. What if the ticket office had said 42,000?")
        before = len(self.world.asked)
        answer = quipu.Override({"year": 2025, "visitors": 42_000}, reason="what if the brochure was right")
        replay = self.field.replay(run.id, overrides={TICKETS: answer}, agent="wilma")
        other = self.field.run_replay(replay.id, lambda it: write(it, self.world, notes), agent="wilma")
        difference = other.divergence()
        say(f"Changed: {', '.join(it.key for it in difference.dependencies)}.")
        say(f"Asked otherwise because of it: {', '.join(it.key for it in difference.request_drift)}.")
        say(f"Page: {difference.output.source['page']} -> {difference.output.replay['page']}.")
        say(f"Asked outside: {len(self.world.asked) - before} times.")
        self._receipt("The what-if", other)
        deltas = other.receipt().payload["deltas"]
        (delta,) = [delta for delta in deltas if delta["path"].endswith(TICKETS)]
        say(f"It names what was substituted, by hashes, and why: {delta['reason']}.", 4)

    def _receipt(self, whose: str, run: quipu.Run) -> None:
        receipt = run.receipt()
        checked = quipu.receipts.verify(receipt)
        valid = bool(checked) and self.field.verify(receipt.id).valid
        say(f"{whose} has a receipt, {checked.receipt_hash[:18]}…: {'verified' if valid else 'NOT VALID'}.")
