"""The linear part: slopes and rules that are added to the evidence where held-out rows gain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.fitting.functions import Basis, Products, basis_of
from naively.fitting.leave_one_out import THIRDS, LeaveOneOut, Third
from naively.fitting.rules import STEPS, TABLES, Cut, grow, with_rules
from naively.fitting.slopes import Descent, Problem, Run, descend, loss_before, ridges_of, solve
from naively.fitting.weights import evidence_said, posterior
from naively.kernels.reference import Floats
from naively.model.linear_part import NOTHING, LinearPart, Product, Term
from naively.model.model import Model
from naively.model.weights import Weights

# --- What is added to the weighted evidence of the columns ---------------------------------------
#
# First slopes of functions of one column, by ridge; with interactions, products of two of them as
# well. Then rules, grown on what these leave unsaid: steps of one column, or with interactions
# decision tables of a few. Each is added where it lowers the log loss of held-out thirds of the
# rows, of the first of them if they are many, and is then fitted to all rows.


WORTH = 3.0  # nats that products must save on the held-out rows; chance saves some
LAST_STEPS = 80  # of the search for slopes, on all rows


@dataclass(frozen=True, eq=False)
class Weighed:
    """Rows of a sample, as the weights of the columns say.

    Parameters
    ----------
    model : Model
        With weights that are all 1.
    weights : Weights
        Those that were fitted.
    found : LeaveOneOut
        The leave-one-out table of the rows, or of the first of them.
    batches : sequence of Batch
        All rows, as the model encodes them.
    labels : Labels
        Their labels.
    joint : ndarray of shape (rows, classes)
        Their weighted joint log likelihoods, each row left out.
    thirds : callable
        Returns the first ``ROWS`` rows with a third held out, each third if they are few.
    """

    model: Model
    weights: Weights
    found: LeaveOneOut
    batches: Sequence[Batch]
    labels: Labels
    joint: Floats
    thirds: Callable[[], Iterable[Third]]


class Added(NamedTuple):
    """A linear part, and the log loss of held-out rows without and with it, in nats per row."""

    linear: LinearPart
    before: float = 0.0
    after: float = 0.0


class _Sum(NamedTuple):
    """What was added so far, and the joint log likelihoods with it, of thirds and of all rows."""

    linear: LinearPart
    thirds: list[Third]
    joint: Floats


def fit_linear_part(rows: Weighed, *, interactions: bool = False) -> Added:
    """Return what lowers the log loss of held-out rows, fitted to all rows.

    Parameters
    ----------
    rows : Weighed
        The rows, as the weights say.
    interactions : bool, default False
        Whether columns are taken together, in products and in tables.
    """
    if rows.labels.group is not None and len(np.unique(rows.labels.group)) < THIRDS:
        return Added(NOTHING)
    said = cache(lambda: evidence_said(rows.weights, rows.found))
    basis = basis_of(rows.model, said, rows.labels, rows.batches)
    cut = Cut.of(rows.model, rows.batches, rows.labels, said)
    cut = cut if interactions else cut.without_truths()
    if not (basis.terms or cut.parts):
        return Added(NOTHING)
    thirds = [*rows.thirds()]
    some = rows.labels.take(np.arange(len(thirds[0].joint)))
    of_held = sum(float(some.weights[third.held].sum()) for third in thirds)
    before, found = _with_slopes(rows, basis, thirds, some, interactions)
    grown = grow(cut, found.thirds, found.joint, rows.labels, TABLES if interactions else STEPS)
    linear = found.linear
    if grown.grown is not None:
        linear = with_rules(linear, cut, grown.grown, rows.labels.k)
    return Added(linear, before / of_held, grown.after / of_held)


def _with_slopes(
    rows: Weighed, basis: Basis, thirds: list[Third], some: Labels, interactions: bool
) -> tuple[float, _Sum]:
    """Add slopes of functions of the columns, and of products.

    Returns
    -------
    loss : float
        The log loss of the held-out rows with what is added of single columns, in nats.
    found : _Sum
        With all that is added.
    """
    own, none = basis.shared, [None] * len(thirds)
    # Which columns say most was found on all rows, those held out too: the more there were to
    # choose from, and the fewer rows, the more has to be gained.
    ridges, enough = ridges_of(some, len(rows.found.parts)), basis.passed_over / len(some)
    lines = _chosen(own, none, thirds, some, ridges, enough)
    best, z = lines, _beside_one(own)
    products: Sequence[Product] = ()
    if interactions and len(basis.terms) > 1:
        z32 = basis.z.astype(np.float32)
        said = cache(lambda: evidence_said(rows.weights, rows.found))

        def multiplied(joint: Floats, labels: Labels, rest: np.ndarray | None = None) -> Products:
            p = posterior(joint if rest is None else joint[rest])
            labels = labels if rest is None else labels.take(rest)
            return Products.choose(basis.terms, z32, said, p, labels, rest)

        each = [multiplied(third.joint, some, third.rest).values(len(some)) for third in thirds]
        more = _chosen(own, each, thirds, some, ridges, 0.0)
        if more.descent.ridge is not None and more.descent.loss < lines.descent.loss - WORTH:
            of_all = multiplied(rows.joint, rows.labels)
            products, best = of_all.terms(), more
            z = _beside_one(own.astype(np.float32), of_all.values())
    ridge, before = best.descent.ridge, lines.descent.loss
    if ridge is None:
        return before, _Sum(NOTHING, thirds, rows.joint)
    problem = Problem(rows.joint, rows.labels, z)
    start = problem.nothing if products else np.mean(best.descent.found, axis=0)
    slope = solve(problem, ridge, start, LAST_STEPS)
    n = own.shape[1]
    every = np.vstack([basis.of_terms(slope[:n]), slope[n:]])
    linear = linear_part_of(every, basis.terms, products, ridge)
    return before, _Sum(linear, best.thirds(thirds), problem.joint_with(slope))


class _Chosen(NamedTuple):
    """What came of the search for a ridge, and the problems of all first rows."""

    descent: Descent
    problems: list[Problem]

    def thirds(self, before: Sequence[Third]) -> list[Third]:
        """Return thirds with the slopes of each added."""
        each = zip(before, self.problems, self.descent.found, strict=True)
        return [third._replace(joint=of.joint_with(slope)) for third, of, slope in each]


def _chosen(
    own: Floats,
    more: Sequence[np.ndarray | None],
    thirds: Sequence[Third],
    some: Labels,
    ridges: Sequence[float],
    enough: float,
) -> _Chosen:
    """Choose the ridge of slopes of functions, and of more of them for each third."""
    first = own[: len(some)].astype(np.float32)  # single precision is enough to choose
    problems = [
        Problem(third.joint, some, _beside_one(first, *([] if of is None else [of])))
        for third, of in zip(thirds, more, strict=True)
    ]
    runs = [Run.of(of, third) for of, third in zip(problems, thirds, strict=True)]
    return _Chosen(descend(runs, ridges, loss_before(runs) - enough), problems)


def _beside_one(*z: np.ndarray) -> np.ndarray:
    """Return functions beside each other, and a last one of 1, whose slope is the intercept."""
    one = np.ones((1, len(z[0])), z[0].dtype)
    return np.vstack([*(of.T for of in z), one]).T


def linear_part_of(
    slope: Floats, terms: Sequence[Term], products: Sequence[Product], ridge: float
) -> LinearPart:
    """Return slopes, (functions, classes), as a linear part.

    The functions are terms, then products; the last is the intercept.
    """
    *slopes, intercept = map(tuple, slope.tolist())
    return LinearPart(
        dict(zip(terms, slopes[: len(terms)], strict=True)),
        dict(zip(products, slopes[len(terms) :], strict=True)),
        intercept=intercept,
        ridge=ridge,
    )
