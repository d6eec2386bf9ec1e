"""Rows without a label: EM recovers a mixture, climbs the likelihood, and does no harm."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax
from threadpoolctl import threadpool_limits

from naively import (
    Bernoulli,
    Categorical,
    EventModel,
    Gaussian,
    Model,
    Multinomial,
    NaiveBayes,
    Poisson,
)
from naively.counting.axis import VALUE
from naively.counting.block import Batch
from naively.counting.labels import Labels, encode_labels
from naively.data.columns import Rows
from naively.data.frames import as_rows
from naively.fitting.leave_one_out import LeaveOneOut
from naively.fitting.reservoir import ANY
from naively.fitting.semi_supervised import Unlabelled, cross_validate
from naively.fitting.weights import temperature
from tests.learning import learn, learn_table


def encoded(model: Model, rows: Rows, weight: np.ndarray | None = None) -> Batch:
    """Rows without a label, as a model counts its own."""
    labels = replace(Labels.none(len(rows), model.classes), weight=weight)
    return model.counted.schema.encode(rows, labels)


def unlabelled_beside(model: Model, rows: Rows, weight: np.ndarray) -> Unlabelled:
    return Unlabelled.of(model, encoded(model, rows, weight))


def mixture(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two round clouds, two standard deviations apart in each of three columns."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(rows) < 0.7, "b", "a")
    return rng.standard_normal((rows, 3)) + 2 * (y == "b")[:, None] - 1, y


def some(y: np.ndarray, per_class: int) -> np.ndarray:
    """The labels of the first rows of each class; the others are missing."""
    labels = np.full(len(y), None, object)
    for label in np.unique(y):
        first = np.flatnonzero(y == label)[:per_class]
        labels[first] = label
    return labels


def test_a_mixture_is_recovered() -> None:
    X, y = mixture(2000)
    there = np.concatenate([np.flatnonzero(y == label)[:10] for label in "ab"])
    few = learn_table(X[there], y[there], "gaussian")
    rest = np.setdiff1d(np.arange(len(y)), there)
    found = unlabelled_beside(few, as_rows(X[rest]), np.ones(len(rest))).fit(1.0)
    full = learn_table(X, y, "gaussian")
    means = [next(iter(m.terms.of.values())).evidence.mean for m in (few, found, full)]
    np.testing.assert_allclose(means[1], means[2], atol=0.1)
    assert np.abs(means[0] - means[2]).max() > 0.2
    np.testing.assert_allclose(
        found.counted.tally.class_count, full.counted.tally.class_count, rtol=0.05
    )


def test_learned_from_some_labels_it_is_no_worse() -> None:
    (X, y), (test, of_test) = mixture(600), mixture(1000, seed=1)
    labels = some(y, 10)
    there = np.flatnonzero(labels != None)  # noqa: E711
    few = NaiveBayes("gaussian").fit(X[there], y[there])
    nb = NaiveBayes("gaussian", semi_supervised=True).fit(X, labels)
    assert nb.score(test, of_test) >= few.score(test, of_test) - 0.005


def test_the_soft_counts_are_those_of_the_posteriors() -> None:
    X, y = mixture(60)
    labelled, rest = (X[:10], y[:10]), X[10:]
    model = learn_table(labelled[0], labelled[1], "gaussian")
    unlabelled = unlabelled_beside(model, as_rows(rest), np.full(50, 2.0))
    p = unlabelled.posterior(model)
    np.testing.assert_allclose(p, model.posterior(as_rows(rest)), atol=1e-12)
    twice = np.concatenate([labelled[0], rest, rest])
    weight = [np.concatenate([labelled[1] == c, p[:, i], p[:, i]]) for i, c in enumerate("ab")]
    tally = unlabelled.learn(p, share=1.0).counted.tally
    np.testing.assert_allclose(tally.class_count, [w.sum() for w in weight])
    mean = NaiveBayes("gaussian", weights=None)
    mean.fit(np.concatenate([twice] * 2), np.repeat(["a", "b"], 110), np.concatenate(weight))
    np.testing.assert_allclose(
        unlabelled.learn(p, share=1.0).posterior(as_rows(X)), mean.predict_proba(X), atol=1e-9
    )


def evidence_loss(found: LeaveOneOut) -> float:
    """The mean log loss, after the best temperature."""
    joint = found.table.sum(axis=0)
    joint = (
        found.prior
        + temperature(joint, found.prior, found.labels, float(found.labels.weights.sum())) * joint
    )
    return -log_softmax(joint, axis=1)[np.arange(len(joint)), found.labels.codes].mean()


CASES = [
    (Gaussian(smoothing=0), lambda rng, y: rng.normal(2.0 * y[:, None], 1 + y[:, None], (300, 3))),
    (Poisson(alpha=0), lambda rng, y: rng.poisson(2 + 3 * y[:, None], (300, 4)).astype(float)),
    (Multinomial(alpha=0), lambda rng, y: rng.poisson([3, 1, 2], (300, 3)) + 1.0 * y[:, None]),
    (Categorical(alpha=0), lambda rng, y: rng.integers(0, 3 + 2 * y[:, None], (300, 5)) + 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("event", "draw"), CASES, ids=lambda value: str(value)[:9])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_the_likelihood_never_decreases(event: EventModel, draw: object, share: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = draw(rng, y)
    rows, rest, labels = as_rows(X[:40]), as_rows(X[40:]), encode_labels(y[:40])
    unlabelled = unlabelled_beside(learn(rows, labels, event), rest, np.ones(260))

    def log_likelihood(model: Model) -> float:
        of_right = model.joint_log_likelihood(rows)[np.arange(40), labels.codes].sum()
        return (
            of_right + share * np.logaddexp.reduce(model.joint_log_likelihood(rest), axis=1).sum()
        )

    climbed = np.array([log_likelihood(model) for model in unlabelled.steps(share)])
    assert len(climbed) > 2
    assert np.isfinite(climbed).all()
    assert (np.diff(climbed) >= -1e-6).all()


@pytest.mark.slow
@pytest.mark.parametrize("per_class", [5, 25])
def test_it_helps_with_few_labels_of_texts(data_folder: Path, per_class: int) -> None:
    with gzip.open(data_folder / "text" / "sms_spam.jsonl.gz", "rt", encoding="utf-8") as file:
        found = [json.loads(line) for line in file][:2000]
    texts, y = [one["text"] for one in found], np.array([one["label"] for one in found])
    labels = some(y[:1000], per_class)
    there = np.flatnonzero(labels != None)  # noqa: E711
    few = NaiveBayes().fit([texts[i] for i in there], y[there])
    nb = NaiveBayes(semi_supervised=True).fit(texts[:1000], labels)
    assert nb.score(texts[1000:], y[1000:]) >= few.score(texts[1000:], y[1000:])
    if per_class == 25:
        assert nb.unlabelled_weight_ > 0
        with pytest.raises(ValueError, match="none can be left out"):
            nb.assess()
        weights = nb.weights_
        assert nb.partial_fit(texts[1000:1010], y[1000:1010]).weights_ is weights


def test_noise_is_not_learned_from() -> None:
    # The rows without a label form two clouds of their own, which say nothing of the classes.
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    signal = (
        rng.standard_normal((800, 1))
        + np.concatenate([np.repeat([0, 3], 40), np.full(720, 1.5)])[:, None]
    )
    cloud = rng.standard_normal((800, 4)) + 8 * rng.integers(0, 2, 800)[:, None]
    X = np.hstack([signal, cloud])
    labels = np.concatenate([y, [None] * 720])
    few = NaiveBayes("gaussian").fit(X[:80], y)
    nb = NaiveBayes("gaussian", semi_supervised=True).fit(X, labels)
    np.testing.assert_allclose(nb.predict_proba(X), few.predict_proba(X), atol=0.1)
    if nb.unlabelled_weight_ == 0:  # then it is the model of the labelled rows alone
        np.testing.assert_allclose(nb.predict_proba(X), few.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize(
    "y",
    [
        ["u", None, "v", "u", "v", None],
        [0.0, float("nan"), 1.0, 0.0, 1.0, float("nan")],
        pd.Series([0, pd.NA, 1, 0, 1, pd.NA], dtype="Int64"),
        pd.Series(["u", pd.NA, "v", "u", "v", pd.NA], dtype="string"),
        np.array(["2026-01", "NaT", "2026-02", "2026-01", "2026-02", "NaT"], "datetime64[M]"),
    ],
    ids=lambda y: type(y).__name__,
)
def test_what_a_missing_label_is(y: object) -> None:
    X = [[1.0], [1.5], [8.0], [2.0], [9.0], [8.5]]
    nb = NaiveBayes("gaussian", semi_supervised=True).fit(X, y)
    assert len(nb.classes_) == 2
    assert (nb.predict(X)[[0, 1]] == nb.classes_[0]).all()
    with pytest.raises(
        ValueError, match=r"Row 1 \(and 1 more\) has no label.*semi_supervised=True"
    ):
        NaiveBayes().fit(X, y)


def test_without_missing_labels_it_is_the_same() -> None:
    X, y = mixture(200)
    nb, plain = (NaiveBayes(semi_supervised=b).fit(X, y) for b in (True, False))
    np.testing.assert_array_equal(nb.predict_proba(X), plain.predict_proba(X))


def test_levels_words_and_columns_that_only_rows_without_a_label_have() -> None:
    table = pd.DataFrame(
        {
            "c": ["u", "v", "u", "v"] * 10 + ["w", "u"] * 20,
            "note": ["cheap pills buy now", "lunch at noon with ann"] * 20
            + ["cheap watches now today", "lunch with bob at one"] * 20,
        }
    )
    y = ["spam", "ham"] * 20 + [None] * 40
    nb = NaiveBayes(semi_supervised=True).fit(table, y)
    assert nb.predict_proba(table).shape == (80, 2)
    more = nb.partial_fit(table, [None] * 80).class_count_.sum()
    assert more == pytest.approx(40 + 40 * nb.unlabelled_weight_, abs=200)


def test_partial_fit_merge_and_forget() -> None:
    X, y = mixture(600)
    nb = NaiveBayes("gaussian", semi_supervised=True).fit(X[:300], some(y[:300], 10))
    count = nb.class_count_.sum()
    nb.partial_fit(X[300:], some(y[300:], 10))
    assert nb.class_count_.sum() == pytest.approx(count + 20 + 280 * nb.unlabelled_weight_)
    other = NaiveBayes("gaussian", semi_supervised=True).fit(X, some(y, 10))
    both = nb.class_count_ + other.class_count_
    np.testing.assert_allclose(nb.merge(other).class_count_, both)
    with pytest.raises(ValueError, match="has no label"):
        nb.forget(X[:2], [None, "a"])


@pytest.mark.slow
@pytest.mark.parametrize("into", ["labelled", "partly labelled"])
def test_merging_with_rows_without_a_label_leaves_none_out(into: str) -> None:
    X, y = mixture(600)
    one = NaiveBayes("gaussian").fit(X, y)
    other = NaiveBayes("gaussian", semi_supervised=True).fit(X, some(y, 5))
    assert other.unlabelled_weight_ > 0
    one, other = (one, other) if into == "labelled" else (other, one)
    expected = one.weights_ + other.weights_
    assert one.merge(other).weights_ == expected
    with pytest.raises(ValueError, match="none can be left out"):
        one.assess()


def test_labels_there_must_be() -> None:
    X, y = mixture(40)
    with pytest.raises(ValueError, match="No row has a label; label some rows of each class"):
        NaiveBayes(semi_supervised=True).fit(X, [None] * 40)
    nb = NaiveBayes(semi_supervised=True).fit(X, y).decay(0.5)  # its rows are gone
    with pytest.raises(ValueError, match="give some labelled rows too"):
        nb.partial_fit(X, [None] * 40)


def test_cross_validation_sees_harm_that_leave_one_out_does_not() -> None:
    X, y = mixture(300)
    rows, labels = as_rows(X[:20]), encode_labels(y[:20])
    model = learn(rows, labels, "gaussian")
    reservoir = ANY
    reservoir = reservoir.added(model.counted.schema.encode(rows, labels)).for_model(model)
    sample = reservoir.of(model)
    # Rows without a label of a third kind, far from both classes.
    noise = as_rows(np.random.default_rng(0).normal(0, 30, (280, 3)))
    loss = [evidence_loss(e) for e in cross_validate(model, sample, encoded(model, noise), 1.0)]
    assert loss[1] > loss[0]
    same = as_rows(X[20:])
    loss = [evidence_loss(e) for e in cross_validate(model, sample, encoded(model, same), 1.0)]
    assert loss[1] < loss[0] + 0.05


def clouds(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds, as the model supposes: here rows without a label help."""
    y = rng.integers(0, 2, rows)
    return rng.normal(size=(rows, 4)) + 1.2 * y[:, None], y


