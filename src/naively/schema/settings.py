"""The settings of a model: one record of what its parameters are derived by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.events import Beta, Dirichlet, Multinomial
from naively.events.base import PSEUDO_COUNTS, EventModel, How
from naively.schema.text import Text

# One for each class, in the order of the classes, or by label.
Probabilities: TypeAlias = "Sequence[float] | NDArray[np.number] | Mapping[Any, float]"
ClassPrior: TypeAlias = "str | Probabilities | Beta | Dirichlet"
TextBlocks: TypeAlias = Literal["words", "blocks"]
Missingness: TypeAlias = Literal["auto", "ignore"]

SHORT = 1_500  # characters of a text, up to which its character n-grams are counted too
PRESENCE = 0.5  # the pseudo-count of words that count once in a text


@dataclass(frozen=True)
class Settings:
    """How parameters are derived from the tally.

    Parameters
    ----------
    class_prior : "data", "uniform", probabilities, Beta or Dirichlet
        From the class counts, all equal, or given, in the order of the classes or by label; or
        from the counts and a prior's pretend rows. Beta(a, b) is of the second of two classes: a
        pretend rows of it and b of the first.
    estimate : {"mean", "map", "mle", "predictive"}
        How the parameters are estimated of event models that are not given as objects, and the
        class probabilities where the class prior is Beta or Dirichlet.
    smoothing : "auto", "laplace", "jeffreys" or float
        The pseudo-count of each outcome (a level, true and false, a word, a bin) of event models
        that are not given as objects, or, where outcomes cannot be counted, the pretend rows in
        each class; "laplace" is 1, "jeffreys" 1/2. "auto" is chosen by leave-one-out where an
        event model can.
    text : {"words", "blocks"}
        What is counted of a text that was given no event model: its words; or, in blocks of their
        own and each once in a text, its words, its word bigrams and, if it is short, its character
        n-grams (see docs/decisions/0006-text.md).
    missing : {"ignore", "auto"}
        Whether a missing cell adds nothing, or is evidence of its own where a column has some.

    Examples
    --------
    >>> from naively import Bernoulli
    >>> Settings(smoothing="jeffreys").make(Bernoulli).alpha
    0.5
    """

    class_prior: ClassPrior = "data"
    estimate: How = "mean"
    smoothing: float | str = "auto"
    text: TextBlocks = "words"
    missing: Missingness = "ignore"

    def make(self, model: type[EventModel]) -> EventModel:
        """Return an event model with these settings."""
        count = self.pseudo_count
        given: dict[str, object] = {model.smoothed_by: count}
        if count is None:
            given = {} if model.chosen_by is None else {model.chosen_by: "auto"}
        return model(estimate=self.estimate, **given)  # type: ignore[call-arg]  # each has options of its own

    def merged(self, other: Settings) -> Settings:
        """Return the settings of a model that two models with these make.

        Missing cells are evidence if they are in either, and texts are counted in blocks if they
        are in either, as both follow from whether there are weights. All else must be the same.

        Raises
        ------
        ValueError
            If another setting differs; it names it.

        Examples
        --------
        >>> Settings(missing="auto").merged(Settings()).missing
        'auto'
        >>> Settings(estimate="map").merged(Settings())
        Traceback (most recent call last):
        ValueError: estimate is 'map' in one model and 'mean' in the other; ...
        """
        if other is self:
            return self
        for field in ("class_prior", "estimate", "smoothing"):
            mine, theirs = getattr(self, field), getattr(other, field)
            if not _same(mine, theirs):
                raise ValueError(
                    f"{field} is {_shown(mine)} in one model and {_shown(theirs)} in the other; "
                    "they cannot be merged."
                )
        return replace(
            self,
            text="blocks" if "blocks" in (self.text, other.text) else self.text,
            missing="auto" if "auto" in (self.missing, other.missing) else self.missing,
        )

    @property
    def pseudo_count(self) -> float | None:
        """The number that ``smoothing`` stands for; None if it is chosen by leave-one-out."""
        if self.smoothing == "auto":
            return None
        return float(PSEUDO_COUNTS.get(self.smoothing, self.smoothing))  # type: ignore[arg-type]  # a float is its own count

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """How a column of texts is counted that was given no event model."""
        if self.text == "words":
            return (Text(event=self.make(Multinomial)),)
        alpha = PRESENCE if self.pseudo_count is None else self.pseudo_count
        event = Multinomial(alpha, estimate=self.estimate)
        return (
            Text(binary=True, event=event),
            Text(ngram_range=(2, 2), binary=True, event=event),
            Text("char_wb", (2, 5), binary=True, max_characters=SHORT, event=event),
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
