"""What a column is worth: how much the log loss grows without it, the others weighed anew.

Weights are fitted together. To leave a term out of their sum is not the model without the column:
of two columns that repeat each other each would seem to be worth what both are. So the evidence of
the other columns is weighed anew on the same leave-one-out table, one weight for each, by Newton's
method. Its first step takes the weight of the column to 0 where the loss grows least (Hassibi &
Stork, Second order derivatives for network pruning: optimal brain surgeon, 1993). Columns that
repeat each other are also left out together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import title
from naively.counting.labels import Labels
from naively.fitting.leave_one_out import LeaveOneOut, left_out, linear_evidence
from naively.fitting.sample import Sample
from naively.fitting.search import on_one_thread
from naively.fitting.weights import log_loss, p_right, posterior
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.schema.schema import Missing

MOST = 100  # columns that are weighed anew, those whose evidence is missed most
ROWS = 1_000  # that weights are fitted on, at least, if there are so many,
WORK = 20_000_000  # and so many that rows × classes × columns² are this at most
OF_WEIGHT, OF_BIAS = 1.0, 5.0  # ridges: twice the log loss, in nats, of one that is 1 off
AGAIN = 5  # columns, whose first step takes others far, that have ...
STEPS = 3  # ... more steps
NEAR = 0.01  # nats a row, that a column must be worth for that
ENOUGH = 1e-3  # of the loss, that a further step must gain
SHORTER = (1.0, 0.5, 0.25)  # shares of a step that are tried
ALIKE = 0.9  # correlation of the evidence of columns that repeat each other


class Worth(NamedTuple):
    """How much the log loss grows, in nats per row: without each column, and without several."""

    alone: dict[str, float]
    together: dict[tuple[str, ...], float]

    def shared(self) -> dict[str, float]:
        """Return what each column is worth, at least 0, with its share of what several are."""
        found = {name: max(0.0, nats) for name, nats in self.alone.items()}
        for names, nats in self.together.items():
            more = (nats - sum(found[name] for name in names)) / len(names)
            found |= {name: found[name] + max(0.0, more) for name in names}
        return found


@on_one_thread
def worth(model: Model, sample: Sample) -> Worth:
    """Return how much the leave-one-out log loss grows without each column, in nats per row.

    An interaction counts as a column.
    """
    batches = sample.encoded(model)
    found = left_out(model, batches, length_normalised=model.weights is not None)
    evidence = _by_column(model, found, linear_evidence(model, batches))
    # Weights are fitted under the rows' own prior, whatever the class prior is.
    base = found.class_prior
    if model.weights is not None:
        base = found.prior + model.weights.bias_of(model.classes.tolist())
    names, table = list(evidence), np.stack([*evidence.values(), np.zeros_like(base)])[:-1]
    whole = table.sum(axis=0)
    whole += base
    loss = _loss(whole, found.labels)
    missed = {
        name: _loss(whole - of, found.labels) - loss for name, of in zip(names, table, strict=True)
    }
    if model.weights is None:  # a plain sum, of which a term is left out
        return Worth(missed, {})
    if model.weights.how == "temperature":
        alone = {}
        for name, of in evidence.items():
            two = np.stack([of, whole - base - of])
            alone[name] = Terms.of(two, base, found.labels).without([0])
        return Worth(alone, {})
    order = sorted(range(len(names)), key=lambda at: -missed[names[at]])
    some = order[:MOST]
    rest = base + table[order[MOST:]].sum(axis=0)
    terms = Terms.of(table[some], rest, found.labels)
    for at, grown in zip(some, terms.without_each(), strict=True):
        missed[names[at]] = grown
    together = {
        tuple(names[some[i]] for i in several): terms.without(several) for several in terms.alike()
    }
    return Worth(missed, together)


def _by_column(model: Model, found: LeaveOneOut, linear: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the evidence of each column, weighted, (rows, classes), with its linear part."""
    classes, evidence = model.classes.tolist(), dict[str, Floats]()
    for name, part, table in zip(_columns(model, found), found.parts, found.table, strict=True):
        weight = 1.0 if model.weights is None else model.weights.table([part], classes)[0]
        evidence[name] = evidence.get(name, 0.0) + weight * table
    for name, added in linear.items():
        evidence[name] = evidence.get(name, 0.0) + added
    return evidence


def _columns(model: Model, found: LeaveOneOut) -> list[str]:
    """Return the name of each part's column, or of its group if columns are one event.

    What a missing cell says is of the column that it is missing in.
    """
    texts = {g.key: title(g.columns[0]) for g in model.schema.groups if g.kind == "text"}
    return [
        title(part.column.of)
        if isinstance(part.column, Missing)
        else texts.get(part.group, str(part))
        for part in found.parts
    ]


def _loss(joint: Floats, labels: Labels) -> float:
    return log_loss(p_right(joint, labels), labels.weight)


