"""How an adapter comes into its Session, as a plan."""

from __future__ import annotations

from .._agent_core import AgentCore
from .._plans import Plan
from ..errors import Conflicted, NotFound


def enter(agent: AgentCore, session: str, goal: str) -> Plan[None]:
    """Joins the Session, which is opened where there is none."""
    try:
        yield from agent.session("join", session)
    except NotFound:
        try:
            yield from agent.session("create", session, goal=goal)
        except Conflicted:
            # Another process was faster.
            yield from agent.session("join", session)
