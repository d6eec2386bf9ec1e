"""How good probabilities are: accuracy, log loss, calibration, ROC, by class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.assess.decisions import Decisions, Threshold, decisions
from naively.assess.intervals import Area, Interval, Support, Weighted, some_of
from naively.counting.labels import (
    Beside,
    Label,
    LabelArray,
    Labels,
    RowWeight,
    Target,
    union_classes,
)
from naively.data.columns import Rows
from naively.fitting.weights import LEAST, mean
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.model.class_prior import Cost
from naively.model.model import Model
from naively.tabular import Tabular, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 0.002  # nats that columns which repeat each other are worth more together, to be shown
UNSURE = 0.01  # width of an interval from which on it is shown: the second digit is not sure
ENOUGH = 10  # rows that are not of the most frequent class, for an area under the ROC curve
SEVERAL = 3  # of their names that are shown


class Scores(Tabular):
    """Scores on labelled rows, compared with always answering the most frequent class.

    Parameters
    ----------
    rows : int
        How many rows were scored.
    accuracy : float
        Share of rows whose most probable class is the right one.
    log_loss : float
        Mean of -log p(right class), in nats, with p clipped at 1e-15.
    brier : float
        Mean squared distance of the probabilities from 1 for the right class and 0 for the rest,
        summed over the classes (Brier 1950) and halved, so it is between 0 and 1. A class that was
        never learned has probability 0.
    auc : float
        Area under the ROC curve; with more than two classes, the mean over each class against the
        rest, weighted by its rows. NaN where only one class occurs.
    calibration_error : float
        Expected calibration error: mean distance of confidence from accuracy, over 15 bins of
        confidence (Naeini, Cooper & Hauskrecht 2015).
    majority : object
        The most frequent class among the rows.
    majority_accuracy : float
        The accuracy of always answering it.
    by_class : dict
        For each class its precision, recall and number of rows (or their weight). Precision is NaN
        if no row was predicted as the class, and recall if no row is of it.
    classes : list
        The classes of the confusion table.
    confusion : ndarray of shape (classes, classes)
        Rows by right class (down) and most probable class (across).
    reliability : list of Bin
        Confidence and accuracy in each bin of confidence that holds rows.
    tenths : list of Bin
        The same in ten equal parts of the rows by confidence, which the diagram shows, because none
        of them has few rows.
    roc : mapping of label to Roc
        The ROC curve of each class of some rows but not all.
    cost : mapping of str to float
        For an assessment: how much the log loss grows without each column, in nats, with new
        weights of the others. A column that another one repeats is worth little.
    together : mapping of tuple of str to float
        The same without several columns that repeat each other.
    of : int
        Of an assessment: how many rows the model has learned, from which ``rows`` were drawn.
    why : str
        Of an assessment: which part of all rows ``rows`` are; empty if they are all.
    folds : (int, int)
        Of an assessment: how many folds of rows were held out, and of how many.
    why_folds : str
        Of an assessment: why no more were held out; empty if more would be of no use.
    notes : tuple of str
        For an assessment: notes on the rows, such as that some are copies.
    too_rare : tuple of labels
        For an assessment: the classes with only one row, which is not scored, because the class is
        unknown without it.
    support : Support, optional
        What the scores rest on: how many rows of each class, and how different they are.
    how : str
        For a cross-validation that learns again: by which folds.
    unmet : mapping of label to int
        For such a cross-validation: how many rows of each class were predicted by a model without
        that class, and so were wrong.
    decisions : Decisions, optional
        What answers cost, if costs were given.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    rows: int
    accuracy: float
    log_loss: float
    brier: float
    auc: float
    calibration_error: float
    majority: Label
    majority_accuracy: float
    by_class: dict[Label, tuple[float, float, float]]
    classes: list[Label]
    confusion: Floats | NDArray[np.int64]
    reliability: list[Bin]
    tenths: list[Bin]
    roc: Mapping[Label, Roc] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    together: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    of: int = 0
    why: str = ""
    folds: tuple[int, int] = (0, 0)
    why_folds: str = ""
    notes: tuple[str, ...] = ()
    too_rare: tuple[Label, ...] = ()
    support: Support | None = None
    how: str = ""
    unmet: Mapping[Label, int] = field(default_factory=dict)
    decisions: Decisions | None = None
    target: str = ""

    @cached_property
    def intervals(self) -> Mapping[str, Interval]:
        """The intervals (low, high), of about 95 %, of accuracy, log_loss, brier and auc.

        They assume that rows are drawn independently, and are scored by the same models. They do
        not include the variation of learning.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> scores = nb.evaluate([[1.5], [6.5], [1.0], [8.5], [2.5]], ["a", "b", "a", "b", "a"])
        >>> low, high = scores.intervals["accuracy"]
        >>> round(low, 3), high
        (0.478, 1.0)
        """
        return {} if self.support is None else self.support.intervals()

    def __str__(self) -> str:
        """Return a line for each score, and for each of the ten columns that are worth most."""
        always = f"(always {self.majority!r}: {self.majority_accuracy:.4f})"
        chance = f"   (by chance {self.calibration_noise:.4f})"
        lines = [
            f"accuracy           {self.accuracy:.4f}{self._range('accuracy')}   {always}",
            f"log loss           {self.log_loss:.4f} nats per row{self._range('log_loss')}",
            f"Brier score        {self.brier:.4f}{self._range('brier')}",
            f"area under ROC     {self.area_in_words}",
            f"calibration error  {self.calibration_error:.4f}"
            + chance * (self.calibration_noise >= UNSURE),
            *self._of_folds,
            f"rests on           {self.rests_on}",
            *self.notes,
        ]
        if self.decisions is not None:
            lines += str(self.decisions).split("\n")
        lines += [
            f"missed             {rows:,} {'row' if rows == 1 else 'rows'} of class {label!r}, "
            "which the model that judges them has not met"
            for label, rows in self.unmet.items()
        ]
        if self.too_rare:
            only = ", ".join(map(repr, self.too_rare))
            lines.append(f"not scored         the only row of class {only}")
        if self.cost:
            lines.append("log loss without a column grows by")
            most = sorted(self.cost.items(), key=lambda item: -item[1])
            lines += [f"  {cost:+.4f}  {name}" for name, cost in most[:10]]
            for names, cost in self.repeated:
                more = len(names) - SEVERAL
                some = [*names[:SEVERAL], f"{more} more"] if more > 0 else [*names]
                which = f"{', '.join(some[:-1])} and {some[-1]} together, which repeat each other"
                lines.append(f"  {cost:+.4f}  {which}")
        return "\n".join(lines)

    @property
    def shown(self) -> dict[str, Interval]:
        """The intervals that are wide enough to be shown."""
        return {name: of for name, of in self.intervals.items() if of[1] - of[0] >= UNSURE}

    @property
    def area_is_known(self) -> bool:
        """Whether the area under the ROC curve rests on enough rows to be called known."""
        return self.support is None or self.support.others >= ENOUGH

    @property
    def area_in_words(self) -> str:
        """The area under the ROC curve as it is printed: its interval, if a class has few rows."""
        if math.isnan(self.auc) or self.support is None or self.area_is_known:
            return f"{self.auc:.4f}{self._range('auc')}"
        low, high = self.intervals["auc"]
        which = f"of {self.support.rarest[0]!r}" if len(self._there) == 2 else "of other classes"
        return (
            f"not known: between {low:.2f} and {high:.2f}, as only {self.support.others} "
            f"{'row is' if self.support.others == 1 else 'rows are'} {which}"
        )

    @property
    def rests_on(self) -> str:
        """How many rows, and how many of the rarest class, the scores rest on."""
        drawn = f" of {self.of:,}" if self.why else ""
        said = f"{self.rows:,}{drawn} {'row' if self.rows == 1 and not drawn else 'rows'}"
        said += f" ({self.why})" if self.why else ""
        if self.support is not None:
            label, rows = self.support.rarest
            groups = self.support.groups
            said += f" in {groups:,} groups" if groups else ""
            said += f", {f'{rows:,}' if len(self._there) > 1 else 'all'} of class {label!r}"
        return said + ("; in brackets: about 95 % intervals" if self.shown else "")

    @property
    def _there(self) -> list[Label]:
        """The classes that rows have."""
        return [] if self.support is None else [c for c, n in self.support.rows_of.items() if n]

    def _range(self, name: str) -> str:
        """Return the interval of a score for a line, if it is wide enough to be shown."""
        low, high = self.shown.get(name, (0.0, 0.0))
        return f"   [{low:.3f}, {high:.3f}]" if high > low else ""

    @property
    def repeated(self) -> list[tuple[tuple[str, ...], float]]:
        """Columns that repeat each other, and what they are worth together, if it is more."""
        found = [
            (names, cost)
            for names, cost in self.together.items()
            if cost > SHOWN + sum(max(0.0, self.cost[name]) for name in names)
        ]
        return sorted(found, key=lambda item: -item[1])

    @property
    def _of_folds(self) -> list[str]:
        if self.how:
            return [f"judged by          {self.how}"]
        held_out, dealt = self.folds
        if not held_out:
            return []
        number = f"{held_out}" if held_out == dealt else f"{held_out} of {dealt}"
        return [f"folds              {number}" + (f" ({self.why_folds})" if self.why_folds else "")]

    @property
    def calibration_noise(self) -> float:
        """The calibration error to be expected of right probabilities, from so few rows."""
        return calibration_noise(self.reliability)

    def to_dict(self) -> dict[str, list[Any]]:
        lines: list[tuple[str, object, float, str]] = [
            ("rows", None, self.rows, ""),
            ("accuracy", None, self.accuracy, "accuracy"),
            ("accuracy of the majority class", self.majority, self.majority_accuracy, ""),
            ("log loss", None, self.log_loss, "log_loss"),
            ("Brier score", None, self.brier, "brier"),
            ("area under ROC", None, self.auc, "auc"),
            ("calibration error", None, self.calibration_error, ""),
        ]
        for label, of_class in self.by_class.items():
            each = zip(("precision", "recall", "rows"), of_class, strict=True)
            lines += [(name, label, of, "") for name, of in each]
        if (of := self.decisions) is not None:
            lines.append(("cost per row", None, of.cost, ""))
            lines.append(("cost per row of one answer", of.always, of.always_cost, ""))
            if of.threshold is not None:
                lines.append(("threshold", of.answer, of.threshold, ""))
                lines.append(("recall above the threshold", of.answer, of.recall, ""))
                lines.append(("precision above the threshold", of.answer, of.precision, ""))
        rows = [(*said, *self.intervals.get(name, (None, None))) for *said, name in lines]
        names = ("score", "class", "value", "low", "high")
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    def plot_reliability(self, ax: Axes | None = None, before: Scores | None = None) -> Axes:
        """Draw the reliability diagram: accuracy against confidence, in ten parts of the rows.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.
        before : Scores, optional
            Other scores of the same rows, such as those of the model without weights, drawn as a
            second line.

        Returns
        -------
        ax : Axes
            A calibrated model is near the diagonal: 95 % of its points are in the grey band. ECE is
            the expected calibration error, ``calibration_error``, next to its expectation by
            chance, ``calibration_noise``. The bars at the bottom show how many rows have each
            confidence.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> scores = NaiveBayes().fit(*load_iris(return_X_y=True)).assess()
        >>> scores.plot_reliability().get_xlabel()
        'confidence (probability of the answer)'
        """
        return picture(self, ax, "reliability", before=before)

    def plot_confusion(self, ax: Axes | None = None) -> Axes:
        """Draw the confusion table: rows by right class (down) and answer (across).

        With more than 30 classes the pairs that are most confused are drawn.
        """
        return picture(self, ax, "confusion")

    def plot_columns(self, ax: Axes | None = None, n: int = 15) -> Axes:
        """Draw what the n columns of most worth are worth: how much the log loss grows without.

        Raises
        ------
        ValueError
            If the scores are not those of an assessment (``nb.assess()``).
        """
        if not self.cost:
            raise ValueError(
                "The worth of each column is known only for the learned rows; draw it by "
                "nb.assess()."
            )
        if n < 1:
            raise ValueError(f"n must be a number of columns that is at least 1, got {n}.")
        return picture(self, ax, "columns", n=n)

    def plot_roc(self, ax: Axes | None = None) -> Axes:
        """Draw the ROC curve: of two classes that of the second, else of each against the rest.

        With more than eight classes those of the most rows are drawn.

        Raises
        ------
        ValueError
            If only one class occurs.
        """
        if not self.roc:
            raise ValueError("There is no ROC curve of one class; score rows of two or more.")
        return picture(self, ax, "roc")

    def threshold(self, recall: float, label: Label | None = None) -> Threshold:
        """Return the highest threshold of a probability that has this recall, or about as much.

        The class is ``label``, by default the rarest one. Its thresholds are those of
        ``roc[label]``: all where it has at most 200 rows, and else 400 of them.
        """
        if not 0 < recall <= 1:
            raise ValueError(f"recall is a share, above 0 and at most 1, got {recall!r}.")
        rarest = min(self.roc.items(), key=lambda of: of[1].share, default=(label, None))
        label, of = rarest if label is None else (label, self.roc.get(label))
        if of is None:
            raise ValueError(f"There is no threshold for {label!r} in {[*self.roc]}.")
        rate = of.true_positive_rate
        at = np.searchsorted(rate, min(recall, rate[-1]) * (1 - ROUNDING))
        hits, alarms = of.share * rate[at], (1 - of.share) * of.false_positive_rate[at]
        return Threshold(label, *map(float, (of.threshold[at], rate[at], hits / (hits + alarms))))


