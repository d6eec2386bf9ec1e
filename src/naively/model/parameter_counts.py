"""How many parameters a model has, and how many it would have without its assumption."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from naively.counting.axis import ByValue, title
from naively.messages import many
from naively.model.class_prior import is_estimated
from naively.model.model import Model
from naively.schema.group import Group
from naively.tabular import Tabular, as_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 10**15  # up to which a number is written out


def count_parameters(model: Model) -> int:
    """Return how many parameters are free; a class prior that is given has none."""
    of_events = (g.event.n_parameters(model.counts[g.key]) for g in model.schema.groups)
    return _of_prior(model) + sum(of_events)


def count_joint_parameters(model: Model) -> ParameterCount | float:
    """Return how many the full joint table has: one for each row that there can be and class.

    ``inf`` where a column holds numbers without end.
    """
    if any(group.kind == "missing" for group in model.schema.groups):
        return parameter_counts(model).n_joint_parameters
    values = [g.event.n_values(model.counts[g.key]) for g in model.schema.of_columns]
    if math.inf in values:
        return math.inf
    return _joint(math.prod(values), len(model.classes), _of_prior(model))


def _joint(rows: float, classes: int, of_prior: int) -> ParameterCount | float:
    """Return the parameters of a table of so many possible rows."""
    return math.inf if rows == math.inf else ParameterCount(classes * (int(rows) - 1) + of_prior)


def _of_prior(model: Model) -> int:
    return len(model.classes) - 1 if is_estimated(model.settings.class_prior) else 0


class ParameterCount(int):
    """A whole number of any size that prints as a power of 2 where it is long.

    Examples
    --------
    >>> ParameterCount(2 * (2**20 - 1) + 1)
    2097151
    >>> many = ParameterCount(2**10_001 - 1)
    >>> many, round(many.log2, 6), float(many)
    (about 2^10001, 10001.0, inf)
    """

    @property
    def log2(self) -> float:
        """The logarithm to base 2; -inf of none."""
        return math.log2(self) if self else -math.inf

    def __float__(self) -> float:
        try:
            return float(int(self))
        except OverflowError:
            return math.inf

    def __str__(self) -> str:
        return int.__repr__(self) if self <= SHOWN else f"about 2^{self.log2:.0f}"

    __repr__ = __str__

    def __format__(self, specification: str) -> str:
        return format(int(self), specification) if self <= SHOWN else str(self)


class Column(NamedTuple):
    """A column, or several that are one event: its values and its parameters."""

    name: str
    values: float  # how many it can have; inf where there is no end of them
    parameters: int


@dataclass(frozen=True, eq=False, repr=False)
class ParameterCounts(Tabular):
    """How many parameters a model has with the naive Bayes assumption, and without it.

    Parameters
    ----------
    columns : tuple of Column
        The columns in their order, each with how many values and parameters it has of its own.
    classes : int
        How many classes there are.
    of_prior : int
        How many free parameters the class prior has.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> X = [[True, False, True], [False, True, False]]
    >>> NaiveBayes().fit(X, ["yes", "no"]).inspect.parameter_counts()
    7 parameters with the naive Bayes assumption, 15 without it (2 classes, 3 columns).
    column  values  parameters  n_parameters  n_joint_parameters
    x0           2           2             3                   3
    x1           2           2             5                   7
    x2           2           2             7                  15
    """

    columns: tuple[Column, ...]
    classes: int
    of_prior: int

    @property
    def n_parameters(self) -> int:
        """How many free parameters the model has: of M booleans and two classes 2M + 1."""
        return self.with_assumption[-1] if self.columns else self.of_prior

    @property
    def n_joint_parameters(self) -> ParameterCount | float:
        """How many it would have without the assumption: 2(2ᴹ - 1) + 1; inf of any numbers."""
        return self.without[-1] if self.columns else ParameterCount(self.of_prior)

    @property
    def with_assumption(self) -> list[int]:
        """How many parameters the model of the first columns has, up to each column."""
        own = [column.parameters for column in self.columns]
        return list(accumulate(own, initial=self.of_prior))[1:]

    @property
    def without(self) -> list[ParameterCount | float]:
        """How many the joint table of the first columns has, up to each column."""
        one: float = 1
        values = list(accumulate((c.values for c in self.columns), _times, initial=one))[1:]
        return [_joint(rows, self.classes, self.of_prior) for rows in values]

    @property
    def log2_without(self) -> list[float]:
        """The logarithms to base 2 of ``without``, which are floats at any size."""
        return [n.log2 if isinstance(n, ParameterCount) else n for n in self.without]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the counts by column; those with ``n_`` are of all columns so far.

        As floats, so that ``n_joint_parameters`` may be inf where ``log2_joint_parameters`` is not.
        """
        found = self._columns()
        found["values"] = [float(values) for values in found["values"]]
        found["n_joint_parameters"] = [float(n) for n in self.without]
        return {**found, "log2_joint_parameters": self.log2_without}

    def __str__(self) -> str:
        n, joint = len(self.columns), self.n_joint_parameters
        size = f"{self.classes:,} classes, {many(n, 'column')}"
        first = (
            f"{self.n_parameters:,} parameters with the naive Bayes assumption, "
            f"{'infinitely many' if joint == math.inf else f'{joint:,}'} without it ({size})."
        )
        return f"{first}\n{as_text(self._columns())}" if self.columns else first

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "column": [column.name for column in self.columns],
            "values": [_count(column.values) for column in self.columns],
            "parameters": [column.parameters for column in self.columns],
            "n_parameters": self.with_assumption,
            "n_joint_parameters": self.without,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how the number of parameters grows with the columns, with and without it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            What to draw on; by default a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
            Its vertical axis is logarithmic.
        """
        from naively.pictures.evidence import draw_growth

        with_it = [math.log2(n) if n else -math.inf for n in self.with_assumption]
        return draw_growth(with_it, self.log2_without, ax)


def _times(rows: float, values: float) -> float:
    """Multiply whole numbers of any size, of which some are inf."""
    return math.inf if math.inf in (rows, values) else rows * values


def _count(values: float) -> float:
    return values if values == math.inf else ParameterCount(values)


def parameter_counts(model: Model) -> ParameterCounts:
    """Return the number of parameters by column (see ``nb.inspect.parameter_counts``)."""
    missing = [group for group in model.schema.groups if group.kind == "missing"]
    found = [
        column
        for group in model.schema.groups
        if group not in missing
        for column in _by_column(model, group)
    ]
    for group in missing:  # a missing cell is one more value of its column
        each = group.event.n_parameters(model.counts[group.key]) // len(group.columns)
        place = {column.name: i for i, column in reversed([*enumerate(found)])}
        for name in group.derived:
            i = place[title(name.sources[0])]
            of = found[i]
            found[i] = Column(of.name, _count(of.values + 1), of.parameters + each)
    order = {title(name): place for place, name in enumerate(model.schema.order)}
    found.sort(key=lambda column: order.get(column.name, len(order)))
    return ParameterCounts(tuple(found), len(model.classes), _of_prior(model))


def _by_column(model: Model, group: Group) -> Iterator[Column]:
    """Yield the columns of a group, or all together where they are one event."""
    event, tally = group.event, model.counts[group.key]
    axis, names = tally.axis, [title(name) for name in tally.axis.columns]
    # An interaction has no values of its own: they are those of its columns.
    of_all = 1 if group.is_interaction else event.n_values(tally)
    if event.joined or group.analyser is not None or len(names) == 1:
        yield Column(
            ", ".join(names[:3]) + ", ..." * (len(names) > 3), of_all, event.n_parameters(tally)
        )
    elif isinstance(axis, ByValue):
        for name, column in zip(names, axis.columns, strict=True):
            own = tally.of([column])
            values = 1 if group.is_interaction else event.n_values(own)
            yield Column(name, values, event.n_parameters(own))
    else:  # all columns are alike
        d = len(names)
        values = math.inf if of_all == math.inf else event.n_values(tally.of(axis.columns[:1]))
        each = event.n_parameters(tally) // max(d, 1)
        yield from (Column(name, values, each) for name in names)
