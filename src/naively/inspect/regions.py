"""What is predicted where, over two columns of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name, title
from naively.counting.block import Batch
from naively.counting.labels import Label, LabelArray
from naively.data.columns import column_rows
from naively.inspect.one_column import MOST_CELLS, ROOM, OneColumn
from naively.kernels.reference import Floats
from naively.messages import many, visible
from naively.model.class_prior import and_more, frequent, number_of, spoken_for
from naively.model.model import Model
from naively.schema.schema import Missing, list_names
from naively.tabular import Tabular, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


POINTS = 150  # on each side of a grid
FEWEST = 30
MOST_POSTERIORS = 6_000_000  # of all points and classes
JOINT = (
    "A joint table has a probability for each row of values, and none between them: it has no "
    "regions; other event models do."
)
DRAWN = 1_500  # rows of the sample that are drawn

What: TypeAlias = Literal["regions", "posterior", "difference", "margin", "density"]
WHAT: tuple[What, ...] = get_args(What)


class Regions(Tabular):
    """The predicted class and the posterior on a grid over two columns.

    Parameters
    ----------
    columns : tuple of str
        The horizontal and the vertical column.
    classes : ndarray of shape (classes,)
        The class labels.
    class_count : ndarray of shape (classes,)
        How many rows of each were learned.
    x, y : ndarray of shape (points,)
        The numbers of the grid.
    log_posterior : ndarray of shape (points of y, points of x, classes)
        log p(class | x, y) at each point.
    density : tuple of ndarray, or None
        p(x | class) and p(y | class) without weights, each of shape (points, classes); None where
        a column has none of its own, as the counts of a multinomial event model.
    sample : tuple of ndarray
        The numbers of rows that were learned, (rows,) each, and their class numbers; empty where
        no rows are kept.
    notes : tuple of str
        What else is to be said.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    columns: tuple[str, str]
    classes: LabelArray
    class_count: Floats
    x: Floats
    y: Floats
    log_posterior: Floats
    density: tuple[Floats, Floats] | None
    sample: tuple[Floats, Floats, NDArray[np.int64]]
    notes: tuple[str, ...]
    target: str = ""

    @property
    def label(self) -> LabelArray:
        """The predicted class at each point, of shape (points of y, points of x)."""
        return np.asarray(self.classes[self.log_posterior.argmax(axis=2)])

    @property
    def posterior(self) -> Floats:
        """p(class | x, y), of shape (points of y, points of x, classes)."""
        return np.asarray(np.exp(self.log_posterior))

    def log_odds(self, label: Label | None = None) -> Floats:
        """Return the log odds of a class against its strongest rival at each point, in nats.

        Its shape is (points of y, points of x), and it is 0 on the border of the class's region.
        The class is by default the second of two, else the most frequent.
        """
        c = self.number(label)
        rest = np.delete(self.log_posterior, c, axis=2)
        if not rest.shape[2]:
            return np.full(rest.shape[:2], np.inf)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.log_posterior[:, :, c] - rest.max(axis=2))

    def margin(self, label: Label | None = None) -> Floats:
        """Return p(class | x, y) less that of its strongest rival, from -1 to 1, at each point.

        Its shape is (points of y, points of x). For two classes it is p(1 | x) - p(0 | x). The
        class is by default the second of two, else the most frequent.
        """
        c, p = self.number(label), self.posterior
        rest = np.delete(p, c, axis=2).max(axis=2, initial=0.0)
        return np.asarray(p[:, :, c] - rest)

    def number(self, label: Label | None) -> int:
        """Return the number of a class; by default the second of two, else the most frequent."""
        return number_of(self.classes, label, spoken_for(self.class_count))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the two columns, the predicted class and its posterior, one row a point."""
        y, x = (index.ravel() for index in np.indices(self.log_posterior.shape[:2]))
        return {
            self.columns[0]: self.x[x].tolist(),
            self.columns[1]: self.y[y].tolist(),
            "class": self.label.ravel().tolist(),
            "posterior": self.posterior.max(axis=2).ravel().tolist(),
        }

    def __str__(self) -> str:
        grid = f"{len(self.x)} × {len(self.y)} points"
        lines = [f"regions over {self.columns[0]} and {self.columns[1]}, {grid}"]
        best = self.log_posterior.argmax(axis=2)
        share = np.bincount(best.ravel(), minlength=len(self.classes)) / best.size
        shown = frequent(share)
        lines += [f"  {self.classes[c].item()!r}: {share[c]:.1%} of them" for c in shown]
        notes = [*and_more(len(self.classes) - len(shown), "class"), *self.notes]
        return "\n".join(map(visible, [*lines, *(f"  {note}" for note in notes)]))

    def plot(
        self, ax: Axes | None = None, *, what: What = "regions", label: Label | None = None
    ) -> Axes:
        """Draw the regions, or a surface as filled contours.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.
        what : {"regions", "posterior", "difference", "margin", "density"}, default "regions"
            The predicted class at each point, with learned rows; the posterior of a class, or of
            three classes or more that of the predicted one; the log odds of a class against the
            strongest rival, whose contour of 0 is the border of its region; its posterior less the
            rival's; or contours of the densities of the classes.
        label : label, optional
            The class of a surface; by default the second of two, else the most frequent.

        Raises
        ------
        ValueError
            If there is no such picture or class, or no density.
        """
        if what not in WHAT:
            raise ValueError(f"what must be one of {', '.join(map(repr, WHAT))}, got {what!r}.")
        return picture(self, ax, what=what, label=label)

    def plot_surface(
        self,
        ax: Axes | None = None,
        *,
        what: Literal["posterior", "difference", "margin"] = "margin",
        label: Label | None = None,
    ) -> Axes:
        """Draw a surface over the plane of the two columns, in three dimensions.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on, with ``projection="3d"``; by default a new figure.
        what : {"posterior", "difference", "margin"}, default "margin"
            How high it is, as for ``plot``.
        label : label, optional
            As for ``plot``.
        """
        return picture(self, ax, "surface", what=what, label=label)


def regions(
    model: Model,
    columns: Sequence[str | int] | None,
    at: Mapping[str | int, Any],
    batches: Sequence[Batch] = (),
    points: int | None = None,
) -> Regions:
    """Return what is predicted over two columns of numbers (see ``nb.inspect.regions``)."""
    a, b = _two(model, columns)
    if points is not None and points < 2:
        raise ValueError(f"points must be at least 2, got {points}.")
    k = len(model.classes)
    most = int(np.sqrt(MOST_POSTERIORS / max(k, 1)))
    n = points or max(FEWEST, min(POINTS, most))
    grid = [np.linspace(*_limits(column, batches), n) for column in (a, b)]
    others = {OneColumn.find(model, name).name: value for name, value in at.items()}
    wrong = next((title(name) for name in others if name in (a.name, b.name)), None)
    if wrong is not None:
        raise ValueError(f"Column {wrong!r} is one of the two; leave it out of at=.")
    x, y = _nearest(a, grid[0]), _nearest(b, grid[1])
    of_x, of_y = np.meshgrid(x, y)
    found = _log_posterior(model, {a.name: of_x.ravel(), b.name: of_y.ravel()}, others)
    notes = []
    left = [name for name in model.view.schema.order if name not in {a.name, b.name, *others}]
    if left:
        said = any(isinstance(of, Missing) and of.of in left for of in model.view.schema.derived)
        what = "taken as missing, which says something too" if said else "taken as missing"
        notes.append(f"{many(len(left), 'other column')} {what}")
    if others:
        held = ", ".join(f"{title(name)} = {value}" for name, value in others.items())
        notes.append(f"at {held}")
    joined = any(column.group.event.joined for column in (a, b))
    density = None if joined else (_density(a, x), _density(b, y))
    return Regions(
        (a.title, b.title),
        model.classes,
        model.counted.tally.class_count,
        grid[0],
        grid[1],
        found.reshape(n, n, k),
        density,
        _sample(a, b, batches),
        tuple(notes),
    )


def _two(model: Model, columns: Sequence[str | int] | None) -> tuple[OneColumn, OneColumn]:
    """Return the two columns of numbers that are named, or that there are."""
    if columns is None:
        numbers = [name for name, kind in model.view.schema.kinds.items() if kind == "number"]
        if any(group.event.layout == "rows" for group in model.view.schema.groups):
            raise ValueError(JOINT)
        if len(numbers) < 2:
            there = f"one, {title(numbers[0])!r}" if numbers else "none"
            raise ValueError(f"Regions are over two columns of numbers, of which there is {there}.")
        if len(numbers) > 2:
            raise ValueError(
                f"Regions are over two columns of numbers, and there are {len(numbers):,}; name "
                f"two: {list_names(numbers)}."
            )
        columns = [title(name) for name in numbers]
    if isinstance(columns, str) or len(columns) != 2:
        raise ValueError(f"Regions are over two columns of numbers, got {columns!r}.")
    a, b = (OneColumn.find(model, column) for column in columns)
    for column in (a, b):
        if column.group.event.layout == "rows":
            raise ValueError(JOINT)
        if not isinstance(column.name, str | int) or column.group.kind != "number":
            raise ValueError(f"Column {column.title!r} holds no numbers; choose two that do.")
    if a.name == b.name:
        raise ValueError(f"Regions are over two different columns, got {a.title!r} twice.")
    return a, b


def _limits(column: OneColumn, batches: Sequence[Batch]) -> tuple[float, float]:
    """Return from where to where a column is drawn."""
    levels = column.whole_numbers
    if len(levels):
        return float(levels[0]) - 0.5, float(levels[-1]) + 0.5
    low, high = column.range(batches)
    room = ROOM * (high - low) or max(abs(high) * 0.1, 0.5)
    if column.group.event.joined:  # of counts
        return max(low - room, 0.0), high + room
    least = 1e-6 * (high + room) if column.group.event.support != "numbers" else -np.inf
    return max(low - room, least), high + room


def _nearest(column: OneColumn, x: Floats) -> Floats:
    """Return the category that is nearest to each number, (numbers,), where it has categories."""
    levels = column.whole_numbers
    if not len(levels):
        return x
    return np.asarray(levels[np.searchsorted((levels[1:] + levels[:-1]) / 2, x)])


def _density(column: OneColumn, x: Floats) -> Floats:
    """Return the density of a column in each class, (numbers, classes); ones of no density."""
    levels = column.whole_numbers
    if len(levels):
        code = np.array([column.levels.index(level) for level in x.tolist()])
        return np.asarray(np.exp(column.of_items(code)))
    if not column.is_number:
        return np.ones((len(x), len(column.model.classes)))
    return np.asarray(np.exp(column.log_prob(x)))


def _log_posterior(
    model: Model, columns: Mapping[Name, Floats], others: Mapping[Name, Any]
) -> Floats:
    """Return the log posterior of rows of these numbers, (rows, classes)."""
    rows = len(next(iter(columns.values())))
    wide = max(1, len(model.view.schema.order), len(model.classes))
    kinds = {name: model.view.schema.columns[name].kind for name in (*columns, *others)}
    found = []
    for part in np.array_split(np.arange(rows), max(1, -(-rows * wide // MOST_CELLS))):
        cells: dict[Name, Any] = {name: of[part] for name, of in columns.items()}
        cells |= {name: [value] * len(part) for name, value in others.items()}
        table = column_rows(cells, kinds).padded(tuple(model.view.schema.order))
        found.append(model.log_posterior(table))
    return np.concatenate(found)


def _sample(
    a: OneColumn, b: OneColumn, batches: Sequence[Batch]
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the numbers and classes of sampled rows that have both, at most so many."""
    parts = [(a.cells(batch), b.cells(batch), batch.labels.codes) for batch in batches]
    x, y, codes = (np.concatenate([np.empty(0), *(of[i] for of in parts)]) for i in range(3))
    code = codes.astype(np.int64)
    there = np.flatnonzero(np.isfinite(x) & np.isfinite(y) & (code >= 0))
    if len(there) > DRAWN:
        there = np.sort(np.random.default_rng(0).choice(there, DRAWN, replace=False))
    return x[there], y[there], code[there]