def score(
    model: Model,
    rows: Rows,
    y: Target,
    sample_weight: RowWeight = None,
    frequencies: Target = None,
    cost: Cost = None,
) -> Scores:
    """Predict rows and score the predictions; a label that was never learned is always missed."""
    right = Beside(sample_weight, frequencies).encode(y)  # refuses a missing label
    return score_batches(model, [(rows, right)], cost)


def check_to_score(rows: int, right: Labels) -> None:
    """Raise a ValueError if there are no rows, not a label for each, or none of any weight."""
    if rows != len(right):
        raise ValueError(f"There are {rows:,} rows to score, and {len(right):,} labels.")
    if not rows:
        raise ValueError("There are no rows to score.")
    if right.weight is not None and not right.weight.any():
        raise ValueError("There is nothing to score: all sample weights are zero.")


def score_batches(
    model: Model, batches: Iterable[tuple[Rows, Labels]], cost: Cost = None
) -> Scores:
    """Predict the rows of batches, of which posteriors alone are kept, and score all of them."""
    posteriors, labels, weights, copies = [], [], [], []
    for rows, right in batches:
        if len(rows) != len(right):
            raise ValueError(f"There are {len(rows):,} rows to score, and {len(right):,} labels.")
        if len(rows):
            posteriors.append(model.posterior(rows))
            labels.append(right.classes[right.codes])
            weights.append(right.weight)
            copies.append(right.frequency)
    if not posteriors:
        raise ValueError("There are no rows to score.")
    every = labels[0]
    for more in labels[1:]:
        same = every.dtype.kind == more.dtype.kind  # what differs is compared as objects
        both = every, more
        every = np.concatenate(both if same else [of.astype(object) for of in both])
    weight = None if weights[0] is None else np.concatenate([w for w in weights if w is not None])
    if weight is not None and not weight.any():
        raise ValueError("There is nothing to score: all sample weights are zero.")
    times = None if copies[0] is None else np.concatenate([n for n in copies if n is not None])
    return scores(np.concatenate(posteriors), model.classes, every, weight, times, cost=cost)


