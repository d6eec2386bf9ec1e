"""What a column looks like by class, as results: densities, probabilities of levels, words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Level
from naively.counting.labels import Label
from naively.kernels.reference import Floats
from naively.messages import visible
from naively.model.classes import and_more, frequent
from naively.schema.encode import plain_cells
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = 60  # of a picture of levels
LEAST_LEVELS, MOST_LEVELS = 4, 24
OF_CLASS, ALL_WORDS = 10, 24  # words of a class, and of all, in a picture
WRITTEN = 5  # levels or words that are printed for a class


class ColumnView(Tabular):
    """One column of a fitted model by class."""

    column: str
    event: str  # the name of its event model
    classes: list[Label]

    @abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the picture of the column on Axes, or on new ones, and return them."""


@dataclass(frozen=True, eq=False, repr=False)
class NumberView(ColumnView):
    """The density of a column of numbers in each class, or the probability of each count.

    Parameters
    ----------
    column, event : str
        The column, and the name of its event model.
    classes : list of labels
        The classes.
    class_count : ndarray of shape (classes,)
        How many rows of each were learned.
    x : ndarray of shape (points,)
        Numbers, or times.
    density : ndarray of shape (points, classes)
        p(x | class) at each of them, without weights: a density (of times, per day), or the
        probability of a count. If ``weighted``, times the class prior.
    counts, weighted, log : bool
        Whether the numbers are counts, whether the class prior is in, and whether the numbers are
        so far apart that the axes are logarithmic.
    edges : ndarray of shape (bins + 1,), optional
        Of a histogram of the numbers themselves; None where no rows are kept.
    observed : ndarray of shape (bins, classes), optional
        The density of the numbers in each bin.
    notes : tuple of str
        What else is to be said.
    """

    column: str
    event: str
    classes: list[Label]
    class_count: Floats
    x: NDArray[Any]
    density: Floats
    counts: bool
    weighted: bool
    log: bool
    edges: NDArray[Any] | None
    observed: Floats | None
    notes: tuple[str, ...]

    @property
    def _what(self) -> str:
        """What the numbers are."""
        what = "probability" if self.counts else "density"
        return f"class prior × {what}" if self.weighted else what

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns class, x and density (or probability, of counts)."""
        n, name = len(self.x), "probability" if self.counts else "density"
        return {
            "class": [label for label in self.classes for _ in range(n)],
            "x": plain_cells(self.x) * len(self.classes),
            name: self.density.T.ravel().tolist(),
        }

    def __str__(self) -> str:
        head = f"{self.column}: {self._what} by class ({self.event})"
        lines = [visible(head)]
        if len(self.x):
            lines[0] += f", {len(self.x):,} points from {_written(self.x[0])} to "
            lines[0] += _written(self.x[-1])
        shown = frequent(self.class_count)
        for c in shown if len(self.x) else ():
            top = int(np.argmax(self.density[:, c]))
            peak = f"highest at {_written(self.x[top])} ({self.density[top, c]:.4g})"
            lines.append(visible(f"  {self.classes[c]!r}: {peak}"))
        more = and_more(len(self.classes) - len(shown), "class")
        return "\n".join([*lines, *(f"  {note}" for note in [*more, *self.notes])])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the densities over a faint histogram of the numbers.

        Of more than eight classes the most frequent are drawn.
        """
        from naively.pictures.axes import name_of
        from naively.pictures.by_class import draw_densities

        shown = frequent(self.class_count)
        time = self.x.dtype.kind == "M"
        more = and_more(len(self.classes) - len(shown), "class")
        return draw_densities(
            self.x,
            self.density[:, shown],
            [name_of(self.classes[c]) for c in shown],
            labels=(name_of(self.column), f"{self._what} per day" if time else self._what),
            stems=self.counts,
            log=self.log,
            edges=self.edges,
            observed=None if self.observed is None else self.observed[:, shown],
            notes=[*more, *self.notes],
            ax=ax,
        )


def _written(x: Any) -> str:
    """Write a number or a time."""
    return str(x.astype("datetime64[m]")) if isinstance(x, np.datetime64) else f"{x:.6g}"


