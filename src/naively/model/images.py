"""Models of pixels as images: the mean of each class, and the evidence of each pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.counting.axis import CELL, LEVEL, PRESENT, VALUE, Cells, Levels, title
from naively.counting.labels import Label
from naively.counting.tally import BlockTally
from naively.kernels.reference import Floats
from naively.messages import visible
from naively.model.classes import and_more, frequent, number_of
from naively.model.model import Model
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.model.explain import ExplainedRow

MOST_IMAGES = 20  # that are drawn
NO_PIXEL = "holds no numbers, so it is no pixel."


@dataclass(frozen=True, eq=False, repr=False)
class ClassImages(Tabular):
    """The mean image of each class.

    Parameters
    ----------
    classes : list of labels
        The classes.
    class_count : ndarray of shape (classes,)
        How many rows of each were learned.
    mean : ndarray of shape (classes, height, width)
        The mean of each pixel over the rows of the class where it is not missing; NaN where it
        always is. It is computed from what was counted: of a histogram from its cells.
    """

    classes: list[Label]
    class_count: Floats
    mean: Floats

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns class, row, column and mean, one row a pixel and class."""
        c, row, column = (index.ravel().tolist() for index in np.indices(self.mean.shape))
        return {
            "class": [self.classes[i] for i in c],
            "row": row,
            "column": column,
            "mean": self.mean.ravel().tolist(),
        }

    def __str__(self) -> str:
        k, height, width = self.mean.shape
        finite = self.mean[np.isfinite(self.mean)]
        least, most = finite.min(initial=np.inf), finite.max(initial=-np.inf)
        return f"mean images of {k:,} classes, {height} × {width}: from {least:.4g} to {most:.4g}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the images beside each other, of at most the 20 most frequent classes."""
        from naively.pictures.axes import name_of
        from naively.pictures.evidence import draw_images

        shown = frequent(self.class_count, MOST_IMAGES)
        more = len(self.classes) - len(shown)
        return draw_images(
            self.mean[shown],
            [name_of(self.classes[c]) for c in shown],
            label="mean of the class",
            notes=and_more(more, "class"),
            ax=ax,
        )


@dataclass(frozen=True, eq=False, repr=False)
class EvidenceImage(Tabular):
    """The weight of evidence of each pixel of a row.

    Parameters
    ----------
    label, against : label
        The class that is spoken for, and its strongest rival.
    weight : ndarray of shape (height, width)
        In nats: positive for the class; 0 of what is missing.
    elsewhere : float
        The weight of the class prior, of all that is no pixel, and of pixels being missing:
        together they are the log odds.
    """

    label: Label
    against: Label
    weight: Floats
    elsewhere: float

    @property
    def log_odds(self) -> float:
        """Of the class against its rival, in nats."""
        return float(self.weight.sum() + self.elsewhere)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns row, column and weight, one row a pixel."""
        row, column = (index.ravel().tolist() for index in np.indices(self.weight.shape))
        return {"row": row, "column": column, "weight": self.weight.ravel().tolist()}

    def __str__(self) -> str:
        height, width = self.weight.shape
        names = f"{self.label!r} against {self.against!r}"
        of = f"evidence of {height} × {width} pixels {self.weight.sum():+.2f}"
        return visible(f"{names}: {of}, all else {self.elsewhere:+.2f} nats")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the weights in colours that diverge from 0."""
        from naively.pictures.axes import name_of
        from naively.pictures.evidence import draw_evidence

        names = f"{name_of(self.label)} against {name_of(self.against)}"
        return draw_evidence(self.weight, title=names, label="weight of evidence (nats)", ax=ax)


def class_images(model: Model, shape: tuple[int, int]) -> ClassImages:
    """Return the mean image of each class (see ``nb.inspect.images``)."""
    order = list(model.schema.order)
    check_shape(shape, len(order))
    mean = np.full((len(model.classes), len(order)), np.nan)
    place = {name: i for i, name in enumerate(order)}
    for group in model.schema.of_columns:
        tally = model.counts[group.key]
        if group.analyser or group.event.layout == "rows":
            raise ValueError(f"Column {title(group.columns[0])!r} {NO_PIXEL}")
        for name, of_class in zip(tally.axis.columns, _means(model, tally), strict=True):
            if name in place:  # no part of a time
                mean[:, place[name]] = of_class
    count = model.tally.class_count
    return ClassImages(model.classes.tolist(), count, mean.reshape(-1, *shape))


def _means(model: Model, tally: BlockTally) -> Floats:
    """Return the mean of each column in each class, (columns, classes)."""
    axis = tally.axis
    with np.errstate(invalid="ignore", divide="ignore"):
        if not isinstance(axis, Cells | Levels):
            rows = tally[PRESENT].high if PRESENT in tally.sums else model.tally.class_count
            return np.asarray(tally[VALUE].high / rows)
        count = tally[CELL if isinstance(axis, Cells) else LEVEL].high
        values = axis.middle if isinstance(axis, Cells) else _numbers(axis)
        found = [
            values[start:end] @ count[start:end] / count[start:end].sum(axis=0)
            for start, end in pairwise(axis.first)
        ]
        return np.array(found).reshape(-1, count.shape[1])


def _numbers(axis: Levels) -> Floats:
    """Return the levels as numbers, (levels,), or raise a ValueError that names the column."""
    for name, levels in zip(axis.columns, axis.levels, strict=True):
        if not all(isinstance(level, int | float) for level in levels):
            raise ValueError(f"Column {title(name)!r} {NO_PIXEL}")
    return np.array([float(level) for levels in axis.levels for level in levels])


def check_shape(shape: Sequence[int], columns: int) -> None:
    """Raise a ValueError unless an image of this shape has as many pixels as there are columns."""
    if len(shape) != 2 or any(n < 1 for n in shape) or prod(shape) != columns:
        raise ValueError(
            f"An image of shape {tuple(shape)} has {prod(shape):,} pixels, but the model has "
            f"{columns:,} columns; give a (height, width) that fits."
        )


def evidence_image(
    row: ExplainedRow, shape: tuple[int, int], label: Label | None = None
) -> EvidenceImage:
    """Return the evidence of each pixel of a row (see ``ExplainedRow.image``)."""
    check_shape(shape, len(row.columns))
    c, labels = number_of(row.classes, label, row.best), row.classes.tolist()
    place = {name: i for i, name in enumerate(row.columns)}
    pixel, elsewhere = np.zeros(len(place)), 0.0
    for column, weight in zip(row.column[1:], row.weights(c).tolist()[1:], strict=True):
        if column in place:
            pixel[place[column]] += weight
        else:
            elsewhere += weight
    prior = float(row.weights(c)[0])
    return EvidenceImage(
        labels[c],
        labels[row.rival(c)],
        pixel.reshape(shape),
        elsewhere + prior,
    )