def scores(
    p: Floats,
    learned: LabelArray,
    y: LabelArray,
    weight: Floats | None = None,  # (rows,): of each row with all its copies
    copies: NDArray[np.int64] | None = None,  # (rows,): how many equal rows each stands for
    groups: NDArray[np.int64] | None = None,  # (rows,): the number of the group of each
    cost: Cost = None,  # of answers (see NaiveBayes.predict)
) -> Scores:
    """Score posteriors, (rows, learned classes), against the right labels, (rows,)."""
    labels, code = np.unique(y, return_inverse=True)
    every = union_classes(learned, labels)
    right, of_learned = _places(labels, every)[code], _places(learned, every)
    k = len(every)
    answer, confidence = of_learned[p.argmax(axis=1)], p.max(axis=1)
    hit = right == answer
    confusion = np.bincount(right * k + answer, weight, k * k).reshape(k, k)
    hits, rows = confusion.diagonal(), confusion.sum(axis=1)
    with np.errstate(invalid="ignore"):  # 0 / 0 is undefined, and NaN
        precision, recall = hits / confusion.sum(axis=0), hits / rows
    of_classes = (of.tolist() for of in (precision, recall, rows))
    truth: Floats = (right[:, None] == of_learned).astype(np.float64)
    never_learned = 1.0 - truth.sum(axis=1)
    majority = rows.argmax()
    own = {label: label for label in learned.tolist()}  # 1.0 is called 1 if 1 was learned
    names = [own.get(label, label) for label in every.tolist()]
    counted = Weighted(weight, copies, groups)
    ranked = {
        c: rank(p[:, c], truth[:, c], counted)
        for c in range(p.shape[1])
        if 0 < mean(truth[:, c], weight) < 1
    }
    of_right: Floats = np.clip((p * truth).sum(axis=1), LEAST, 1.0)
    brier = (((p - truth) ** 2).sum(axis=1) + never_learned) / 2
    some = p[some_of(len(p))]
    miss, flat = 1.0 - some, np.sqrt(some)
    flat /= flat.sum(axis=1, keepdims=True)
    losses = {
        "accuracy": (hit.astype(np.float64), 1.0, miss),
        "log_loss": (-np.log(of_right), -math.log(LEAST), -np.log(np.clip(some, LEAST, 1.0))),
        "brier": (brier, 1.0, ((some**2).sum(axis=1, keepdims=True) + miss - some) / 2),
    }
    means = {name: counted.mean(loss, most, flat, of) for name, (loss, most, of) in losses.items()}
    support = Support(
        rows_of=dict(zip(names, np.bincount(right, copies, k).astype(int).tolist(), strict=True)),
        size=counted.size(np.ones(len(y))),
        groups=counted.n_groups,
        groups_size=counted.groups_size,
        auc=_area(list(ranked.values())) if ranked else None,
        **means,
    )
    bins = reliability(confidence, hit, weight, copies)
    return Scores(
        rows=len(y) if copies is None else int(copies.sum()),
        accuracy=float(hits.sum() / rows.sum()),
        log_loss=support.log_loss.mean,
        brier=support.brier.mean,
        auc=float("nan") if support.auc is None else support.auc.area,
        calibration_error=calibration_error(bins),
        majority=names[majority],
        majority_accuracy=float(rows[majority] / rows.sum()),
        by_class=dict(zip(names, zip(*of_classes, strict=True), strict=True)),
        classes=names,
        confusion=confusion,
        reliability=bins,
        tenths=binned(equal_parts(confidence, weight, 10), confidence, hit, weight, copies),
        roc={names[of_learned[c]]: of.roc for c, of in ranked.items()},
        support=support,
        decisions=None if cost is None else decisions(p, learned, y, weight, cost),
    )


