"""An honest assessment of a model from the rows that it was trained on.

The tally of each fold is subtracted, weights are fitted on the other rows, and the fold is
predicted: cross-validation without refitting. (Leave-one-out alone is optimistic, as the weights
have been fitted on it.) A fold takes about as long as learning did, most of it for the weights. So
of ten or twenty folds as many are held out as take twice as long as learning, by a count of
operations, not a clock; of few rows more, until enough of them are scored. Where the sample is a
small part of the rows learned, a larger share of it in a fold is still a small part of all: then
there are fewer folds, so that more rows are scored in the same time.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.assess.scores import Scores, scores
from naively.assess.worth import worth
from naively.counting.axis import VALUE, Words
from naively.counting.labels import Labels
from naively.fitting.interactions import COLUMNS, add_interactions
from naively.fitting.sample import Reservoir, Sample
from naively.fitting.weights import count_parts
from naively.kernels.reference import Floats
from naively.model.class_prior import among_fewer
from naively.model.model import Model
from naively.options import Weighting

FEW = 2_000  # up to so many rows there are ...
MANY_FOLDS = 20  # ... at most so many folds ...
FOLDS = 10  # ... and else these, or fewer, of a tenth of the rows learned each,
LEAST_DEALT = 4  # yet so many, as weights are fitted to the sample without a fold
LEAST_FOLDS = 2  # are held out in any case
ENOUGH = 2_000  # rows that are scored, where that takes no more than twice learning and STARTING
# Work is counted in numbers of the table of evidence, rows × parts × classes.
PER_PART = 200  # rows: their evidence takes as long as to derive a part's parameters
PER_TOKEN = 0.5  # numbers
PER_FOLD = 50_000  # numbers, and as much for learning
STARTING = 2_000_000  # numbers: they take half a second
COSTS = 0.3  # times learning, for what each column is worth
TIMES = 2.0  # times learning, for the folds and the worth of columns together


class Folds(NamedTuple):
    """How many folds rows are dealt into, how many of them are held out, and why no more."""

    dealt: int
    held_out: int
    why: str


class Predicted(NamedTuple):
    """Rows that were held out.

    Parameters
    ----------
    p : ndarray of shape (rows scored, classes)
        Their posteriors.
    labels : Labels
        Their labels, with the weight of the copies in the fold.
    copies : ndarray of int64, of shape (rows scored,)
        How many copies of the row are in the fold.
    """

    p: Floats
    labels: Labels
    copies: NDArray[np.int64]


def assess(
    model: Model, reservoir: Reservoir, kind: Weighting | None, *, interactions: bool = False
) -> Scores:
    """Score the model on the sample of the rows that it has learned (see ``NaiveBayes.assess``).

    With ``interactions`` they are chosen anew without each fold. The only row of a class is not
    scored, unless no class has two: without it nobody knows the class.
    """
    sample = reservoir.of(model, larger=interactions)
    folds = plan(model, len(sample), reservoir.seen, interactions=interactions)
    dealt = sample.deal(folds.dealt)[:, : folds.held_out]
    codes, times = sample.labels.codes, sample.copies
    alone = (np.bincount(codes, times, len(model.classes)) == 1) & (model.tally.class_count <= 1)
    alone &= not alone.all()
    dealt[alone[codes]] = 0
    dealt = dealt[:, dealt.any(axis=0)]
    p, labels, copies = cross_validate(model, sample, kind, dealt, interactions=interactions)
    found = scores(p, model.classes, model.classes[labels.codes], labels.weight, copies)
    of_columns = worth(model, reservoir.of(model) if interactions else sample)
    why, rows = reservoir.why, int(dealt.sum())
    if rows < len(sample) and folds.held_out < folds.dealt:
        why = f"{why}; of these " * bool(why) + f"{folds.held_out} folds of {folds.dealt}"
    return replace(
        found,
        rows=rows,
        cost=of_columns.alone,
        together=of_columns.together,
        of=reservoir.seen,
        why=why,
        folds=(folds.held_out, folds.dealt),
        why_folds=folds.why,
        too_rare=tuple(model.classes[alone].tolist()),
    )


def plan(model: Model, n: int, seen: int, *, interactions: bool = False) -> Folds:
    """Return folds of n rows, of as many that were seen, that take about twice as long as learning.

    Rows are dealt into many folds, so that a model without one of them is nearly as good as the
    whole; if there is no time for all, some are held out. How many follows from the numbers of
    rows, columns, words and classes, so that the same rows have the same folds. With interactions
    the folds are ten, as pairs are counted on the sample alone.
    """
    if n < 2:
        raise ValueError("There are fewer than two rows: none can be held out to assess the model.")
    share = 1.0 if interactions else n / max(n, seen)
    folds = max(min(FOLDS, LEAST_DEALT), math.ceil(FOLDS * share))
    time = work(model, n, interactions=interactions) * (TIMES - COSTS)
    of_fold = work(model, n - n / folds, interactions=interactions)
    longer = (time + STARTING) / of_fold
    dealt = min(n, MANY_FOLDS if n <= FEW and longer >= FOLDS else folds)
    possible = max(time / of_fold, min(longer, math.ceil(ENOUGH * dealt / n)))
    held_out = int(np.clip(possible, LEAST_FOLDS, dealt)) if dealt > LEAST_FOLDS else dealt
    why = "" if held_out == dealt else "as many as take twice as long as learning"
    return Folds(dealt, held_out, why)


def work(model: Model, rows: float, *, interactions: bool = False) -> float:
    """Return about how many numbers are computed to learn so many of the rows."""
    parts, k = count_parts(model), len(model.classes)
    if interactions:
        columns = min(sum(len(g.columns) for g in model.schema.of_columns), COLUMNS)
        parts += columns * (columns - 1) // 2
    texts = [block for block in model.taken.blocks.values() if isinstance(block.axis, Words)]
    words = sum(len(block.axis) for block in texts)
    tokens = sum(float(block.sums[VALUE].by_row().sum()) for block in texts)
    share = rows / max(float(model.tally.class_count.sum()), rows)
    of_texts = PER_TOKEN * (tokens * share + words)
    return PER_FOLD + k * (parts * (rows + PER_PART) + of_texts)


def cross_validate(
    model: Model,
    sample: Sample,
    kind: Weighting | None,
    dealt: NDArray[np.int64],
    *,
    interactions: bool = False,
) -> Predicted:
    """Return the posteriors of rows under the model less their fold, and their labels.

    Weights, the linear part and interactions are fitted without the fold; pairs of columns are
    counted on the rest of the sample.

    Parameters
    ----------
    dealt : ndarray of shape (rows of the sample, folds)
        How many copies of each row are in each fold that is held out.

    Returns
    -------
    predicted : Predicted
        Fold by fold; a row is in as many folds as its copies.
    """
    unweighted = model.without_interactions().weighed(None)
    copies, found, labels, times = sample.copies, [], [], []
    for fold in dealt.T:
        held_out, others = sample.keep(fold), sample.keep(copies - fold)
        rest = held_out.less(unweighted)
        prior = among_fewer(model.settings.class_prior, model.classes, rest.classes)
        rest = replace(rest, settings=replace(rest.settings, class_prior=prior))
        if interactions:
            rest = add_interactions(rest, others)
        elif kind is not None:
            rest = rest.weighed(others.weights(rest, kind))
        p = np.zeros((len(held_out.copies), len(model.classes)))
        p[:, np.isin(model.classes, rest.classes)] = held_out.posterior(rest)
        found.append(p)
        labels.append(held_out.labels)
        times.append(held_out.copies)
    return Predicted(np.concatenate(found), Labels.join(labels), np.concatenate(times))
