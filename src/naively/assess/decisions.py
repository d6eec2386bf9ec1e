"""What answers cost: those of least expected cost, and always the same one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from naively.counting.labels import Label, LabelArray, Labels, Target, encode_labels
from naively.data.columns import Rows
from naively.fitting.sample import Sample, add_interactions, deal
from naively.fitting.weights import mean
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.messages import many
from naively.model.class_prior import Cost, cost_table
from naively.model.held_out import HeldOut, sets_of
from naively.model.model import Model
from naively.options import Weighting
from naively.tabular import SHOWN, Drawn


class Decisions(Frozen, eq=True):
    """What the answers of least expected cost cost, per row.

    Parameters
    ----------
    cost : float
        Their mean cost.
    always : label
        The answer that costs least if it is always given,
    always_cost : float
        and what it costs.
    answer : label, optional
        The rarer of two classes,
    threshold : float, optional
        which is answered where its probability is greater than this; None of more classes, and
        where one answer is the best whatever the probability.
    recall, precision : float
        Those of that answer; NaN where there is none.
    """

    cost: float
    always: Label
    always_cost: float
    answer: Label | None = None
    threshold: float | None = None
    recall: float = float("nan")
    precision: float = float("nan")

    def __str__(self) -> str:
        always = f"(always {self.always!r}: {self.always_cost:.4f})"
        said = f"cost per row       {self.cost:.4f} by answers of least expected cost   {always}"
        if self.threshold is None:
            return said
        return f"{said}\n  {Threshold(self.answer, self.threshold, self.recall, self.precision)}"


class Threshold(NamedTuple):
    """The probability above which a class is answered, and the recall and precision of that."""

    answer: Label | None
    threshold: float
    recall: float
    precision: float

    @property
    def cost(self) -> float:
        """What a missed row costs with this threshold, where a false alarm costs 1."""
        return (1 - self.threshold) / self.threshold if self.threshold else np.inf

    def __str__(self) -> str:
        return (
            f"{self.answer!r} above a probability of {self.threshold:.4f}: "
            f"recall {self.recall:.4f}, precision {self.precision:.4f}"
        )


def decisions(
    p: Floats, learned: LabelArray, y: LabelArray, weight: Floats | None, cost: Cost
) -> Decisions:
    """Return what decisions by posteriors, (rows, learned classes), would have cost."""
    # y (rows,): the right labels; weight (rows,): the weight of each row; by default 1; cost: what
    # each answer costs for each right class (see NaiveBayes.predict)
    # The rarer of two classes is answered where its expected cost is less than that of the other:
    # Elkan, The foundations of cost-sensitive learning (2001).
    table = cost_table(cost, learned)
    place = {label: c for c, label in enumerate(learned.tolist())}
    unknown = next((label for label in y.tolist() if label not in place), None)
    if unknown is not None:
        raise ValueError(
            f"The costs in a row of class {unknown!r} are not known, because the class was "
            "never learned; leave these rows out, or cost."
        )
    right = np.array([place[label] for label in y.tolist()], np.int64)
    answer = (p @ table).argmin(axis=1)
    of_answers = [mean(table[right, c], weight) for c in range(len(learned))]
    best = int(np.argmin(of_answers))
    found = Decisions(mean(table[right, answer], weight), learned.tolist()[best], of_answers[best])
    if len(learned) != 2:
        return found
    count = np.ones(len(y)) if weight is None else weight
    rows_of = np.bincount(right, count, 2)
    c = int(rows_of[1] <= rows_of[0])
    wrong = float(table[1 - c, c] - table[1 - c, 1 - c])
    saved = float(table[c, 1 - c] - table[c, c])
    if not (wrong + saved > 0 and 0 <= wrong / (wrong + saved) <= 1):
        return found
    hits, answers = (float(count @ of) for of in ((answer == c) & (right == c), answer == c))
    rows = float(rows_of[c])
    return replace(
        found,
        answer=learned.tolist()[c],
        threshold=wrong / (wrong + saved),
        recall=hits / rows if rows else np.nan,
        precision=hits / answers if answers else np.nan,
    )


# --- Sets of classes, which hold the right one as often as they promise ---------------------------
#
# How they are calibrated is in ``naively.model.held_out``.


class PredictionSets(Drawn):
    """A set of classes for each row: a sequence of lists of labels, the most probable first.

    Parameters
    ----------
    contains : ndarray of bool, of shape (rows, classes)
        Which classes are in each set; ``numpy.asarray`` gives it too.
    probability : ndarray of shape (rows, classes)
        The probability of each class.
    least : ndarray of shape (classes,)
        How probable a class must be to be in a set; the most probable class is in every set.
    classes : list of labels
        The classes.
    coverage : float
        How often sets of rows like those learned hold the right class.
    """

    contains: NDArray[np.bool_]
    probability: Floats
    least: Floats
    classes: list[Label]
    coverage: float

    def __len__(self) -> int:
        return len(self.contains)

    @overload
    def __getitem__(self, row: int) -> list[Label]: ...
    @overload
    def __getitem__(self, row: slice) -> list[list[Label]]: ...
    def __getitem__(self, row: int | slice) -> list[Label] | list[list[Label]]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        order = np.argsort(-self.probability[row], kind="stable")
        return [self.classes[c] for c in order.tolist() if self.contains[row, c]]

    def __iter__(self) -> Iterator[list[Label]]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return which classes are in each set."""
        return np.array(self.contains, dtype, copy=copy is not False)

    @property
    def size(self) -> NDArray[np.int64]:
        """How many classes are in each set, (rows,)."""
        return np.asarray(self.contains.sum(axis=1, dtype=np.int64))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns row, size and set."""
        return {"row": list(range(len(self))), "size": self.size.tolist(), "set": [*self]}

    def __str__(self) -> str:
        size = self.size
        mean = size.mean() if len(size) else 0.0
        said = (
            f"sets of {many(len(self), 'row')}, of which {self.coverage:.4g} hold the right class"
        )
        lines = [f"{said}, of {mean:.2f} classes on average"]
        lines += [
            f"{row:>6}  {', '.join(map(str, labels))}"
            for row, labels in zip(range(SHOWN), self, strict=False)
        ]
        if len(self) > SHOWN:
            lines.append(f"   ... {len(self) - SHOWN:,} rows more")
        return "\n".join(lines)


def prediction_sets(
    model: Model, p: Floats, coverage: float, *, by_class: bool = False
) -> PredictionSets:
    """Return the sets of rows of these posteriors (see ``NaiveBayes.predict_set``)."""
    least = least_of(model, coverage, by_class=by_class)
    return PredictionSets(sets_of(p, least), p, least, model.classes.tolist(), float(coverage))


def least_of(model: Model, coverage: float, *, by_class: bool = False) -> Floats:
    """Return how probable a class must be to be in a set, (classes,)."""
    return check_known(model).least(coverage, by_class=by_class)


def check_known(model: Model) -> HeldOut:
    """Return what is known of held-out rows, or raise a ValueError."""
    held_out = model.counted.held_out
    if held_out is None:
        raise ValueError(
            "It is not known how often sets of this model hold the right class, as no learned rows "
            "are in memory or its file: call calibrate(X, y) with labelled rows; or save it with "
            "sets=True."
        )
    held_out.check()
    return held_out


# --- Calibrated with rows that the model has not learned -----------------------------------------


FOLDS = 5


def held_out_of(
    model: Model, sample: Sample, kind: Weighting, *, interactions: bool = False
) -> HeldOut:
    """Return how probable the right classes of rows are that a model has not learned."""
    found, labels = [], []
    dealt = deal(sample.labels, sample.copies, min(FOLDS, len(sample)))
    for fold in sample.held_out(model, dealt, learned=False):
        if interactions:
            rest = add_interactions(model, fold.others, learned=False)
        else:
            rest = model.weighed(fold.others.weighed(model, kind, learned=False).weights)
        found.append(fold.out.posterior(rest))
        labels.append(fold.out.labels)
    right = Labels.join(labels)
    return HeldOut.of(np.concatenate(found), right.codes, right.weights, model.classes.tolist())


def held_out_rows(
    model: Model, rows: Rows, y: Target, frequencies: Target = None
) -> HeldOut | None:
    """Return how probable the right classes of rows are that a model is not fitted to."""
    labels = encode_labels(y, None if frequencies is None else np.asarray(frequencies, np.float64))
    known = np.flatnonzero(np.isin(labels.classes, model.classes)[labels.codes])
    if not len(known):
        return None
    right = labels.take(known).among(model.classes)
    p = model.posterior(rows.take(known))
    return HeldOut.of(p, right.codes, right.weights, model.classes.tolist())
