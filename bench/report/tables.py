"""The tables, a function each. Every row ends with the command that measures it again."""

from __future__ import annotations

from .results import Row, Run, System
from .wording import milliseconds, number, seconds, size, table

GENERATOR_LIMIT = 0.8


def systems(run: Run) -> str:
    """What was compared, and what an answered write has been through."""
    rows = []
    for system in run.systems:
        raw = system.raw
        rows.append(
            [system.title, raw.get("version", ""), raw.get("setup", ""), raw.get("promise", ""), synced(system)]
        )
    return table(["system", "version", "how it is run", "an answered write has been", "syncs a write, by strace"], rows)


def synced(system: System) -> str:
    """What strace saw."""
    for row in system.good("writes"):
        found = row.get("syncs")
        if found:
            flagged = f", {found['synced_files']} files with O_SYNC" if found.get("synced_files") else ""
            return (
                number(found["per_write"]) + flagged
                if found["status"] == "ok"
                else f"{found['status']}: {found['why']}"
            )
    return ""


def writes(run: Run) -> str:
    """Rates and times of durable single writes."""
    clients = sorted({row["clients"] for system in run.systems for row in system.good("writes")})
    heads = [
        "system",
        *(f"{count} client{'s' * (count > 1)}" for count in clients),
        "processor time a write",
        "command",
    ]
    rows = []
    for system in run.systems:
        found = {row["clients"]: row for row in system.good("writes")}
        if not found:
            rows.append([system.title, *([system.lack("writes")] + [""] * (len(heads) - 2))])
            continue
        used = found[max(found)].get("processor_ms")
        command = system.command("writes", run.mode)
        rows.append([system.title, *(rate(found.get(count)) for count in clients), milliseconds(used), command])
        if any("own" in row for row in found.values()):
            own = {count: row["own"] for count, row in found.items() if "own" in row}
            by = next(iter(own.values()))["generator"]
            rows.append([f"{system.title}, by `{by}`", *(rate(own.get(count)) for count in clients), "", command])
    return table(heads, rows)


def rate(row: Row | None) -> str:
    """Writes a second, with the middle and the end of their times."""
    if not row:
        return ""
    told = f"**{number(row['per_second'])}/s** ({number(row['p50_ms'])} / {number(row['p99_ms'])} ms)"
    if row.get("generator_share", 0.0) > GENERATOR_LIMIT:
        told += ", limited by our generator"
    if row.get("refused"):
        told += f", {row['refused']} refused"
    return told


def context(run: Run) -> str:
    """Times of context by size."""
    sizes = sorted({row["units"] for system in run.systems for row in system.rows("context") if "units" in row})
    heads = ["system", *(f"{count:,} units" for count in sizes), "units given", "command"]
    rows = []
    for system in run.of_kind("memory"):
        by_size = {row["units"]: row for row in system.rows("context") if "units" in row}
        if not by_size:
            rows.append([system.title, *([system.lack("context")] + [""] * (len(heads) - 2))])
            continue
        given = [row["found"] for row in by_size.values() if row["status"] == "ok"]
        cells = [_context_cell(by_size.get(count), system.failed("context")) for count in sizes]
        found = number(given[-1]) if given else ""
        rows.append([system.title, *cells, found, system.command("context", run.mode)])
    return table(heads, rows)


def _context_cell(row: Row | None, failed: str) -> str:
    if not row:
        return failed
    if row["status"] != "ok":
        return f"{row['status']}: {row['why']}"
    return f"**{number(row['p50_ms'])}** / {number(row['p95_ms'])} / {number(row['p99_ms'])} ms"


def recall(run: Run) -> str:
    """Recall of each set."""
    names = sets(run)
    heads = ["system", "vectors", *(f"{name}: recall@10 (p50)" for name in names), "command"]
    rows = []
    for system in run.of_kind("memory"):
        found = {row["set"]: row for row in system.good("recall")}
        if not found:
            rows.append([system.title, *([system.lack("recall")] + [""] * (len(heads) - 2))])
            continue
        cells = [_recall_cell(found.get(name), system.failed("recall")) for name in names]
        rows.append([system.title, system.raw.get("vectors", ""), *cells, system.command("recall", run.mode)])
    return table(heads, rows)


def _recall_cell(row: Row | None, failed: str) -> str:
    if not row:
        return failed
    refused = f", {row['refused']} refused" if row["refused"] else ""
    return f"**{row['recall_at_10']:.3f}** ({milliseconds(row['p50_ms'])}, {row['questions']} questions{refused})"


def sets(run: Run) -> list[str]:
    """The labelled sets of a run."""
    return sorted({row["set"] for system in run.systems for row in system.good("recall")})


def survival(run: Run) -> str:
    """What was acknowledged and what is there."""
    rows = []
    for system in run.systems:
        found = system.good("survival")
        if not found:
            rows.append([system.title, system.lack("survival"), *[""] * 6])
        elif not any(row["kill"] for row in found):
            rows.append([system.title, f"kill -9: {system.failed('survival') or 'not tried'}", *[""] * 6])
        for row in found:
            way = "8 writers" if row["variant"] == "shared" else f"8 writers, {row['variant']}"
            kill = f"{way}, kill -9, {row['rounds']} round{'s' * (row['rounds'] > 1)}" if row["kill"] else way
            lost = f"**{row['lost']:,}**" if row["lost"] else "0"
            counts = [f"{row['acknowledged']:,}", f"{row['survived']:,}", lost, f"{row['refused']:,}"]
            rows.append(
                [system.title, kill, *counts, seconds(row.get("recovery_s")), system.command("survival", run.mode)]
            )
    return table(
        ["system", "what happened", "acknowledged", "there", "lost", "refused", "start after it", "command"], rows
    )


def weight(run: Run) -> str:
    """Start-up, memory and disk, empty and at the largest size that was reached."""
    rows = []
    for system in run.systems:
        empty = next(iter(system.good("start")), {})
        full = next(reversed(system.good("context") or system.good("weight")), {})
        lack = "" if empty or full else system.lack("start")
        units = f"{full['units']:,}" if full else lack
        again = seconds(full.get("start_again_s"))
        at_start = [seconds(empty["start_s"]), size(empty["memory_bytes"])] if empty else ["", ""]
        heavy = [again, size(full.get("memory_bytes")), size(full.get("disk_bytes_per_unit"))]
        step = "context" if system.kind == "memory" else "weight"
        rows.append([system.title, *at_start, units, *heavy, system.command(f"start,{step}", run.mode)])
    heads = ["system", "start, empty", "memory, empty", "units", "start with them", "memory with them", "disk a unit"]
    return table([*heads, "command"], rows)
