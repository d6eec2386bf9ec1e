"""The learning curve: how good a model is after so many rows.

It is one pass: rows are encoded once, and come in a random order. The tally of more rows is the
tally of fewer, plus that of the rows between; the model of each size follows from its tally, and no
row is counted twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.tally import Tally
from naively.evaluation.losses import accuracy_and_log_loss
from naively.evaluation.reservoir import Reservoir
from naively.model.class_prior import among_fewer
from naively.model.count import count_batch
from naively.model.model import Model
from naively.options import Weighting
from naively.schema.settle import make_sure
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Metric: TypeAlias = Literal["accuracy", "log_loss"]
METRICS: tuple[Metric, ...] = ("accuracy", "log_loss")
Sizes: TypeAlias = "Sequence[float] | NDArray[np.number] | None"
SHARE = 0.25  # of the rows that are held out, unless it is said
STEPS = 10  # sizes, unless they are said,
LEAST = 10  # from so many rows on


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Tabular):
    """Scores of models of more and more rows; one line for each size, repeat and kind of rows.

    Parameters
    ----------
    size : list of int
        How many rows were learned.
    repeat : list of int
        Which random order they came in, from 0.
    which : list of {"training", "held-out"}
        What was scored: the rows learned, or others.
    accuracy : list of float
        The share of right answers.
    log_loss : list of float
        In nats a row.
    classes : list of int
        How many classes had come. The posterior of one that has not come yet is 0.
    """

    size: list[int]
    repeat: list[int]
    which: list[str]
    accuracy: list[float]
    log_loss: list[float]
    classes: list[int]

    def to_dict(self) -> dict[str, list[Any]]:
        names = ("size", "repeat", "which", "accuracy", "log_loss", "classes")
        return {name: list(getattr(self, name)) for name in names}

    def plot(self, ax: Axes | None = None, metric: Metric = "accuracy") -> Axes:
        """Draw a score against how many rows were learned, on a logarithmic axis.

        Parameters
        ----------
        metric : {"accuracy", "log_loss"}
            What is drawn.
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
            The mean of the repeats, of held-out rows solid, of training rows dashed; the bands are
            from the least to the greatest of them.
        """
        from naively.pictures.scores import Curve, plot_learning

        value = np.array(getattr(self, check_metric(metric)))
        which, size, repeat = map(np.array, (self.which, self.size, self.repeat))
        curves = []
        for name in ("held-out", "training"):
            at = [value[(which == name) & (size == s)] for s in np.unique(size)]
            lines = zip(*((of.mean(), of.min(), of.max()) for of in at), strict=True)
            curves.append(Curve(name, np.unique(size).astype(float), *map(np.array, lines)))
        return plot_learning(curves, metric, len(np.unique(repeat)), ax)


def learning_curve(
    model: Model,
    batch: Batch,
    test: Batch | float | None,
    sizes: Sizes,
    repeats: int,
    random_state: int | np.random.Generator | None,
    weights: Weighting | None = None,
) -> LearningCurve:
    """Score the models of the first rows of some random orders.

    Parameters
    ----------
    model : Model
        What was learned of all rows, without weights.
    batch : Batch
        These rows, as ``model.counted`` encodes them.
    test : Batch or float, optional
        The rows to score, encoded alike; or how many rows to hold out anew in each repeat, or a
        share of them below 1.
    sizes : sequence of numbers, optional
        How many rows to learn; a fraction up to 1.0 is a share of those that are not held out.
    repeats : int
        How many random orders.
    random_state : int, Generator or None
        Chooses them.
    weights : {"loo", "temperature"}, optional
        The weights to fit at each size; by default none.
    """
    if not (number_of(repeats) >= 1 and number_of(repeats).is_integer()):
        raise ValueError(f"repeats must be a whole number of at least 1, got {repeats!r}.")
    pool = _split(model, batch)
    scored = _split(model, test) if isinstance(test, Batch) else None
    aside = 0 if isinstance(test, Batch) else count_held_out(test, len(pool))
    each = check_sizes(sizes, len(pool) - aside)
    rng = np.random.default_rng(random_state)
    points: list[tuple[int, int, str, float, float, int]] = []
    for repeat in range(int(repeats)):
        order = rng.permutation(len(pool))
        learned = pool.take(order[: len(pool) - aside])
        held_out = pool.take(order[len(pool) - aside :]) if scored is None else scored
        tally: Tally | None = None
        done = 0
        for size in each:
            more = count_batch(learned.take(np.arange(done, size)), model.counted)
            tally, done = more if tally is None else tally + more, size
            seen = learned.take(np.arange(size))
            then = _of_tally(model, tally)
            if weights is not None:
                sample = Reservoir()
                sample.add(batch.take(order[:size]), then)
                then = then.weighed(sample.of(then).weights(then, weights))
            for which, rows in (("training", seen), ("held-out", held_out)):
                points.append((size, repeat, which, *_scored(then, rows), len(then.classes)))
    return LearningCurve(*map(list, zip(*points, strict=True)))


def _split(model: Model, batch: Batch) -> Batch:
    """Return rows by the levels and words of all rows that were counted, each text split once."""
    return model.counted.recode(batch, model.tally.axes)


def _of_tally(model: Model, tally: Tally) -> Model:
    """Return the model of fewer rows, whose classes and words are those that have come."""
    schema, counted = make_sure(model.counted, tally.pruned(), model.settings)
    prior = among_fewer(model.settings.class_prior, model.classes, counted.classes)
    return Model(schema, counted, replace(model.settings, class_prior=prior))


def _scored(model: Model, rows: Batch) -> tuple[float, float]:
    """Return accuracy and log loss."""
    p = model.score(model.recode(rows), "posterior")
    return accuracy_and_log_loss(p, model.classes, rows.labels)


def count_held_out(test: float | None, rows: int) -> int:
    """Return how many rows to hold out: a share of them below 1, or a number.

    Examples
    --------
    >>> count_held_out(0.2, 50), count_held_out(7, 50)
    (10, 7)
    """
    given = number_of(SHARE if test is None else test)
    if not (0 < given < 1 or (given >= 1 and given.is_integer())):
        raise ValueError(
            "test must be a share of the rows below 1, a whole number of rows, or (X, y); "
            f"got {test!r}."
        )
    aside = max(1, round(given * rows)) if given < 1 else int(given)
    if aside >= rows:
        raise ValueError(f"Of {rows:,} rows {aside:,} cannot be held out: none would be learned.")
    return aside


def check_sizes(sizes: Sizes, rows: int) -> list[int]:
    """Return how many rows to learn, ascending, each once, or raise why it cannot be.

    Examples
    --------
    >>> check_sizes([0.5, 20, 0.1], 100), check_sizes(None, 80)
    ([10, 20, 50], [10, 13, 16, 20, 25, 32, 40, 50, 63, 80])
    """
    if sizes is None:
        spaced = np.geomspace(min(LEAST, rows), rows, STEPS)
        return sorted({round(size) for size in spaced.tolist()})
    each = np.ravel(sizes).tolist() if isinstance(sizes, np.ndarray) else list(sizes)
    of_rows = any(isinstance(size, float) and size > 1 for size in each)  # as in [1.0, 10.0]
    counts = set()
    for given in each:
        size, is_share = number_of(given), isinstance(given, float) and given <= 1 and not of_rows
        if not (size > 0 and (is_share or size.is_integer())):
            raise ValueError(
                "sizes must be whole numbers of rows that are at least 1, or shares of them up to "
                f"1.0; got {given!r}."
            )
        if size > rows:
            raise ValueError(f"There are {rows:,} rows to learn, and sizes asks for {size:,.10g}.")
        counts.add(max(1, round(size * rows)) if is_share else int(size))
    if not counts:
        raise ValueError("sizes is empty: name at least one number of rows.")
    return sorted(counts)


def number_of(given: object) -> float:
    """Return a real, finite number as a float; NaN for anything else."""
    is_number = isinstance(given, Real) and not isinstance(given, bool | np.bool_)
    return float(given) if is_number and abs(float(given)) < math.inf else math.nan  # type: ignore[arg-type]  # a Real


def check_metric(metric: str) -> Metric:
    """Return what can be drawn of a curve, or raise a ValueError that says what can be."""
    for known in METRICS:
        if metric == known:
            return known
    raise ValueError(f"metric must be {' or '.join(map(repr, METRICS))}, got {metric!r}.")
