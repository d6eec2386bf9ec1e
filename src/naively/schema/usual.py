"""The usual settings: of event models that are named, or chosen, rather than given as objects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal, TypeAlias

from naively.events import Multinomial
from naively.events.base import PSEUDO_COUNTS, EventModel, How
from naively.schema.text import Text

TextBlocks: TypeAlias = Literal["words", "blocks"]

SHORT = 1_500  # characters of a text, up to which runs of them are counted too
PRESENCE = 0.5  # the pseudo-count of words that count once in a text


@dataclass(frozen=True)
class Usual:
    """The settings of event models that are not given as objects.

    Parameters
    ----------
    estimate : {"mean", "map", "mle", "predictive"}
        How parameters are estimated.
    smoothing : "auto", "laplace", "jeffreys" or float
        The pseudo-count of each outcome (a level, true and false, a word, a bin), or, where
        outcomes cannot be counted, the pretend rows in each class; "laplace" is 1, "jeffreys" 1/2.
        "auto" is chosen by leave-one-out where an event model can.
    text : {"words", "blocks"}
        What is counted of a text: its words; or words, word bigrams, and, if it is short, character
        n-grams, each once, as blocks of their own (see docs/decisions/0006-text.md).
    """

    estimate: How = "mean"
    smoothing: float | str = "auto"
    text: TextBlocks = "words"

    def make(self, model: type[EventModel]) -> EventModel:
        """Return an event model with these settings."""
        count = self.pseudo_count
        given: dict[str, Any] = {model.smoothed_by: count}
        if count is None:
            given = {} if model.chosen_by is None else {model.chosen_by: "auto"}
        return model(estimate=self.estimate, **given)  # type: ignore[call-arg]

    @property
    def pseudo_count(self) -> float | None:
        """The number that ``smoothing`` stands for; None: it is chosen."""
        if self.smoothing == "auto":
            return None
        if isinstance(self.smoothing, str):
            return PSEUDO_COUNTS[self.smoothing]
        return float(self.smoothing)

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """How a column of texts is counted, unless it is said."""
        if self.text == "words":
            return (Text(event=self.make(Multinomial)),)
        alpha = PRESENCE if self.pseudo_count is None else self.pseudo_count
        event = Multinomial(alpha, estimate=self.estimate)
        return (
            Text(binary=True, event=event),
            Text(ngram_range=(2, 2), binary=True, event=event),
            Text(
                analyzer="char_wb",
                ngram_range=(2, 5),
                binary=True,
                max_characters=SHORT,
                event=event,
            ),
        )


def check_smoothing(smoothing: Any) -> None:
    """Raise a ValueError unless this is a pseudo-count, or a name for one."""
    if isinstance(smoothing, str):
        if smoothing in ("auto", *PSEUDO_COUNTS):
            return
    elif isinstance(smoothing, Real) and 0 <= float(smoothing) < math.inf:
        return
    names = ", ".join(map(repr, ("auto", *PSEUDO_COUNTS)))
    raise ValueError(f"smoothing must be {names} or a number of at least 0, got {smoothing!r}.")