def _places(labels: LabelArray, every: LabelArray) -> NDArray[np.int64]:
    """Return the place of each label in ``every``, (labels,); 1.0 is 1, a day is its midnight."""
    place = {label: i for i, label in enumerate(every.tolist())}
    return np.array([place[label] for label in labels.astype(every.dtype).tolist()], np.int64)


def _area(ranked: Sequence[Ranked]) -> Area:
    """Return the mean area under ROC curves, weighted by the rows of their classes."""
    shares = np.array([of.roc.share for of in ranked])
    shares /= shares.sum()
    area = min(float(shares @ [of.roc.area for of in ranked]), 1.0)  # where shares sum to more
    classes = [(share, *of.sizes) for share, of in zip(shares.tolist(), ranked, strict=True)]
    deviation = float(shares @ [math.sqrt(of.variance) for of in ranked])
    return Area(area, tuple(classes), deviation**2)


# --- The ROC curve: how well the probability of a class tells its rows from all others -----------


POINTS = 400  # of a curve that are kept
ROUNDING = 1e-9  # of a recall that is a sum of weights


class Roc(Frozen):
    """The ROC curve of one class against the rest.

    Parameters
    ----------
    false_positive_rate, true_positive_rate : ndarray of shape (points,)
        The shares of the other rows, and of the rows of the class, above each threshold: where
        flat parts of the curve begin and end; 400 points at most, evenly along it.
    area : float
        The area under the whole curve: the chance that a row of the class scores above one that is
        not, where a tie is half.
    share : float
        The share of the rows that are of the class.
    threshold : ndarray of shape (points,)
        The probabilities, from high to low, halfway between those of rows.
    """

    false_positive_rate: Floats
    true_positive_rate: Floats
    area: float
    share: float
    threshold: Floats


