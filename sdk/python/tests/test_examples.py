"""The examples of the repository, run as a reader would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from .servers import Server, binary

SDK = Path(__file__).resolve().parents[1]
STORY = SDK.parents[1] / "examples" / "three_agents" / "run.py"

FACTS = [
    "The Kessel lighthouse had 42,000 visitors in 2025. (A brochure, which wants to sell tickets: 0.6)",
    "because: Recent finding from researcher. Shares 'visitors' and 'lighthouse' with your hint",
    "CONFLICT, found by the Field (semantic): “The Kessel lighthouse had 42,000 visitors in 2025” against",
    "By confidence: The Kessel lighthouse had 24,000 visitors in 2025.",
    "Superseded, and kept in the log with its reasons: The Kessel lighthouse had 42,000 visitors in 2025.",
    "To Wilma, with 3 units that stand and a question: Is it open in winter?",
    "It goes to page seven. Asked outside: ticket office, model, model.",
    "Recorded decision: The lighthouse story is printed on page seven.",
    "Same story: yes. Asked outside: 0 times.",
    "Changed: mcp:tickets:count-1.",
    "Asked otherwise because of it: llm:writer:1, llm:writer:2.",
    "Page: page seven -> the front page. Asked outside: 0 times.",
    "It names what was substituted, by hashes, and why: what if the brochure was right.",
]


def tell(*options: str, at: Path) -> str:
    """What the story prints, with its lines joined."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("QUIPU_")}
    done = subprocess.run(
        [sys.executable, str(STORY), *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=at,
        env={**environment, "QUIPU_BIN": binary()},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return re.sub(r"\s+", " ", done.stdout)


def check(told: str) -> None:
    assert [fact for fact in FACTS if fact not in told] == [], told
    assert told.count(": verified.") == 3
    assert "NOT VALID" not in told


def test_the_story_of_the_three_agents_starts_its_own_server_and_keeps_its_data(tmp_path: Path) -> None:
    check(tell("--keep", "kept", at=tmp_path))
    verified = subprocess.run(
        [binary(), "verify", "--data", str(tmp_path / "kept")], check=True, capture_output=True, text=True, timeout=60
    )
    assert "commits" in verified.stdout


def test_the_examples_are_typed_and_tidy(tmp_path: Path) -> None:
    for check in (
        ["mypy", "--strict", "--cache-dir", str(tmp_path / "mypy"), STORY.name],
        ["ruff", "check", "--no-cache", "--config", str(SDK / "pyproject.toml"), "--extend-ignore", "S", "."],
        ["ruff", "format", "--check", "--no-cache", "--config", str(SDK / "pyproject.toml"), "."],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *check], check=False, capture_output=True, text=True, timeout=300, cwd=STORY.parent
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_story_is_told_twice_on_a_server_that_runs_already(server: Server, tmp_path: Path) -> None:
    check(tell("--url", server.url, at=tmp_path))
    check(tell("--url", server.url, at=tmp_path))