def crossed(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that are far apart and say nothing of the classes, which EM takes for them."""
    y = rng.integers(0, 2, rows)
    other = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, 4)) + 6 * other[:, None]
    X[:, 0] = rng.normal(size=rows) + 1.5 * y
    return X, y


def repeated(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """One column eight times over: EM counts its evidence eightfold, and is ever surer."""
    y = rng.integers(0, 2, rows)
    one = rng.normal(size=rows) + y
    return one[:, None] + rng.normal(0, 0.05, (rows, 8)), y


def rings(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A class within the other, in columns that depend on each other: not what is supposed."""
    y = rng.integers(0, 2, rows)
    angle, radius = rng.random(rows) * 2 * np.pi, 1.0 + y + rng.normal(0, 0.3, rows)
    x = radius * np.cos(angle)
    return np.stack([x, radius * np.sin(angle), x + rng.normal(0, 0.1, rows)], axis=1), y


def held_out(nb: NaiveBayes, X: np.ndarray, y: np.ndarray) -> float:
    p = nb.predict_proba(X)[np.arange(len(y)), y]
    return float(-np.log(np.maximum(p, 1e-15)).mean())


def plain_em(X: np.ndarray, y: np.ndarray, new: np.ndarray, of_new: np.ndarray) -> float:
    """The log loss of EM that counts every row in full, whether or not it helps."""
    few = learn_table(X[: len(y)], y, "gaussian")
    rest = X[len(y) :]
    em = unlabelled_beside(few, as_rows(rest), np.ones(len(rest))).fit(1.0)
    p = em.posterior(as_rows(new))[np.arange(len(new)), of_new]
    return float(-np.log(np.maximum(p, 1e-15)).mean())


SEEDS = 8


@pytest.mark.slow
@pytest.mark.parametrize("alike", [True, False], ids=["", "others are of no class"])
@pytest.mark.parametrize("draw", [clouds, crossed, repeated, rings], ids=lambda draw: draw.__name__)
def test_rows_without_a_label_never_hurt_more_than_chance_allows(draw: object, alike: bool) -> None:
    with threadpool_limits(1):
        few, more, em = np.transpose([losses(draw, alike, seed) for seed in range(SEEDS)])
    harm = more - few
    # The mean harm is at most two standard errors off nothing.
    assert harm.mean() <= 2 * harm.std(ddof=1) / np.sqrt(SEEDS) + 1e-9
    if alike:  # of ten labelled rows it is hard to say
        assert harm.mean() < 0.05
    if alike and draw is not clouds:  # EM alone does harm: there is something to withstand
        assert (em - few).mean() > 0.1


def losses(draw: object, alike: bool, seed: int) -> tuple[float, float, float]:
    """The log loss on new rows, learned from labelled rows, all rows, and all rows by plain EM."""
    rng = np.random.default_rng(seed)
    n = 30 if alike else 10  # of few rows leave-one-out alone would often believe the others
    X, y = draw(rng, n + 200)
    if not alike:
        X[n:] = rng.normal(0, 3, X[n:].shape)
    new, of_new = draw(rng, 2000)
    labelled = np.concatenate([y[:n].astype(object), np.full(200, None)])
    few = NaiveBayes("gaussian").fit(X[:n], y[:n])
    more = NaiveBayes("gaussian", semi_supervised=True).fit(X, labelled)
    return (
        held_out(few, new, of_new),
        held_out(more, new, of_new),
        plain_em(X, y[:n], new, of_new),
    )


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_row_without_a_label_counts_as_its_share(share: float) -> None:
    truths = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    model = learn_table(truths, ["a", "b", "b", "a"], Bernoulli())
    p, weight = np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([2.0, 1.0])
    rows = np.array([[1.0, np.nan], [1.0, 1.0]])
    learned = unlabelled_beside(model, as_rows(rows), weight).learn(p, share)
    soft = p * weight[:, None] * share
    np.testing.assert_allclose(
        learned.counted.tally.class_count, np.array([2, 2]) + soft.sum(axis=0)
    )
    (block,) = learned.counted.tally.blocks.values()
    true = np.nan_to_num(rows).T @ soft
    np.testing.assert_allclose(block[VALUE].high, np.array([[1, 1], [0, 2]]) + true)
