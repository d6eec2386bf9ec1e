"""The likelihood of labelled rows: counts times logarithms of fractions, SciPy, the sum rule."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Complement,
    Dirichlet,
    Gaussian,
    GaussianNB,
    Multinomial,
    NaiveBayes,
)
from naively.inspect.likelihood import class_log_likelihoods
from tests.cases import CASES, Case
from tests.laws import samples

RNG = np.random.default_rng(0)
COLOURS = RNG.choice(["red", "green", "blue"], (40, 2))
TRUTHS = RNG.random((40, 3)) < 0.4
COUNTS = RNG.poisson(1.5, (40, 3))
LABELS = RNG.choice(["a", "b"], 40, p=[0.3, 0.7])


def of_counts(counts: Counter[Any]) -> float:
    """Σ n log (n / total): the largest log likelihood of as many draws."""
    total = sum(counts.values())
    return sum(n * math.log(Fraction(n, total)) for n in counts.values() if n)


@pytest.mark.parametrize(("event", "X"), [(Categorical, COLOURS), (Bernoulli, TRUTHS)])
def test_of_levels_and_truths_it_is_the_sum_of_n_log_p(event: Any, X: np.ndarray) -> None:
    nb = NaiveBayes(event(alpha=0, estimate="mle"), weights=None).fit(X, LABELS)
    expected = of_counts(Counter(LABELS.tolist()))
    for c in "ab":
        expected += sum(of_counts(Counter(column.tolist())) for column in X[c == LABELS].T)
    assert nb.inspect.log_likelihood(X, LABELS) == pytest.approx(expected, rel=1e-12)


def test_multinomial_has_its_coefficients() -> None:
    nb = NaiveBayes(Multinomial(alpha=0, estimate="mle"), weights=None).fit(COUNTS, LABELS)
    expected = of_counts(Counter(LABELS.tolist()))
    for c in "ab":
        of_class = COUNTS[c == LABELS]
        p = of_class.sum(axis=0) / of_class.sum()
        expected += stats.multinomial.logpmf(of_class, of_class.sum(axis=1), p).sum()
    assert nb.inspect.log_likelihood(COUNTS, LABELS) == pytest.approx(expected, rel=1e-12)


def test_gaussian_is_scipys() -> None:
    x = RNG.normal(size=(40, 2)) + (LABELS == "a")[:, None]
    expected = of_counts(Counter(LABELS.tolist()))
    for c in "ab":
        rows = x[c == LABELS]
        expected += stats.norm(rows.mean(axis=0), rows.std(axis=0)).logpdf(rows).sum()
    for nb in (NaiveBayes(Gaussian(estimate="mle"), weights=None), GaussianNB(var_smoothing=0)):
        assert nb.fit(x, LABELS).inspect.log_likelihood(x, LABELS) == pytest.approx(
            expected, rel=1e-9
        )


def test_the_maximum_is_at_the_maximum_likelihood_estimate() -> None:
    best = NaiveBayes(Categorical(alpha=0, estimate="mle"), weights=None).fit(COLOURS, LABELS)
    other = NaiveBayes(Categorical(alpha=1)).fit(COLOURS, LABELS)
    assert best.inspect.log_likelihood(COLOURS, LABELS) > other.inspect.log_likelihood(
        COLOURS, LABELS
    )


def test_a_weight_is_the_row_so_often_and_none_is_nothing() -> None:
    mle = Categorical(alpha=0, estimate="mle")
    nb = NaiveBayes(mle, weights=None).fit(COLOURS[:20], LABELS[:20])
    often = RNG.integers(0, 4, 40)
    again = np.repeat(np.arange(40), often)
    whole = nb.inspect.log_likelihood(COLOURS[again], LABELS[again])
    assert nb.inspect.log_likelihood(COLOURS, LABELS, often) == pytest.approx(whole, rel=1e-12)
    rows = [["red", "red"], ["never seen", "red"]]
    assert nb.inspect.log_likelihood(rows, ["a", "a"]) == -math.inf
    assert math.isfinite(nb.inspect.log_likelihood(rows, ["b", "a"], [1, 0]))


def test_weights_have_no_part_in_it_and_labels_may_be_a_column() -> None:
    table = {"size": RNG.normal(size=40), "colour": COLOURS[:, 0], "kind": LABELS}
    pure = NaiveBayes(weights=None).fit(table, "kind")
    weighed = NaiveBayes().fit(table, "kind")
    assert weighed.weights_ is not None
    known = pure.inspect.log_likelihood(table, "kind")
    assert weighed.inspect.log_likelihood(table, "kind") == known
    features = {name: table[name] for name in ("size", "colour")}
    assert pure.inspect.log_likelihood(features, LABELS) == known


@pytest.mark.parametrize("case", [c for c in CASES if "complement" not in repr(c)], ids=repr)
@given(data=st.data())
def test_the_sum_rule(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    model = sample.model
    joint = model.class_log_prior + class_log_likelihoods(model, sample.rows)
    expected = model.log_evidence(sample.rows)
    size = 1 + np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    found = np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.text and "complement" not in repr(c)], ids=repr
)
@given(data=st.data())
def test_the_joint_of_a_text_sums_to_its_evidence(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    joint = sample.model.pure().joint_log_likelihood(sample.rows)
    expected = sample.model.log_evidence(sample.rows)
    np.testing.assert_allclose(np.logaddexp.reduce(joint, axis=1), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("how", ["mean", "predictive"])
def test_a_text_is_a_sequence_of_words_and_a_row_of_counts_has_its_coefficient(how: str) -> None:
    texts, counts = ["buy buy now", "lunch now"], np.array([[2, 0, 1], [0, 1, 1]])
    of_texts = NaiveBayes(Multinomial(estimate=how), text="words", weights=None)
    of_texts.fit(texts, ["spam", "ham"])
    of_counts_ = NaiveBayes(Multinomial(estimate=how), weights=None).fit(counts, ["spam", "ham"])
    joint = of_texts.predict_joint_log_proba(texts)
    np.testing.assert_allclose(joint, of_counts_.predict_joint_log_proba(counts))
    np.testing.assert_allclose(of_texts.score_samples(texts), np.logaddexp.reduce(joint, axis=1))
    coefficient = np.log([3, 2])  # orders of two words and another one, and of two words
    np.testing.assert_allclose(
        of_counts_.score_samples(counts), of_texts.score_samples(texts) + coefficient
    )
    of_labels = joint[[0, 1], [1, 0]].sum()
    assert of_texts.inspect.log_likelihood(texts, ["spam", "ham"]) == pytest.approx(of_labels)
    difference = of_counts_.inspect.log_marginal_likelihood(
        counts, ["spam", "ham"]
    ) - of_texts.inspect.log_marginal_likelihood(texts, ["spam", "ham"])
    assert difference == pytest.approx(coefficient.sum())


def test_score_samples_of_a_class_and_of_a_class_for_each_row() -> None:
    nb = NaiveBayes("gaussian", weights=None).fit(COUNTS, LABELS)
    by_class = [nb.score_samples(COUNTS, label) for label in nb.classes_]
    np.testing.assert_allclose(
        np.logaddexp.reduce(nb.class_log_prior_[:, None] + by_class, axis=0),
        nb.score_samples(COUNTS),
    )
    own = np.where(LABELS == "a", *by_class)
    np.testing.assert_array_equal(nb.score_samples(COUNTS, LABELS), own)
    np.testing.assert_array_equal(nb.score_samples(COUNTS, list(LABELS)), own)
    total = own.sum() + nb.class_log_prior_[(LABELS == "b").astype(int)].sum()
    assert nb.inspect.log_likelihood(COUNTS, LABELS) == pytest.approx(total, rel=1e-12)
    numbered = NaiveBayes("gaussian").fit(COUNTS, (LABELS == "b").astype(int))
    np.testing.assert_array_equal(numbered.score_samples(COUNTS, np.int64(1)), by_class[1])


def test_a_label_that_is_not_known_is_named() -> None:
    nb = NaiveBayes("gaussian").fit(COUNTS, LABELS)
    why = r"Row 1 has the label 'c', which was not learned; the classes are \['a', 'b'\]."
    with pytest.raises(ValueError, match=why):
        nb.inspect.log_likelihood(COUNTS[:2], ["a", "c"])
    with pytest.raises(ValueError, match=why):
        nb.score_samples(COUNTS[:2], ["a", "c"])
    with pytest.raises(ValueError, match="label 'c', which was not learned"):
        nb.score_samples(COUNTS, "c")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        nb.score_samples(COUNTS, ["a"])


def test_a_lazy_table_takes_one_label() -> None:
    import polars as pl

    table = pl.DataFrame({"x": RNG.normal(size=40)})
    nb = NaiveBayes("gaussian").fit(table, LABELS)
    lazy = nb.score_samples(table.lazy(), "b").collect().to_series().to_numpy()
    np.testing.assert_array_equal(lazy, nb.score_samples(table, "b"))


@pytest.mark.parametrize(
    "ask",
    [lambda nb, X, y: nb.inspect.log_likelihood(X, y), lambda nb, X, y: nb.score_samples(X, y)],
)
def test_complement_has_no_density(ask):
    X, y = [[3, 0], [2, 1], [0, 4]], ["a", "a", "b"]
    nb = NaiveBayes(event_models=Complement()).fit(X, y)
    with pytest.raises(ValueError, match="Complement has no density: it does"):
        ask(nb, X, y)


def test_the_log_joint_is_the_likelihood_and_the_priors_by_hand() -> None:
    X = np.array([[1, 0], [1, 1], [0, 1], [0, 0], [1, 1]])
    y = [0, 0, 0, 1, 1]
    values = {}
    for how in ("map", "mean"):
        event = Bernoulli(prior=Beta(2, 2), estimate=how)
        nb = NaiveBayes(event, class_prior=Beta(3, 2), estimate=how, weights=None).fit(X, y)
        phi = np.exp(nb.class_log_prior_[1])
        by_hand = stats.beta(3, 2).logpdf(phi) + nb.inspect.log_likelihood(X, y)
        for name in ("x0", "x1"):
            for p in nb.inspect.parameters(column=name).to_dict()["value"]:
                by_hand += stats.beta(2, 2).logpdf(p)
        values[how] = nb.inspect.log_joint(X, y)
        assert values[how] == pytest.approx(by_hand, rel=1e-12)
    assert values["map"] > values["mean"]
    levels = NaiveBayes(Categorical(prior=Dirichlet(2)), weights=None).fit({"c": list("uvvww")}, y)
    p = np.reshape(levels.inspect.parameters(column="c").to_dict()["value"], (3, 2)).T
    density = sum(stats.dirichlet([2, 2, 2]).logpdf(row) for row in p)
    expected = density + levels.inspect.log_likelihood({"c": list("uvvww")}, y)
    assert levels.inspect.log_joint({"c": list("uvvww")}, y) == pytest.approx(expected)
    with pytest.raises(ValueError, match="has no evidence"):
        NaiveBayes("histogram", weights=None).fit(X + 0.5, y).inspect.log_joint(X + 0.5, y)
