"""Makes pairs of sentences about the work of agents, with the label that follows from how they were made.

    python templates.py OUT.jsonl [--pairs 16000]

They teach the scorer what public pair sets lack: numbers, settings, states and denials of one subject, and what
looks like them but clashes with nothing. None of them is among the pairs of the test-suite.
"""

import argparse
import json
import random

OWNERS = "billing inventory checkout identity ledger notification mapping reporting gateway staging tenant archive".split()
THINGS = ("service", "worker", "database", "queue", "dashboard", "pipeline", "importer", "scheduler", "proxy", "cluster")
PLACES = ("in Frankfurt", "for premium accounts", "on Sundays", "under load", "after login", "in the second phase")
SETTINGS = {
    "keeps its logs for {} days": (7, 14, 30, 60, 90),
    "answers within {} ms": (40, 80, 150, 400, 900),
    "handles {} requests a second": (50, 120, 700, 2000, 5000),
    "needs {} GB of memory": (2, 4, 8, 16, 64),
    "costs ${} a month": (90, 240, 800, 1500, 3100),
    "has {} open bugs": (3, 9, 17, 42, 58),
    "is owned by the {} team": ("storage", "growth", "security", "platform", "research"),
    "is written in {}": ("Go", "Rust", "Python", "Java", "Kotlin"),
    "runs on {}": ("Linux", "Windows", "Solaris", "FreeBSD"),
    "stores its data in {}": ("Redis", "Cassandra", "Oracle", "SQLite", "MongoDB"),
    "will be released on {}": ("May 4", "June 12", "August 30", "October 1", "December 9"),
}
STATES = (
    ("is enabled", "is disabled"), ("is online", "is offline"), ("is stable", "is unstable"), ("is fast", "is slow"),
    ("passed the audit", "failed the audit"), ("is empty", "is full"), ("was approved", "was rejected"),
    ("is safe to delete", "is not safe to delete"), ("supports paging", "does not support paging"),
    ("uses encryption", "uses no encryption"), ("is reachable from outside", "cannot be reached from outside"),
    ("has been deployed", "has not been deployed yet"), ("always retries", "never retries"),
    ("encrypts every backup", "encrypts none of the backups"), ("is ready", "isn't ready"),
)
SAME = {
    "is enabled": "is turned on", "is disabled": "is switched off", "is online": "is up", "is fast": "is quick",
    "passed the audit": "got through the audit", "was approved": "got approval", "is ready": "is finished",
    "has been deployed": "is deployed now", "supports paging": "can page",
}
DONE = (
    ("migrated the {} {}", "migration"), ("benchmarked the {} {}", "benchmark"), ("restarted the {} {}", "restart"),
    ("reviewed the {} {} code", "review"), ("worked with the {} {}", "work"), ("written tests for the {} {}", "tests"),
)
LEADS = ("", "", "", "We found that ", "According to the report, ", "Note: ", "I checked and ", "As of today ")


def subject(rng):
    return f"the {rng.choice(OWNERS)} {rng.choice(THINGS)}"


def say(rng, text):
    text = rng.choice(LEADS) + text
    if rng.random() < 0.2:
        text += " " + rng.choice(PLACES)
    return text[0].upper() + text[1:] + "."


def setting(rng):
    pattern = rng.choice(list(SETTINGS))
    return pattern, rng.sample(SETTINGS[pattern], 2)


def pair(rng):
    kind = rng.randrange(12)
    one, other = subject(rng), subject(rng)
    pattern, (left, right) = setting(rng)
    good, bad = rng.choice(STATES)
    if kind <= 1:
        return f"{one} {pattern.format(left)}", f"{one} {pattern.format(right)}", "contradiction"
    if kind <= 3:
        return f"{one} {good}", f"{one} {bad}", "contradiction"
    if kind == 4:
        done = rng.choice(DONE)[0].format(*one.split()[1:])
        when = rng.choice(("yesterday", "last week", "on Tuesday", "in March", "twice"))
        return f"I have {done} {when}", f"I have never {done}", "contradiction"
    if kind == 5:
        value = pattern.format(left)
        return f"{one} {value}", f"{one} {value}, as {rng.choice(('agreed', 'planned', 'before', 'expected'))}", "entailment"
    if kind == 6:
        good = rng.choice(list(SAME))
        return f"{one} {good}", f"{one} {SAME[good]}", "entailment"
    if kind == 7 and one != other:
        return f"{one} {pattern.format(left)}", f"{other} {pattern.format(right)}", "neutral"
    if kind == 8 and one != other:
        return f"{one} {good}", f"{other} {bad}", "neutral"
    if kind == 9:
        second, (value, _) = setting(rng)
        if second != pattern:
            return f"{one} {pattern.format(left)}", f"{one} {second.format(value)}", "neutral"
    if kind == 10:
        first, second = rng.sample(DONE, 2)
        return f"I have {first[0].format(*one.split()[1:])}", f"I have never {second[0].format(*other.split()[1:])}", "neutral"
    return f"{one} {good}", f"{one} {pattern.format(left)}", "neutral"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("out")
    arguments.add_argument("--pairs", type=int, default=16000)
    given = arguments.parse_args()
    rng = random.Random(20261115)
    with open(given.out, "w", encoding="utf-8") as file:
        for _ in range(given.pairs):
            a, b, label = pair(rng)
            if rng.random() < 0.5 and "never" not in b:
                a, b = b, a
            file.write(json.dumps({"a": say(rng, a), "b": say(rng, b), "label": label}) + "\n")


if __name__ == "__main__":
    main()