class Ranked(NamedTuple):
    """A ROC curve, with how many rows are of the class and are not, and the area's variance."""

    roc: Roc
    sizes: tuple[float, float]
    variance: float


def rank(score: Floats, truth: Floats, counted: Weighted) -> Ranked:
    """Return the ROC curve of scores, and how sure it is; there must be rows of both kinds."""
    # The truth is 1 for a row of the class. Scikit-learn's function takes a second to import. A row
    # of the class errs by the share of the other rows that score below it, less the area, by its
    # share of the class; another row by the share of the class above it (DeLong, DeLong & Clarke-
    # Pearson, 1988).
    levels, place = np.unique(score, return_inverse=True)
    weight = np.ones(len(score)) if counted.weight is None else counted.weight
    inside, outside = (np.bincount(place, weight * of) for of in (truth, 1.0 - truth))
    n_inside, n_outside = inside.sum(), outside.sum()
    below = outside.cumsum() - outside / 2
    area = float((inside * below).sum() / (n_inside * n_outside))
    rates = (np.append(0.0, of[::-1].cumsum() / of.sum()) for of in (outside, inside))
    false_positive, true_positive = rates
    edges = np.concatenate([[0.0], levels, levels[-1:]])[::-1]
    rises = np.append(True, np.diff(true_positive) > 0)
    some = np.flatnonzero(rises | np.append(rises[1:], True))  # where flat parts begin and end
    if len(some) > POINTS:  # so many beginnings are kept, and the last point
        some = np.append(np.flatnonzero(rises[:-1]), len(rises) - 1)
        along = (false_positive + true_positive)[some]
        some = some[np.unique(np.searchsorted(along, np.linspace(0.0, along[-1], POINTS)))]
    share, threshold = float(n_inside / (n_inside + n_outside)), (edges[1:] + edges[:-1]) / 2
    curve = Roc(false_positive[some], true_positive[some], area, share, threshold[some])
    above = n_inside - inside.cumsum() + inside / 2
    errors = (below / n_outside - area) / n_inside, (above / n_inside - area) / n_outside
    if counted.groups is not None:
        variance = counted.variance(np.where(truth > 0, errors[0][place], errors[1][place]))
    elif counted.squares is None:
        variance = float((inside * errors[0] ** 2 + outside * errors[1] ** 2).sum())
    else:
        squares = (np.bincount(place, counted.squares * of) for of in (truth, 1.0 - truth))
        variance = float(sum((of * e**2).sum() for of, e in zip(squares, errors, strict=True)))
    return Ranked(curve, (counted.size(truth), counted.size(1.0 - truth)), variance)