@dataclass(frozen=True, eq=False, repr=False)
class LevelView(ColumnView):
    """The probability of each level of a column in each class.

    Parameters
    ----------
    column, event : str
        The column, and the name of its event model.
    classes : list of labels
        The classes.
    class_count : ndarray of shape (classes,)
        How many rows of each were learned.
    levels : list
        The levels; the last stands for levels that were never seen, if they have a probability.
    p : ndarray of shape (levels, classes)
        p(level | class), without weights; if ``weighted``, times the class prior.
    count : ndarray of shape (levels, classes)
        How many rows of the class have the level.
    prior : ndarray of shape (classes,)
        What probabilities are multiplied by.
    in_order : bool
        Whether the levels have an order of their own; else the most frequent is drawn first.
    weighted : bool
        Whether the class prior is in.
    notes : tuple of str
        What else is to be said.
    """

    column: str
    event: str
    classes: list[Label]
    class_count: Floats
    levels: list[Level]
    p: Floats
    count: Floats
    prior: Floats
    in_order: bool
    weighted: bool
    notes: tuple[str, ...]

    @property
    def _what(self) -> str:
        return "class prior × probability" if self.weighted else "probability"

    @property
    def share(self) -> Floats:
        """The share of the rows of each class that has each level, times the prior if weighted."""
        total = self.count.sum(axis=0)
        return np.asarray(self.count / np.where(total > 0, total, 1.0) * self.prior)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns level, class, probability and count."""
        return {
            "level": [level for level in self.levels for _ in self.classes],
            "class": self.classes * len(self.levels),
            "probability": self.p.ravel().tolist(),
            "count": self.count.ravel().tolist(),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.column}: {self._what} by class ({self.event}), {len(self.levels):,} levels"
        ]
        shown = frequent(self.class_count)
        for c in shown:
            best = np.argsort(-self.p[:, c], kind="stable")[:WRITTEN]
            of = ", ".join(f"{self.levels[i]} {self.p[i, c]:.3f}" for i in best)
            lines.append(
                f"  {self.classes[c]!r}: {of}{', ...' if len(self.levels) > WRITTEN else ''}"
            )
        more = and_more(len(self.classes) - len(shown), "class")
        lines += [f"  {note}" for note in [*more, *self.notes]]
        return "\n".join(map(visible, lines))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a group of bars for each level, with a mark at the share that was counted.

        Of more than eight classes the most frequent are drawn, and of many levels too.
        """
        from naively.pictures.axes import name_of
        from naively.pictures.by_class import draw_levels

        shown = frequent(self.class_count)
        first, rest = self._drawn(len(shown))
        more = and_more(len(self.classes) - len(shown), "class")
        p, share = self.p[first][:, shown], self.share[first][:, shown]
        levels = [str(self.levels[i]) for i in first]
        if len(rest):
            of_rest = self.count[rest].sum() / self.count.sum()
            more.append(f"{and_more(len(rest), 'level')[0]}, which {of_rest:.1%} of the rows have")
        return draw_levels(
            levels,
            p,
            share,
            [name_of(self.classes[c]) for c in shown],
            labels=(f"{self._what} (mark: as counted)", name_of(self.column)),
            notes=[*more, *self.notes],
            ax=ax,
        )

    def _drawn(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the levels that are drawn, of k classes, and those that are summed up."""
        most = max(LEAST_LEVELS, min(MOST_LEVELS, BARS // max(k, 1)))
        by_count = np.argsort(-self.count.sum(axis=1), kind="stable")
        by_count = by_count[self.count[by_count].any(axis=1)]  # without those never seen
        cut = len(by_count) if len(by_count) <= most else most - 1
        first, rest = by_count[:cut], by_count[cut:]
        return (np.sort(first) if self.in_order else first), rest


@dataclass(frozen=True, eq=False, repr=False)
class WordView(ColumnView):
    """The words of a text that speak most for each class, against all others together.

    Parameters
    ----------
    column, event : str
        The column, and the name of its event model.
    classes : list of labels
        The classes.
    of : list of int
        The classes whose words were looked for: the most frequent ones.
    word : list of str
        Words, those of one class together, first what rows of the class gain most from on average.
    word_class : list of int
        The number of the class that each word speaks for.
    weight : list of float
        The weight of evidence for the class against all others, in nats, as predictions have it.
    p : list of float
        The probability of each word in its class.
    notes : tuple of str
        What else is to be said.
    """

    column: str
    event: str
    classes: list[Label]
    of: list[int]
    word: list[str]
    word_class: list[int]
    weight: list[float]
    p: list[float]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns class, word, weight and probability."""
        return {
            "class": [self.classes[c] for c in self.word_class],
            "word": [*self.word],
            "weight": [*self.weight],
            "probability": [*self.p],
        }

    def __str__(self) -> str:
        lines = [f"{self.column}: the words that speak most for each class ({self.event}), in nats"]
        for c in self.of:
            of = [i for i in range(len(self.word)) if self.word_class[i] == c][:WRITTEN]
            words = ", ".join(f"{self.word[i]} {self.weight[i]:+.2f}" for i in of)
            lines.append(f"  {self.classes[c]!r}: {words}")
        lines += [f"  {note}" for note in self._notes]
        return "\n".join(map(visible, lines))

    @property
    def _notes(self) -> Sequence[str]:
        return [*and_more(len(self.classes) - len(self.of), "class"), *self.notes]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a bar for each word, those of one class together."""
        from naively.pictures.axes import name_of
        from naively.pictures.by_class import draw_words

        most = min(OF_CLASS, max(2, ALL_WORDS // max(1, len(self.of))))
        drawn = [
            i
            for c in self.of
            for i in [j for j in range(len(self.word)) if self.word_class[j] == c][:most]
        ]
        return draw_words(
            [self.word[i] for i in drawn],
            np.array([self.weight[i] for i in drawn]),
            [self.of.index(self.word_class[i]) for i in drawn],
            [name_of(self.classes[c]) for c in self.of],
            labels=("weight of evidence for the class (nats)", name_of(self.column)),
            notes=self._notes,
            ax=ax,
        )
