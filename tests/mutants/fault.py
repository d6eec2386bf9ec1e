"""A named fault: where it is planted, and which tests guard against it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tests.mutants.copies import ROOT


@dataclass(frozen=True)
class Fault:
    """A mistake in one file, and the tests that guard against it."""

    name: str
    file: str
    was: str
    now: str
    guards: tuple[str, ...]  # as pytest takes them; the quickest first

    @property
    def text(self) -> str:
        """The whole file with the fault; there must be one place for it."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        if text.count(self.was) != 1:
            sys.exit(
                f"The fault {self.name!r} no longer applies: {self.file} has {self.was!r} "
                f"{text.count(self.was)} times. Plant it where that code is now."
            )
        return text.replace(self.was, self.now)