# --- Reliability: whether probabilities come true, and how far off chance alone takes them -------
#
# Rows are put into bins of confidence, the probability of the answer. In each, the mean confidence
# is compared with the accuracy. Even if every probability were right, the accuracy of few rows
# would differ from it; how much is to be expected follows from the number of rows, in closed form.


BINS = 15  # of confidence, from 0 to 1


class Bin(Frozen):
    """Rows whose most probable class has about the same probability.

    Parameters
    ----------
    rows : float
        How many rows, or their weight.
    confidence : float
        The mean of the probability of the most probable class.
    accuracy : float
        The share of the rows whose right class it is.
    size : int
        How many rows of equal weight would be as uncertain (Kish, Survey sampling, 1965).
    """

    rows: float
    confidence: float
    accuracy: float
    size: int

    @property
    def noise(self) -> float:
        """The expected distance of accuracy from confidence if the confidence were right."""
        return mean_deviation(self.size, self.confidence)


def mean_deviation(n: int, p: float) -> float:
    """Return the mean of abs(k / n - p), where k is binomial with n trials of probability p."""
    if not 0 < p < 1:  # De Moivre's closed form: Diaconis & Zabell, Closed form summation (1991)
        return 0.0
    least = min(math.floor(n * p), n - 1)  # n * p may be rounded up to n
    log_choose = math.lgamma(n) - math.lgamma(least + 1) - math.lgamma(n - least)
    return 2 * math.exp(log_choose + (least + 1) * math.log(p) + (n - least) * math.log1p(-p))


