"""The settings of a model: the options that it keeps, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from naively.data.reading import Asked, ReadAs
from naively.events import Beta, Dirichlet, Multinomial
from naively.events.base import EventModel
from naively.options import PSEUDO_COUNTS, OfFields, Options, Weighting
from naively.schema.text import Text

# One for each class, in the order of the classes, or by label.
Probabilities: TypeAlias = "Sequence[float] | NDArray[np.number] | Mapping[Any, float]"
ClassPrior: TypeAlias = "str | Probabilities | Beta | Dirichlet"

FIRST = 500  # characters of a text whose character n-grams are counted, so that cost is bounded
PRESENCE = 0.5  # the pseudo-count of words that count once in a text


@dataclass(frozen=True)
class Settings(Options, OfFields):
    """The options of ``NaiveBayes`` that its model keeps, and its class prior.

    Examples
    --------
    >>> from naively import Bernoulli
    >>> Settings(smoothing="jeffreys").make(Bernoulli).alpha
    0.5
    """

    class_prior: ClassPrior = "data"  # it is checked once the classes are known
    # The number that ``smoothing`` stands for; None if it is chosen by leave-one-out.
    pseudo_count: float | None = field(init=False, repr=False, compare=False)
    # Whether a missing cell is evidence of its own, which needs a weight of its own.
    counts_missing: bool = field(init=False, repr=False, compare=False)
    # Whether a text that was given no event model is counted in blocks of their own. They say much
    # alike, which only weights of their own put right (see docs/decisions/0006-text.md).
    counts_blocks: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        count = None
        if self.smoothing != "auto":
            count = float(PSEUDO_COUNTS.get(self.smoothing, self.smoothing))  # type: ignore[arg-type]  # a float is its own count
        own = self.weights == "loo"
        blocks = own and self.text == "auto" and self.estimate in ("mean", "map")
        object.__setattr__(self, "pseudo_count", count)
        object.__setattr__(self, "counts_missing", own and self.presence == "auto")
        object.__setattr__(self, "counts_blocks", blocks)

    def read_as(self, contents: Mapping[Any, Asked]) -> ReadAs:
        """Return what was said of the columns of strings, with what they are."""
        return ReadAs(contents, self.missing_values, self.decimal, self.day_first)

    @property
    def unweighted(self) -> Settings:
        """The same settings of pure naive Bayes."""
        return replace(self, weights=None, interactions=None)

    def make(self, model: type[EventModel]) -> EventModel:
        """Return an event model with these settings."""
        count = self.pseudo_count
        given: dict[str, object] = {model.smoothed_by: count}
        if count is None:
            given = {} if model.chosen_by is None else {model.chosen_by: "auto"}
        return model(estimate=self.estimate, **given)  # type: ignore[call-arg]  # each has options of its own

    def merged(self, other: Settings) -> Settings:
        """Return the settings of a model that two models with these make.

        There are weights and interactions if there are in either, missing cells are evidence if
        they are in either, and so it is with the blocks of texts. All else must be the same.

        Raises
        ------
        ValueError
            If another setting differs; it names it.

        Examples
        --------
        >>> Settings(presence="ignore").merged(Settings()).presence
        'auto'
        >>> Settings(estimate="map").merged(Settings())
        Traceback (most recent call last):
        ValueError: estimate is 'map' in one model and 'mean' in the other; ...
        """
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
        return replace(
            self,
            weights=next(
                (how for how in get_args(Weighting) if how in (self.weights, other.weights)), None
            ),
            interactions=self.interactions or other.interactions,
            text="auto" if blocks else "words",
            presence="auto" if missing else "ignore",
        )

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """How a column of texts is counted that was given no event model."""
        if self.weights != "loo" or self.estimate not in ("mean", "map"):
            return (Text(event=self.make(Multinomial)),)
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
    if isinstance(setting, Mapping):
        return {label: float(p) for label, p in setting.items()}
    if isinstance(setting, str | Beta | Dirichlet):
        return setting
    if isinstance(setting, Sequence | np.ndarray):
        return [float(p) for p in setting]
    return float(setting) if isinstance(setting, int | float) else setting


PURE = Settings(weights=None)  # of models without weights: drop-ins, and given parameters
