"""The axis of words that are given, without texts that they were counted in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from naively.counting.axis import Analyser, Words
from naively.kernels.tokens import Row


@final
@dataclass(frozen=True)
class SingleWords(Analyser):
    """Texts are split into words as they are by default."""

    name = "words"

    @property
    def splitting(self) -> dict[str, Any]:
        return {}

    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        return [*texts]


def axis_of_words(words: Sequence[object]) -> Words:
    """Return the axis of these words; a ValueError if a text of one is split otherwise."""
    analyser = SingleWords()
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"Words must be strings, got {word!r}.")  # noqa: TRY004  (as all that is given wrong)
    vocabulary = analyser.new_vocabulary()
    vocabulary.add([*map(str, words)])
    ends, found, _ = vocabulary.encode([*map(str, words)], presence=False)
    alone = np.diff(ends) == 1
    if not (alone.all() and (found == np.arange(len(words))).all()):
        wrong = next(
            word for i, word in enumerate(words) if not alone[i] or found[int(ends[i])] != i
        )
        raise ValueError(f"{wrong!r} is not one word of lower case as texts are split.")
    return Words(("text",), vocabulary, analyser)
