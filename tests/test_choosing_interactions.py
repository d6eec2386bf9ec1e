"""Which pairs of columns are chosen: by what they would save, among columns that say most."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes
from naively.counting.labels import encode_labels
from naively.counting.parts import Part
from naively.data.rows import column_rows
from naively.evaluation.cross_validate import cross_validate
from naively.evaluation.interactions import (
    COLUMNS,
    _bins,
    _columns,
    _edges,
    add_interactions,
    screen,
)
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.evaluation.reservoir import Reservoir, Sample
from naively.model.model import Model
from naively.schema.derived import Interaction, NumberBins
from naively.schema.held import Held
from tests.learning import learn

OF_INTERACTIONS = 10.0  # the ridge, as docs/decisions say


def table(n: int, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Numbers, of which two tell the class together; levels; of three classes."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    many = rng.choice([f"level {i:02}" for i in range(14)], n, p=np.arange(14, 0, -1) / 105)
    y = np.where((a > 0) == (b > 0), "p", np.where(many < "level 03", "q", "r"))
    y = np.where(rng.random(n) < 0.2, rng.choice(list("pqr"), n), y)
    a[:10] = np.nan
    return {"a": a, "b": b, "few": rng.integers(0, 3, n) + 0.5, "many": many.astype(object)}, y


def learned(n: int, weight: np.ndarray | None = None) -> tuple[Model, Sample, Any, Any]:
    X, y = table(n)
    rows, labels = column_rows(X), encode_labels(y, weight)
    reservoir, model = Reservoir(), learn(rows, labels)
    reservoir.add(model.counted.encode(rows, labels), model)
    sample = reservoir.of(model)
    return replace(model, weights=sample.weights(model, "loo")), sample, rows, labels


def bins_of(model: Model, sample: Sample) -> dict[str, Any]:
    """Return the bins of each column."""
    held = [Held(model.recode(batch)) for batch in sample.batches]
    return {name: _bins(held, name) for name in ("a", "b", "few", "many")}


@pytest.mark.parametrize("weighted", [False, True])
def test_a_gain_is_what_a_weight_of_its_own_saves_to_second_order(weighted: bool) -> None:
    weight = np.tile([1.0, 2.0, 3.0], 200) if weighted else None
    model, sample, rows, labels = learned(600, weight)
    assert model.weights is not None
    found = screen(model, sample)
    assert str(found.columns[0]) in {"a × b", "b × a"}
    assert found.gains == sorted(found.gains, reverse=True)
    assert min(found.gains) > 2
    kept = dict(zip(map(str, found.columns), found.gains, strict=True))
    every = [Interaction(a, b) for a, b in combinations(bins_of(model, sample).values(), 2)]
    weighed = model.with_interactions(every, [model.encode(rows, labels)])
    own = sample.leave_one_out(weighed)
    pairs = {
        part: own.table[i] for i, part in enumerate(own.parts) if own.kinds[i] == "interaction"
    }
    assert len(pairs) == 6
    columns = sample.leave_one_out(model)
    by_class = model.classes.tolist()
    weights = model.weights.table(columns.parts, by_class)
    joint = columns.joint(weights) + model.weights.bias_of(by_class)
    rows_weigh = columns.labels.weights
    at = np.arange(600), columns.labels.codes

    def loss(evidence: np.ndarray, t: float) -> float:
        moved = joint + t * evidence
        return float(rows_weigh @ (np.logaddexp.reduce(moved, axis=1) - moved[at]))

    for pair, evidence in zip(map(str, every), pairs.values(), strict=True):
        low, here, high = (loss(evidence, t) for t in (-1e-3, 0.0, 1e-3))
        slope, curve = (high - low) / 2e-3, (high - 2 * here + low) / 1e-6
        gain = slope**2 / (2 * (curve + OF_INTERACTIONS)) if slope < 0 else 0.0
        assert (gain > 2) == (pair in kept)
        if pair in kept:
            assert kept[pair] == pytest.approx(gain, rel=1e-3)


def test_bins_are_the_commonest_levels_or_hold_equally_many_numbers() -> None:
    model, sample, rows, _ = learned(600)
    cuts = bins_of(model, sample)
    common = [level for level, _ in Counter(rows.values("many").tolist()).most_common(11)]
    assert list(cuts["many"].levels) == common
    assert cuts["few"] == NumberBins("few", (1.5, 2.5))
    b = rows.values("b")
    inside = np.histogram(b, [-np.inf, *cuts["b"].edges, np.inf])[0]
    assert len(inside) == round(0.6 * 600 ** (1 / 3)) == 5
    assert np.ptp(inside) <= 1
    assert set(cuts["b"].edges) <= set(b.tolist())


@pytest.mark.parametrize(("n", "bins"), [(30, 4), (1000, 6), (20_000, 12)])
def test_there_are_more_bins_of_more_numbers(n: int, bins: int) -> None:
    numbers = np.random.default_rng(n).permutation(n) / n
    edges = _edges(numbers)
    assert len(edges) == bins - 1
    assert np.ptp(np.histogram(numbers, [-1, *edges, 2])[0]) <= 1
    assert _edges(np.append(numbers, np.nan)) == edges


def test_a_column_without_numbers_or_with_one_has_no_edge() -> None:
    assert _edges(np.full(5, np.nan)) == ()
    assert _edges(np.ones(5)) == ()
    assert _edges(np.array([3.0, 1.0, 1.0, 2.0])) == (2.0, 3.0)


def test_of_many_columns_those_that_say_most_are_paired() -> None:
    rng = np.random.default_rng(0)
    d = COLUMNS + 20
    table = rng.normal(size=(d, 7, 2)) * rng.permutation(d)[:, None, None]
    weight = rng.random((d, 2))
    parts = [Part("g", i) for i in range(d)]
    labels = encode_labels(np.array(["a", "b"] * 4)[:7])
    found = LeaveOneOut(parts, [True] * d, ["column"] * d, table, np.zeros((7, 2)), labels)
    said = (np.abs(table) * weight[:, None]).sum(axis=(1, 2))
    most = sorted(np.argsort(-said)[:COLUMNS].tolist())
    assert _columns(found, weight) == most
    few = LeaveOneOut(
        [Part("g", "x"), Part("t", "words", 0), Part("one")],
        [True] * 3,
        ["column", "band", "column"],
        table[:3],
        np.zeros((7, 2)),
        labels,
    )
    assert _columns(few, weight[:3]) == ["x"]


def test_as_many_pairs_as_are_asked_for_are_counted_on_all_rows() -> None:
    model, sample, rows, labels = learned(600)
    best = screen(model, sample).columns
    assert len(best) > 1
    one = add_interactions(model, sample, [model.encode(rows, labels)], most=1)
    assert list(one.schema.interactions.values()) == best[:1]
    assert add_interactions(model, sample, most=0) is model
    (group,) = (group for group in one.schema.groups if group.is_interaction)
    assert sum(s.high.sum() for s in one.tally.blocks[group.key].sums.values()) == 600
    # All weights are fitted again, with the pair.
    assert one.weights is not None
    assert one.weights.of.keys() - model.weights.of.keys() == {Part(group.key, best[0])}
    again = sample.weights(replace(one, weights=None), "loo")
    assert one.weights.of == again.of


def test_few_rows_or_one_class_have_no_pairs() -> None:
    model, sample, *_ = learned(299)
    assert add_interactions(model, sample) is model
    X, _ = table(400)
    alone = NaiveBayes(interactions="auto").fit(X, ["p"] * 400)
    assert not alone.schema_.interactions


def test_the_assessment_chooses_as_many_pairs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int | None] = []

    def counted(*of: Any, most: int | None) -> Model:
        asked.append(most)
        return add_interactions(*of, most=most)

    model, sample, *_ = learned(600)
    monkeypatch.setattr("naively.evaluation.cross_validate.add_interactions", counted)
    cross_validate(add_interactions(model, sample, most=1), sample, "loo", sample.deal(3))
    assert asked == [1, 1, 1]


def test_the_assessment_is_better_with_pairs() -> None:
    X, y = table(600)
    nb = NaiveBayes(interactions="auto").fit(X, y)
    assert len(nb.schema_.interactions) >= 1
    plain = NaiveBayes().fit(X, y)
    assert nb.assess().log_loss < plain.assess().log_loss
