"""The types of texts and their tokens, apart from what splits them: mail has no time for these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["word", "char", "char_wb"]
Row: TypeAlias = "str | Sequence[str] | None"  # a text, its tokens, or a missing text
Split: TypeAlias = Callable[[Row], list[str]]