def reliability(
    confidence: Floats,
    hit: NDArray[np.bool_],
    weight: Floats | None = None,
    copies: NDArray[np.int64] | None = None,
) -> list[Bin]:
    """Return the bins of confidence of equal width that hold rows (see ``binned``)."""
    of = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    return binned(of, confidence, hit, weight, copies)


def equal_parts(confidence: Floats, weight: Floats | None, n: int) -> NDArray[np.int64]:
    """Return the number of each row's part, of n parts of about as many rows by confidence."""
    _, group = np.unique(confidence, return_inverse=True)
    rows = np.bincount(group, weight)
    middle = (np.cumsum(rows) - rows / 2) / rows.sum()
    return np.asarray(np.minimum((middle * n).astype(np.int64), n - 1)[group])


def binned(
    of: NDArray[np.int64],  # (rows,): the number of the bin that each row is in
    confidence: Floats,  # (rows,): how probable the answer, or whatever is looked at, was held
    hit: NDArray[np.bool_],  # (rows,): whether it came true
    weight: Floats | None = None,  # (rows,): of each row with all its copies; by default 1
    copies: NDArray[np.int64] | None = None,  # (rows,): how many equal rows each stands for
) -> list[Bin]:
    """Return the bins that hold rows."""
    one = np.ones(len(confidence)) if weight is None else weight
    square = one * one / (1 if copies is None else copies)
    columns = (one, one * confidence, one * hit, square)
    return [
        Bin(float(n), float(s / n), float(h / n), max(1, round(n * n / q)))
        for n, s, h, q in zip(*(np.bincount(of, x) for x in columns), strict=True)
        if n > 0
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the mean distance of confidence from accuracy, over the rows of all bins."""
    rows = sum(b.rows for b in bins)
    return sum(b.rows * abs(b.confidence - b.accuracy) for b in bins) / rows


def calibration_noise(bins: Sequence[Bin]) -> float:
    """Return the calibration error to be expected if every confidence were right."""
    rows = sum(b.rows for b in bins)
    return sum(b.rows * b.noise for b in bins) / rows