@dataclass(frozen=True, eq=False)
class Terms:
    """Terms of a sum of evidence, each of which may be weighed anew, and a bias for each class.

    Parameters
    ----------
    table : ndarray of shape (terms, rows, classes)
        The terms.
    base : ndarray of shape (rows, classes)
        What else is in the sum.
    labels : Labels
        The labels of the rows.
    """

    table: Floats
    base: Floats
    labels: Labels
    start: Floats = field(init=False)  # arguments: the weights of terms, then biases

    def __post_init__(self) -> None:
        start = np.concatenate([np.ones(len(self.table)), np.zeros(self.base.shape[1])])
        object.__setattr__(self, "start", start)

    @classmethod
    def of(cls, table: Floats, base: Floats, labels: Labels) -> Terms:
        """Return terms on as many rows as there is time for."""
        p, n, k = table.shape
        most = max(ROWS, WORK // max(1, k * p * p))
        if n > most:
            table, base, labels = table[:, :most], base[:most], labels.take(np.arange(most))
        return cls(table, base, labels)

    def joint(self, x: Floats) -> Floats:
        """Return the sum by arguments, of shape (rows, classes)."""
        p = len(self.table)
        return np.asarray(self.base + x[p:] + np.tensordot(x[:p], self.table, 1))

    @cached_property
    def best(self) -> tuple[Floats, float]:
        """The arguments of least loss with all terms, and the mean log loss of the rows by them."""
        return self._descend(self.start, _loss(self.joint(self.start), self.labels), [])

    def slopes(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of the penalised loss of all rows, and its second derivatives."""
        p, weight = posterior(self.joint(x)), self.labels.weights
        right = np.arange(len(p)), self.labels.codes
        wrong = p.copy()
        wrong[right] -= 1
        wrong *= weight[:, None]
        terms, classes = len(self.table), p.shape[1]
        ridge = np.repeat([OF_WEIGHT, OF_BIAS], [terms, classes])
        gradient = ridge * (x - self.start)
        gradient[:terms] += np.tensordot(self.table, wrong, 2)
        gradient[terms:] += wrong.sum(axis=0)
        share = p * weight[:, None]
        mean = np.einsum("nk,pnk->pn", p, self.table)
        scaled = (self.table * np.sqrt(share)).reshape(terms, -1)
        curvature = np.empty((len(x), len(x)))
        curvature[:terms, :terms] = scaled @ scaled.T - (mean * weight) @ mean.T
        of_bias = np.einsum("nk,pnk->pk", share, self.table) - mean @ share
        curvature[:terms, terms:], curvature[terms:, :terms] = of_bias, of_bias.T
        curvature[terms:, terms:] = np.diag(share.sum(axis=0)) - share.T @ p
        curvature[np.diag_indices(len(x))] += ridge
        return gradient, curvature

    @cached_property
    def curvature(self) -> Floats:
        """The second derivatives where nothing is left out."""
        return self.slopes(self.best[0])[1]

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of these."""
        return np.asarray(np.linalg.inv(self.curvature))

    def without_each(self) -> list[float]:
        """Return how much the loss grows without each term."""
        terms = len(self.table)
        x, loss = self.best
        steps = -self.inverse[:, :terms] * (x[:terms] / np.diag(self.inverse)[:terms])
        grown = [self._without([at], steps[:, at])[1] - loss for at in range(terms)]
        far = sorted((at for at in range(terms) if grown[at] > NEAR), key=lambda at: -grown[at])
        for at in far[:AGAIN]:
            grown[at] = self.without([at])
        return grown

    def without(self, some: Sequence[int]) -> float:
        """Return how much the loss grows without some terms, the others weighed anew."""
        some, (x, loss) = list(some), self.best
        first = np.linalg.solve(self.inverse[np.ix_(some, some)], x[some])
        x, grown = self._without(some, -self.inverse[:, some] @ first)
        return self._descend(x, grown, some)[1] - loss

    def _without(self, some: list[int], step: Floats) -> tuple[Floats, float]:
        """Return the arguments after a first step without some terms, and their loss."""
        x, step = self.best[0].copy(), step.copy()
        x[some] = step[some] = 0.0
        return self._along(x, step, _loss(self.joint(x), self.labels))

    def _descend(self, x: Floats, loss: float, some: Sequence[int]) -> tuple[Floats, float]:
        """Return better arguments and their loss, after a few steps, in which some stay at 0."""
        free = np.setdiff1d(np.arange(len(x)), some)
        for _ in range(STEPS):
            gradient, curvature = self.slopes(x)
            step = np.zeros(len(x))
            step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
            before, (x, loss) = loss, self._along(x, step, loss)
            if before - loss < ENOUGH * loss:
                break
        return x, loss

    def _along(self, x: Floats, step: Floats, before: float) -> tuple[Floats, float]:
        """Return a better point along a step, and its loss; where it began if there is none."""
        start = self.joint(x)
        change = self.joint(x + step) - start
        for share in SHORTER:
            loss = _loss(start + share * change, self.labels)
            if loss < before:
                return x + share * step, loss
        return x, before

    def alike(self) -> list[list[int]]:
        """Return the terms that repeat each other, in groups of several."""
        p = len(self.table)
        matrix = self.curvature[:p, :p] - OF_WEIGHT * np.eye(p)
        size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        close = np.abs(matrix / size / size[:, None]) > ALIKE
        groups: dict[int, list[int]] = {}
        for at, group in enumerate(_connected(close)):
            groups.setdefault(group, []).append(at)
        return [of for of in groups.values() if len(of) > 1]


def _connected(close: NDArray[np.bool_]) -> Iterable[int]:
    """Return the least number that each is connected to, over any number of others."""
    group = list(range(len(close)))
    for i, j in zip(*np.nonzero(np.triu(close, 1)), strict=True):
        a, b = group[i], group[j]
        group = [min(a, b) if of in (a, b) else of for of in group]
    return group
