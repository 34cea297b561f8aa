"""The examples of the documentation, run in their order; what they print must be what is written under them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from .servers import Server

HERE = Path(__file__).parent
PAGES = [HERE.parents[2] / "docs" / "python.md", HERE.parent / "README.md"]
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_do_what_the_page_says(
    page: Path, server: Server, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUIPU_FIELD", name)
    names: dict[str, object] = {"__name__": "example"}
    said = ""
    blocks = BLOCK.findall(page.read_text())
    assert len(blocks) > 1
    for kind, text in blocks:
        if kind == "python":
            code = text.replace("http://127.0.0.1:7070", server.url)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, str(page), "exec"), names)
            said = out.getvalue()
        else:
            pattern = re.escape(text).replace("…", r"\S+")
            assert re.fullmatch(pattern, said), f"{said!r} is not {text!r}"
    field = names.pop("field")
    getattr(field, "close")()  # noqa: B009 - what the page made has no type here
