"""The evidence in a row, step by step: from the prior's log odds to the total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.counting.labels import Label
from naively.messages import many, visible
from naively.model.classes import number_of
from naively.schema.encode import plain_cell
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.model.explain import ExplainedRow


@dataclass(frozen=True, eq=False, repr=False)
class Waterfall(Tabular):
    """Weights of evidence that are added up, one step after the other.

    Parameters
    ----------
    label, against : label
        The class that is spoken for, and its strongest rival.
    item : list of str
        What each step is: the class prior, the items of greatest weight, and all others as one.
    weight : list of float
        The weight of each step in nats; they sum to the log odds.
    log_odds : float
        Of the class against its rival; NaN where both are impossible.
    probability : float
        The posterior of the class among all classes.
    """

    label: Label
    against: Label
    item: list[str]
    weight: list[float]
    log_odds: float
    probability: float

    @property
    def start(self) -> list[float]:
        """Where each step begins: the sum of those before it, in nats."""
        with np.errstate(invalid="ignore"):
            ends: list[float] = np.cumsum([0.0, *self.weight])[:-1].tolist()
        return ends

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns item, weight and start: where each step begins."""
        return {"item": [*self.item], "weight": [*self.weight], "start": self.start}

    @property
    def heading(self) -> str:
        """The classes, the log odds and the probability, in one line."""
        names = f"{self.label!r} against {self.against!r}"
        if np.isnan(self.log_odds):
            return visible(f"{names}: every class is impossible, so that the class prior decides")
        odds = f"log odds {self.log_odds:.2f} nats, probability {self.probability:.2f}"
        return visible(f"{names}: {odds}")

    def __str__(self) -> str:
        steps = zip(self.item, self.weight, strict=True)
        return "\n".join([self.heading, *(f"{w:+8.2f}  {visible(item)}" for item, w in steps)])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each step as a bar that begins where the last one ended."""
        from naively.pictures.axes import name_of
        from naively.pictures.evidence import draw_waterfall

        names = f"{name_of(self.label)} against {name_of(self.against)}"
        total = f"log odds {self.log_odds:.2f} (probability {self.probability:.2f})"
        if np.isnan(self.log_odds):
            total = f"all impossible: the prior decides ({self.probability:.2f})"
        return draw_waterfall(
            self.item,
            np.array(self.weight),
            label=f"log odds (nats)\n{names}",
            title=total,
            ax=ax,
        )


def waterfall(row: ExplainedRow, n: int = 10, label: Label | None = None) -> Waterfall:
    """Return the n items of greatest weight in a row, step by step (see ``ExplainedRow.plot``)."""
    from naively.model.explain import INTERCEPT, PRIOR, shown

    if n < 1:
        raise ValueError(f"n must be at least 1, the items that are drawn, got {n}.")
    c, labels = number_of(row.classes, label, row.best), row.classes.tolist()
    items = row.top(c)
    of_every_row = [(PRIOR, None), (INTERCEPT, None)]
    others = [item for item in items if item[:2] not in of_every_row]
    first, rest = others[:n], others[n:]
    steps = [
        *((item[0], item[2]) for first in of_every_row for item in items if item[:2] == first),
        *((shown(column, _short(value)), weight) for column, value, weight in first),
    ]
    if rest:
        with np.errstate(invalid="ignore"):
            of_rest = float(np.sum([weight for *_, weight in rest]))
        steps.append((f"other ({many(len(rest), 'item')})", of_rest))
    return Waterfall(
        labels[c],
        labels[row.rival(c)],
        [item for item, _ in steps],
        [float(weight) for _, weight in steps],
        row.log_odds(c),
        row.probability(c),
    )


def _short(value: object) -> object:
    """Return a number with as many digits as a picture has room for."""
    value = plain_cell(value)
    return f"{value:.6g}" if isinstance(value, float) else value
