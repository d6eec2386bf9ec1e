"""Fitting all that is added to the columns: the linear part, products and counted pairs.

Products, pairs and ridges are chosen on two thirds of the sample and judged on the third that is
held out; what is planned so is then fitted on all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.evaluation.basis import Basis, Said, basis_of, evidence_said
from naively.evaluation.calibrate import CELLS, ROWS, count_parts, fit
from naively.evaluation.leave_one_out import LeaveOneOut, left_out
from naively.evaluation.lifts import Once, evidence_by
from naively.evaluation.linear_part import (
    LAST_STEPS,
    RIDGES,
    Descent,
    Run,
    descend,
    held_out,
    joint_of,
    linear_part_of,
    run_of,
    solve_slopes,
)
from naively.evaluation.losses import posterior
from naively.evaluation.pairs import Crossed
from naively.evaluation.products import Products
from naively.evaluation.ridge import STEPS, Problem, Solution, solve
from naively.evaluation.sample import Sample
from naively.events.lift import Lift, counts_of
from naively.kernels.reference import Floats
from naively.model.linear_part import LinearPart
from naively.model.model import Model
from naively.model.weights import Weights
from naively.schema.derived import Interaction
from naively.schema.held import Held

RIDGES_OF_PAIRS = (100.0, 30.0, 10.0, 3.0)
FEWEST = 100  # rows whose leave-one-out table is made at once, however large
WORTH = 1.0  # nats that products, and pairs, must save on the held-out rows; chance saves some
NEGLIGIBLE = 1e-3  # a weight of a pair that is as good as 0


class Plan(NamedTuple):
    """What lowers the log loss of held-out rows.

    Parameters
    ----------
    ridge : float or None
        Of the slopes; None if none lower it.
    products : bool
        Whether products are among the functions.
    of_pairs : float or None
        The ridge of the weights of pairs; None if none lower it.
    before, after : float
        The log loss of the held-out rows by the columns alone, with the linear part of each, and
        with all that is added, in nats per row.
    """

    ridge: float | None
    products: bool
    of_pairs: float | None
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class Fitting:
    """The sampled rows of a model without interactions, and all that may be added to it.

    Parameters
    ----------
    column_weights : Weights
        The weights of the columns.
    sample : Sample
        The rows.
    learned : bool
        Whether the model has learned them, so that each is left out.
    batches : list of Batch
        The rows, as the model encodes them.
    labels : Labels
        Their labels.
    found : LeaveOneOut
        The leave-one-out table of as many of them as memory is for.
    said : callable
        Returns how much evidence each part gives.
    basis : Basis
        Functions of their columns.
    joint : ndarray of shape (rows, classes)
        Their joint log likelihoods by the weights of the columns, each row left out.
    """

    column_weights: Weights
    sample: Sample
    learned: bool
    batches: list[Batch]
    labels: Labels
    found: LeaveOneOut
    said: Said
    basis: Basis
    joint: Floats

    @classmethod
    def of(cls, model: Model, sample: Sample, *, learned: bool = True) -> Fitting:
        """Fit the weights of the columns."""
        batches = sample.encoded(model)
        pieces = [_pieces(batch, model) for batch in batches]
        first = [left_out(model, [of[0]], learned=learned) for of in pieces]
        found = LeaveOneOut.join(first)
        weights = fit(found.first(ROWS), "loo", float(model.tally.class_count.sum()))
        labels, joint = [], []
        for table, (_, *others) in zip(first, pieces, strict=True):
            for part in (table, *(left_out(model, [of], learned=learned) for of in others)):
                labels.append(part.labels)
                joint.append(joint_of(weights, part))
        every, said = Labels.join(labels), cache(lambda: evidence_said(weights, found))
        basis = basis_of(model, said, every, batches)
        return cls(
            weights, sample, learned, batches, every, found, said, basis, np.concatenate(joint)
        )

    @cached_property
    def z(self) -> NDArray[np.float32]:
        """The functions, of shape (rows, functions)."""
        return self.basis.z.astype(np.float32)

    @cached_property
    def shared(self) -> NDArray[np.float32]:
        """The functions that have slopes of their own, of shape (rows, slopes)."""
        return self.z if self.basis.shares is None else self.basis.shared.astype(np.float32)

    @cached_property
    def crossed(self) -> Crossed:
        """The columns, cut into bins."""
        return Crossed.of(self.batches, self.labels, self.found, self.said)

    @cached_property
    def p(self) -> Floats:
        """The posteriors by the weights of the columns, of shape (rows, classes)."""
        return posterior(self.joint)

    def products(self, rows: NDArray[np.int64] | None = None) -> Products:
        """Choose the products that would lower the log loss of all rows most, or of some."""
        p, labels = self.p, self.labels
        if rows is not None:
            p, labels = p[rows], labels.take(rows)
        return Products.choose(self.basis.terms, self.z, self.said, p, labels, rows)

    def problem(
        self, products: Products | None, *, slopes: bool = True, rows: int | None = None
    ) -> Problem:
        """Return what slopes may add to the rows: of the functions, products, and an intercept.

        ``rows`` are the first, so many at most; by default all.
        """
        labels = self.labels if rows is None else self._first(rows)
        n = len(labels)
        z = np.empty((0, n), np.float32)
        if slopes:
            multiplied = z if products is None else products.values(n).T
            z = np.vstack([self.shared[:n].T, multiplied, np.ones((1, n), np.float32)])
        return Problem(self.joint[:n], labels, z.T)

    def _first(self, rows: int) -> Labels:
        """Return the labels of the first rows, so many at most."""
        return self.labels.take(np.arange(min(rows, len(self.labels))))

    def plan(self, fixed: NDArray[np.floating] | None = None) -> Plan:
        """Find what lowers the log loss of held-out rows.

        ``fixed`` is the evidence of the pairs that there are, (rows, classes, pairs); by default
        they are chosen.
        """
        thirds = held_out(self._first(ROWS))
        alone = self.problem(None, rows=ROWS)
        lines = [run_of(alone, rest, third) for rest, third in thirds]
        best, products = descend(lines, RIDGES, solve_slopes), False
        before = best.loss
        multiplied = [
            run_of(self.problem(self.products(rest), rows=ROWS), rest, third)
            for rest, third in thirds
        ]
        runs, more = lines, descend(multiplied, RIDGES, solve_slopes, best.loss - WORTH)
        if more.ridge is not None:
            runs, best, products = multiplied, more, True
        ridge = best.ridge or RIDGES[0]
        with_pairs = []
        for run, of, (rest, third) in zip(runs, best.found, thirds, strict=True):
            if fixed is None:
                evidence = self._evidence(run.rest.posterior(of), rest, third)
            else:
                evidence = fixed[rest], fixed[third]
            with_pairs.append(
                Run(
                    replace(run.rest, evidence=evidence[0]),
                    replace(run.third, evidence=evidence[1]),
                    Solution(of.slope, np.zeros(evidence[0].shape[2])),
                )
            )
        pairs = Descent(None, best.loss, [])
        if any(run.start.weight.size for run in with_pairs):
            pairs = descend(
                with_pairs,
                RIDGES_OF_PAIRS,
                lambda problem, of, start: solve(problem, ridge, of, start),
                best.loss - WORTH,
            )
        after = best.loss if pairs.ridge is None else pairs.loss
        rows = sum(float(run.third.labels.weights.sum()) for run in runs)
        return Plan(best.ridge, products, pairs.ridge, before / rows, after / rows)

    def _evidence(
        self, p: Floats, rest: NDArray[np.int64], third: NDArray[np.int64]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Choose and count pairs on the rows that are not held out; return the evidence of both."""
        counted = self.crossed.take(rest)
        pairs = counted.best(p)
        return counted.evidence(pairs), counted.evidence_of(self.crossed.take(third), pairs)

    def pairs(self, plan: Plan) -> tuple[list[Interaction], Solution | None]:
        """Choose the pairs that are worth counting, by all rows of the sample.

        They are counted on all rows, and worth it if they have a weight on the first ``ROWS``.
        With them is returned where a search on all rows may begin.
        """
        if plan.of_pairs is None:
            return [], None
        problem, ridge = self._whole(plan, ROWS), plan.ridge or RIDGES[0]
        found = solve_slopes(problem, ridge, Solution.nothing(problem))
        best = self.crossed.best(problem.posterior(found))
        problem = replace(problem, evidence=self.crossed.evidence(best, ROWS))
        start = Solution(found.slope, np.zeros(len(best)))
        found = solve(problem, ridge, plan.of_pairs, start)
        worth = found.weight > NEGLIGIBLE
        pairs = [self.crossed.interaction(pair) for pair, w in zip(best, worth, strict=True) if w]
        return pairs, Solution(found.slope, found.weight[worth])

    @cached_property
    def _products(self) -> Products:
        """The products that are chosen on all rows."""
        return self.products()

    def _whole(self, plan: Plan, rows: int | None = None) -> Problem:
        """Return what slopes may add to all rows, or to the first."""
        products = self._products if plan.products else None
        return self.problem(products, slopes=plan.ridge is not None, rows=rows)

    def of_pairs(self, model: Model) -> NDArray[np.floating]:
        """Return the leave-one-out evidence of a model's pairs, (rows, classes, pairs)."""
        groups = [group for group in model.schema.groups if group.is_interaction]
        if not groups:
            return np.zeros((*self.joint.shape, 0), np.float32)
        held, once = [Held(batch) for batch in self.batches], None
        if self.learned:
            once = Once.of(self.labels, np.concatenate([of.times for of in self.batches]))
        (n, k), pairs = self.joint.shape, sum(len(model.parts[of.key].keys) for of in groups)
        by_class = np.empty((k, pairs, n), np.float32)
        at = iter(range(pairs))
        for group in groups:
            event, tally = group.event, model.counts[group.key]
            assert isinstance(event, Lift)
            m = event.pretend(event.estimate)
            for column, count in zip(tally.axis.columns, counts_of(tally), strict=True):
                code = np.concatenate([column.codes(of) for of in held])
                by_class[:, next(at)] = evidence_by(count, code, once, m)
        return by_class.transpose(2, 0, 1)

    def weights(
        self,
        plan: Plan,
        model: Model,
        evidence: NDArray[np.floating],
        start: Solution | None = None,
    ) -> Weights:
        """Fit slopes and weights of pairs on all rows, as planned.

        ``model`` is the model with the pairs counted, ``evidence`` that of its pairs, and ``start``
        where the search begins; by default at nothing.
        """
        problem = replace(self._whole(plan), evidence=None if plan.of_pairs is None else evidence)
        found = solve(
            problem,
            plan.ridge or RIDGES[0],
            plan.of_pairs or RIDGES_OF_PAIRS[0],
            start or Solution.nothing(problem),
            LAST_STEPS if start is None else STEPS,
        )
        names = [
            part
            for group in model.schema.groups
            if group.is_interaction
            for part in model.parts[group.key].keys
        ]
        weight = np.zeros(len(names)) if plan.of_pairs is None else found.weight
        k = len(self.column_weights.classes)
        of = {part: (float(w),) * k for part, w in zip(names, weight, strict=True)}
        linear = LinearPart()
        if plan.ridge is not None:
            products = self._products.terms() if plan.products else []
            own = self.shared.shape[1]
            slope = np.vstack([self.basis.of_terms(found.slope[:own]), found.slope[own:]])
            linear = linear_part_of(slope, self.basis.terms, products, plan.ridge)
        return replace(self.column_weights, of={**self.column_weights.of, **of}, linear=linear)


def _pieces(batch: Batch, model: Model) -> list[Batch]:
    """Return rows in several batches, if their leave-one-out table would take much memory."""
    most = max(1, CELLS // max(1, count_parts(model) * len(model.classes)))
    if len(batch) <= max(most, FEWEST):
        return [batch]
    return [
        batch.take(rows) for rows in np.array_split(np.arange(len(batch)), -(-len(batch) // most))
    ]
