"""The settings of a model: the options that it keeps, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.events import Beta, Dirichlet, Multinomial
from naively.options import WEIGHTINGS, Options
from naively.schema.text import Text

# One for each class, in the order of the classes, or by label.
Probabilities: TypeAlias = "Sequence[float] | NDArray[np.number] | Mapping[Any, float]"
ClassPrior: TypeAlias = "str | Probabilities | Beta | Dirichlet"

FIRST = 500  # characters of a text whose character n-grams are counted, so that cost is bounded
PRESENCE = 0.5  # the pseudo-count of words that count once in a text


class Settings(Options):
    """The options of ``NaiveBayes`` that its model keeps, and its class prior."""

    class_prior: ClassPrior = "data"  # it is checked once the classes are known

    @property
    def unweighted(self) -> Settings:
        """The same settings of pure naive Bayes."""
        return replace(self, weights=None, interactions=None)

    def merged(self, other: Settings) -> Settings:
        """Return the settings of a model that two models with these make."""
        # There are weights and interactions if there are in either, missing cells are evidence if
        # they are in either, and so it is with the blocks of texts. All else must be the same.
        if other is self:
            return self
        for name in ("class_prior", "estimate", "smoothing", "half_life"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if not _same(mine, theirs):
                raise ValueError(
                    f"{name} is {_shown(mine)} in one model and {_shown(theirs)} in the other; "
                    "they cannot be merged."
                )
        blocks = self.counts_blocks or other.counts_blocks or self.text == other.text == "auto"
        missing = (
            self.counts_missing or other.counts_missing or self.presence == other.presence == "auto"
        )
        weights = next((how for how in WEIGHTINGS if how in (self.weights, other.weights)), None)
        mine, theirs = self.derived or (), other.derived or ()
        return replace(
            self,
            weights=weights,
            interactions=self.interactions or other.interactions,
            derived="auto" if "auto" in (mine, theirs) else sorted({*mine, *theirs}) or None,
            text="auto" if blocks else "words",
            presence="auto" if missing else "ignore",
        )

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """How a column of texts is counted that was given no event model."""
        if self.weights != "loo" or self.estimate not in ("mean", "map"):
            return (Text(event=Multinomial.of_options(self)),)
        alpha = PRESENCE if self.pseudo_count is None else self.pseudo_count
        event = Multinomial(alpha, estimate=self.estimate)
        words = Text(binary=True, event=event)
        if self.text == "words":
            return (words,)
        return (
            words,
            Text(ngram_range=(2, 2), binary=True, event=event),
            Text("char_wb", (2, 5), binary=True, max_characters=FIRST, event=event),
        )


def _same(a: object, b: object) -> bool:
    """Whether two settings are the same; probabilities may be in any kind of sequence."""
    listed, other = _listed(a), _listed(b)
    return type(listed) is type(other) and listed == other


def _shown(setting: object) -> str:
    return repr(_listed(setting))


def _listed(setting: object) -> object:
    """Return probabilities as a list or dict, and any other setting as it is."""
    match setting:
        case Mapping():
            return {label: float(p) for label, p in setting.items()}
        case Sequence() | np.ndarray() if not isinstance(setting, str):
            return [float(p) for p in setting]
        case int() | float():
            return float(setting)
    return setting


PURE = Settings(weights=None)  # of models without weights: drop-ins, and given parameters
