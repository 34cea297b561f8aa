"""What importing brings along."""

from __future__ import annotations

import subprocess
import sys

LIBRARIES = ("langgraph", "langchain_core", "openai", "agents", "anthropic", "httpx2")


def test_importing_quipu_imports_no_library_of_an_adapter() -> None:
    program = f"import sys, quipu, quipu.adapters; print([it for it in {LIBRARIES} if it in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
