"""Estimated parameters as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.counting.axis import Level, Levels, title
from naively.counting.tally import BlockTally
from naively.events.base import EventModel
from naively.options import How
from naively.tabular import Tabular


@dataclass(frozen=True, repr=False)
class EstimatedParameters(Tabular):
    """The parameters of an event model, each with what was counted behind it.

    Parameters
    ----------
    column : list of str
        The column, where there are several.
    item : list
        The level or word; None of a column of numbers.
    parameter : list of str
        The parameter's name.
    value, count, pseudo_count : list of float
        The estimate, what was counted behind it (the trues of a coin, the rows of numbers, the
        numerator of a rate), and what the prior adds to that.
    """

    column: list[str]
    item: list[Level]
    parameter: list[str]
    value: list[float]
    count: list[float]
    pseudo_count: list[float]

    def to_dict(self) -> dict[str, list[Any]]:
        several = {"column": self.column} if len(set(self.column)) > 1 else {}
        items = {"item": self.item} if any(item is not None for item in self.item) else {}
        return {
            **several,
            **items,
            "parameter": self.parameter,
            "value": self.value,
            "count": self.count,
            "pseudo_count": self.pseudo_count,
        }


def tabulate(event: EventModel, tally: BlockTally, how: How) -> EstimatedParameters:
    """Return the parameters of the one class of a tally."""
    tables = event.parameters(tally, how)
    axis, rows = tally.axis, len(next(iter(tables.values())))
    shape = (rows, 1)
    count = np.broadcast_to(event.counted(tally), shape)[:, 0].tolist()
    pseudo = np.broadcast_to(event.pretended(tally, how), shape)[:, 0].tolist()
    if rows == len(axis):
        names = [axis.label(row) for row in range(rows)]
    elif rows == len(axis.columns):
        names = [(name, None) for name in axis.columns]
    else:  # bins, which have numbers
        names = [(axis.columns[0], row) for row in range(rows)]
    if isinstance(axis, Levels) or not event.joined:
        columns, items = [title(name) for name, _ in names], [item for _, item in names]
    else:  # the columns are the outcomes of one event
        columns = [""] * rows
        items = [title(name) if item is None else item for name, item in names]
    parameters = list(tables)
    return EstimatedParameters(
        [name for name in columns for _ in parameters],
        [item for item in items for _ in parameters],
        parameters * rows,
        [float(tables[p][row, 0]) for row in range(rows) for p in parameters],
        [c for c in count for _ in parameters],
        [c for c in pseudo for _ in parameters],
    )
