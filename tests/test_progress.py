"""Progress is shown on a terminal, and nothing in a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest

from naively.progress import with_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def batches() -> Iterator[list[int]]:
    for i in range(3):
        yield [i] * 1000


def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    found = list(with_progress(batches(), "rows", len, 3000))
    assert found == list(batches())
    assert "3,000 rows" in screen.getvalue()
    assert "rows a second" in screen.getvalue()


def test_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", pipe := io.StringIO())
    assert list(with_progress(batches(), "rows", len)) == list(batches())
    assert not pipe.getvalue()
