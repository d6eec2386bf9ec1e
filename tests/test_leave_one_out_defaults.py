"""Leaving a row out of what ``NaiveBayes`` chooses by itself, against brute force.

What is chosen by all rows (a pseudo-count, a bandwidth; of many rows the bins and the width of
their kernel) is chosen with the row and stays; all else is as if the row had never been seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from naively import Bernoulli, Categorical, EventModel, Histogram, KernelDensity, Model, Multinomial
from naively.counting.axis import VALUE
from naively.counting.labels import encode_labels
from naively.counting.leave_one_out import SURE
from naively.counting.tally import BlockTally
from naively.events import histogram
from naively.events.categorical import CHOICES, USUAL_M
from naively.fitting.leave_one_out import leave_one_out_table
from naively.fitting.weights import fit
from tests.cases import COUNT, LEVEL, REAL, TEXT, TRUTH, Case, numbers, objects
from tests.laws import Sample, samples
from tests.products import GIVEN, Product, few, seeds
from tests.test_leave_one_out import assert_refitted, centred, without

HALF = 0.5  # of a row, for each class, where a choice is made by log loss


def drawn(data: Any, case: Case) -> Sample:
    """Draw a sample of which a row can be left out, with weights or without."""
    sample: Sample = data.draw(samples(case, least=4, missing=not case.text))
    few_rows = Counter(sample.y.tolist())
    assume(len(few_rows) > 1 and min(few_rows.values()) > 1)
    if data.draw(st.booleans()):
        sample = replace(sample, weight=np.tile([1.0, 2.0, 0.5], len(sample))[: len(sample)])
    return sample


def left_out(sample: Sample) -> np.ndarray:
    """The evidence of each row and class, left out in closed form."""
    labels = encode_labels(sample.y, sample.weight)
    table: np.ndarray = leave_one_out_table(
        sample.model, sample.model.encode(sample.rows, labels), length_power=0.0
    ).table
    return table.sum(axis=0)


def only_block(model: Model) -> tuple[EventModel, BlockTally]:
    (group,), (block,) = model.view.schema.groups, model.counted.tally.blocks.values()
    return group.event, block


def coin_count(model: Model) -> float:
    """The pseudo-count of both outcomes, from the probabilities: p = (true + a) / (n + 2a)."""
    event, block = only_block(model)
    p, true = event.parameters(block, "mean")["p"], block[VALUE].high
    trials = np.broadcast_to(event._trials(block), true.shape)
    cell = np.unravel_index(np.abs(p - 0.5).argmax(), p.shape)
    assume(abs(p[cell] - 0.5) > 0.01)
    return float((true[cell] - p[cell] * trials[cell]) / (2 * p[cell] - 1))


def word_count(model: Model) -> float:
    """The pseudo-count of each word, from the ratio of two: p / q = (m + a) / (n + a)."""
    event, block = only_block(model)
    p, count = event.parameters(block, "mean")["p"], block[VALUE].high
    c = np.ptp(count, axis=0).argmax() if count.size else 0
    assume(count.size and np.ptp(count[:, c]) > 0)
    most, least = count[:, c].argmax(), count[:, c].argmin()
    assume(((p[:, c] > 0) & (p[:, c] < 1)).all())  # else a column was never recorded
    ratio = p[most, c] / p[least, c]
    return float((count[most, c] - ratio * count[least, c]) / (ratio - 1))


@pytest.mark.parametrize(
    ("case", "count"),
    [
        (Case(Bernoulli(alpha="auto"), TRUTH, numbers), coin_count),
        (Case(Multinomial(alpha="auto"), COUNT, numbers), word_count),
        (Case(Multinomial(alpha="auto"), TEXT, objects, text=True), word_count),
    ],
    ids=["truths", "counts", "words"],
)
@given(data=st.data())
def test_a_pseudo_count_that_was_chosen_stays(
    case: Case, count: Callable[[Model], float], data: Any
) -> None:
    sample = drawn(data, case)
    chosen = count(sample.model)
    assume(1e-3 <= chosen <= 1e3)
    assert isinstance(case.event, Bernoulli | Multinomial)
    settled = replace(sample, case=replace(case, event=replace(case.event, alpha=chosen)))
    assert_refitted(settled, left_out(sample))


@given(data=st.data())
def test_pretend_rows_that_were_chosen_stay(data: Any) -> None:
    sample = drawn(data, Case(Categorical(m="auto"), LEVEL, objects))
    for name in sample.columns:  # each column has its own
        one = replace(sample, columns={name: sample.columns[name]})
        settled = [replace(one, case=Case(Categorical(m=m), LEVEL, objects)) for m in CHOICES]
        joint = one.model.joint_log_likelihood(one.rows)
        same = [
            other
            for other in settled
            if np.allclose(other.model.joint_log_likelihood(one.rows), joint, rtol=1e-12)
        ]
        assert same
        if len(same) > 1:
            continue  # they say the same of these rows, and not of fewer
        assert_refitted(same[0], left_out(one))
        if sample.weight is None:  # a choice takes one row of the tally, whatever it weighs
            loss = np.array([loss_of(other) for other in settled])
            loss += SURE * np.log(np.array(CHOICES) / USUAL_M) ** 2
            assert loss[settled.index(same[0])] <= loss.min() + 1e-9


def loss_of(sample: Sample) -> float:
    """The log loss of the cells of one column, each by the model that never saw it."""
    model, total = sample.model, 0.0
    (column,) = sample.columns.values()
    there = np.array([cell is not None for cell in column])
    for i in np.flatnonzero(there):
        one = sample.take([i])
        left = without(model, one)
        joint = left.joint_log_likelihood(one.rows)[0] - left.class_log_prior
        count = Counter(sample.y[there].tolist())
        count[sample.y[i]] -= 1
        classes = left.classes.tolist()
        prior = np.log([count[label] + HALF for label in classes])
        posterior = joint + prior - np.logaddexp.reduce(joint + prior)
        total -= posterior[classes.index(sample.y[i])]
    return total


class Bins:
    """A column of numbers by bins that stay, in plain loops: counts, kernel, pretend rows."""

    def __init__(self, sample: Sample, name: str, edges: np.ndarray, m: float) -> None:
        x = sample.columns[name]
        self.there = np.flatnonzero(~np.isnan(x))
        self.bin = np.searchsorted(edges, x, side="right")
        self.n, self.m = len(edges) + 1, m
        classes = np.unique(sample.y)
        self.y, self.k = np.searchsorted(classes, sample.y), len(classes)
        self.weight = np.ones(len(x)) if sample.weight is None else sample.weight

    def probabilities(self, width: float, out: int | None = None) -> np.ndarray:
        """Return the probability of each bin and class, less a row."""
        count = np.zeros((self.n, self.k))
        for i in self.there:
            less = self.weight[i] if i == out else 0.0
            count[self.bin[i], self.y[i]] += self.weight[i] - less
        smooth = np.zeros_like(count)
        for b in range(self.n):
            bump = np.array([self._height(a - b, width) for a in range(self.n)])
            smooth += np.outer(bump / bump.sum(), count[b])
        pooled = smooth.sum(axis=1) + 0.1
        pooled /= pooled.sum()
        p: np.ndarray = (smooth + self.m * pooled[:, None]) / (count.sum(axis=0) + self.m)
        return p

    @staticmethod
    def _height(distance: int, width: float) -> float:
        return float(stats.norm.pdf(distance / width)) if width else float(distance == 0)

    def loss(self, width: float) -> float:
        """Return the log loss of the cells, each left out."""
        total = 0.0
        for i in self.there:
            count = np.bincount(self.y[self.there], minlength=self.k) + HALF
            count[self.y[i]] -= 1
            joint = count * self.probabilities(width, i)[self.bin[i]]
            total -= np.log(joint[self.y[i]] / joint.sum())
        return total


@pytest.mark.slow
@pytest.mark.parametrize("event", [Histogram(), Histogram(bins=4), Histogram(edges="width")])
@given(data=st.data())
def test_of_many_rows_bins_and_the_width_of_their_kernel_stay(event: Histogram, data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "EXACT", 0)
        check_bins_that_stay(event, drawn(data, Case(event, REAL, numbers)))


def check_bins_that_stay(event: Histogram, sample: Sample) -> None:
    model = sample.model
    likelihood: Any = next(iter(model.view.terms.values()))
    said = np.split(np.exp(likelihood.table), likelihood.first[1:-1])
    expected = np.zeros((len(sample), len(model.classes)))
    for name, edges, table in zip(sample.columns, likelihood.edges, said, strict=True):
        bins = Bins(sample, name, edges, event.m)
        if not len(bins.there):
            continue
        rows = max(bins.weight[bins.there].sum(), 1.0)
        widths = [1.06 / np.sqrt(12) * bins.n * rows**-0.2, 0.5, 0.0]
        same = [w for w in widths if np.allclose(bins.probabilities(w), table, rtol=1e-9)]
        assert same
        assume(len(same) == 1 or bins.n == 1)
        if sample.weight is None:
            rule, *others = map(bins.loss, widths)
            saved = max(rule - loss for loss in others)
            assert (saved > 4 - 1e-9) if same[0] in widths[1:] else (saved < 4 + 1e-9)
        for i in bins.there:
            expected[i] += np.log(bins.probabilities(same[0], i)[bins.bin[i]])
    np.testing.assert_allclose(left_out(sample), centred(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("event", [KernelDensity(), KernelDensity(bandwidth=2.0, alpha=0.5)])
@given(data=st.data())
def test_bandwidths_and_the_widest_density_stay(event: KernelDensity, data: Any) -> None:
    sample = drawn(data, Case(event, REAL, numbers))
    model = sample.model
    of, block = only_block(model)
    bandwidths = of.parameters(block, "mean")["bandwidth"]
    expected = np.zeros((len(sample), len(model.classes)))
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    y = np.searchsorted(model.classes, sample.y)
    for x, bandwidth in zip(sample.columns.values(), bandwidths, strict=True):
        there = np.flatnonzero(~np.isnan(x))
        if not len(there):
            continue
        assume(np.ptp(x[there]) > 0)
        wide = _widest(x[there], weight[there])
        for i in there:
            left = np.where(np.arange(len(x)) == i, 0.0, weight)
            total, rows = np.zeros(len(model.classes)), np.zeros(len(model.classes))
            for j in there:
                normal = stats.norm.pdf(x[i], x[j], bandwidth[y[j]])
                total[y[j]] += left[j] * normal
                rows[y[j]] += left[j]
            pooled = (total.sum() + wide(x[i])) / (rows.sum() + 1)
            expected[i] += np.log((total + event.alpha * pooled) / (rows + event.alpha))
    np.testing.assert_allclose(left_out(sample), centred(expected), rtol=1e-6, atol=1e-6)


def _widest(x: np.ndarray, weight: np.ndarray) -> Callable[[float], float]:
    """A Student distribution around the median, twice as wide as the numbers are spread."""
    order = np.argsort(x)
    reached = np.cumsum(weight[order]) >= 0.5 * weight.sum() * (1 - 1e-12)
    middle = x[order][reached.argmax()]
    spread = np.sqrt(np.cov(x, aweights=weight, ddof=0))
    return lambda at: float(stats.t.pdf(at, 2, middle, 2 * spread))


def weighted_without(product: Product, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield what weighted evidence of each row sums to, and what the model without it says.

    A class has a row more in the prior, so that one of a single row can be left without it.
    """
    table = product.table(seed, 36, weights=bool(seed % 2))
    table = table.take(slice(None) if table.weight is None else table.weight > 0)
    nb = product.fit(table)
    rows, labels = nb._labelled(*table.labelled)
    model = nb.model_
    labels = labels.times(model.view.rows_per_weight)
    found = leave_one_out_table(model, model.encode(rows, labels))
    weights = fit(found, "loo", float(nb.class_count_.sum())).of_rows_like(model.weights)
    model = replace(nb.model_, weights=weights)
    joint = found.joint(replace(weights, bias=(0.0,) * len(weights.bias)))
    seen = Counter(table.y.tolist())
    for i in range(len(table)):
        if seen[table.y[i]] == 1:
            continue  # its class goes with it
        weight = None if table.weight is None else table.weight[[i]]
        one = rows.take([i])
        left = model - Model.learn(one, encode_labels(table.y[[i]], weight), model.counted.schema)
        if left.view.schema.derived != model.view.schema.derived:
            continue  # it has the only cell of a column that is missing
        prior = np.log(left.view.rows + 1.0)
        yield joint[i], (left.joint_log_likelihood(one) - left.terms.start)[0] + prior


@pytest.mark.slow
@few
@given(seed=seeds())
def test_weighted_evidence_is_what_the_weighted_model_without_the_row_says(seed: int) -> None:
    product = Product("given", tuple(GIVEN), {"event_models": GIVEN})
    for found, expected in weighted_without(product, seed):
        np.testing.assert_allclose(centred(found), centred(expected), rtol=1e-9, atol=1e-9)
