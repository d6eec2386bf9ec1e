"""Examples worked by hand, with exact fractions."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gaussian,
    JointTable,
    Multinomial,
    NaiveBayes,
    Text,
    datasets,
)
from naively.inspect.worked import Worked, worked
from tests.cases import CASES, Case
from tests.laws import samples

# The classic course table: (y; x1, x2, x3, xM).
ROWS = [
    (0, 1, 0, 1, 1), (1, 0, 1, 0, 1), (1, 0, 1, 1, 1), (0, 0, 0, 1, 1), (0, 1, 0, 1, 0),
    (1, 1, 0, 1, 0),
]  # fmt: skip
X = np.array([row[1:] for row in ROWS])
Y = np.array([row[0] for row in ROWS])


def posterior_by_hand(
    row: tuple[int, ...], of_classes: tuple[int, int], alpha: int
) -> list[Fraction]:
    """P(y | x) from the definition, with pretend rows of the classes and of what is true."""
    joint = []
    for c in (0, 1):
        members = [r[1:] for r in ROWS if r[0] == c]
        p = Fraction(len(members) + of_classes[c], len(ROWS) + sum(of_classes))
        for j, x in enumerate(row):
            true = Fraction(sum(r[j] for r in members) + alpha, len(members) + 2 * alpha)
            p *= true if x else 1 - true
        joint.append(p)
    return [p / sum(joint) for p in joint]


def bernoulli_posterior(row: tuple[int, ...], alpha: int) -> list[float]:
    return [*map(float, posterior_by_hand(row, (0, 0), alpha))]


@pytest.mark.parametrize("alpha", [1, 2, 5])
def test_bernoulli(alpha: int) -> None:
    nb = NaiveBayes(Bernoulli(alpha=alpha), weights=None).fit(X, Y)
    for row in np.ndindex(2, 2, 2, 2):
        np.testing.assert_allclose(
            nb.predict_proba([row])[0], bernoulli_posterior(row, alpha), rtol=1e-13
        )


def test_bernoulli_unsmoothed_knows_the_impossible() -> None:
    nb = NaiveBayes(Bernoulli(alpha=0), weights=None).fit(X, Y)
    assert bernoulli_posterior((1, 0, 1, 1), 0) == [0.9, 0.1]
    np.testing.assert_allclose(nb.predict_proba([[1, 0, 1, 1]])[0], [0.9, 0.1])
    # x2 = 1 never happens in class 0, x3 = 0 neither.
    np.testing.assert_array_equal(nb.predict_proba([[1, 1, 1, 1]]), [[0.0, 1.0]])
    np.testing.assert_array_equal(nb.predict_proba([[1, 1, 0, 1]]), [[0.0, 1.0]])


def test_a_level_never_seen_takes_the_mass_reserved_for_it() -> None:
    nb = NaiveBayes(Categorical(alpha=1), weights=None).fit({"x": ["r", "r", "b"]}, ["c", "c", "d"])
    by_hand = [Fraction(2, 3) * Fraction(1, 5), Fraction(1, 3) * Fraction(1, 4)]
    joint = np.exp(nb.predict_joint_log_proba({"x": ["green"]})[0])
    np.testing.assert_allclose(joint, [*map(float, by_hand)])
    assert work(nb, {"x": ["green"]}).joint_fractions == by_hand


def test_multinomial_china() -> None:
    """Manning, Raghavan & Schütze (2008), example 13.1."""
    texts = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao"]
    texts += ["Tokyo Japan Chinese"]
    nb = NaiveBayes(weights=None, smoothing=1.0).fit(texts, ["china", "china", "china", "other"])
    china = Fraction(3, 4) * Fraction(3, 7) ** 3 * Fraction(1, 14) * Fraction(1, 14)
    other = Fraction(1, 4) * Fraction(2, 9) ** 3 * Fraction(2, 9) * Fraction(2, 9)
    joint = nb.predict_joint_log_proba(["Chinese Chinese Chinese Tokyo Japan"])[0]
    np.testing.assert_allclose(np.exp(joint), [float(china), float(other)], rtol=1e-13)
    evidence = nb.score_samples(["Chinese Chinese Chinese Tokyo Japan"])
    np.testing.assert_allclose(np.exp(evidence), float(china + other), rtol=1e-12)


def test_a_unicorn_is_impossible_or_merely_unlikely() -> None:
    texts, y = ["dog cat dog", "cat unicorn cat"], ["real", "tale"]
    sure = NaiveBayes({"text": Multinomial(alpha=0)}, weights=None).fit(texts, y)
    np.testing.assert_array_equal(sure.predict_proba(["unicorn"]), [[0.0, 1.0]])
    unsure = NaiveBayes({"text": Multinomial(alpha=1)}, weights=None).fit(texts, y)
    np.testing.assert_allclose(unsure.predict_proba(["unicorn"]), [[1 / 3, 2 / 3]])


def test_gaussian_by_hand() -> None:
    nb = NaiveBayes(Gaussian(smoothing=0), weights=None).fit(
        [[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]
    )
    joint = nb.predict_joint_log_proba([[4.0]])[0]
    # means 2 and 12, variances 1 and 4
    by_hand = [
        np.log(0.5) - 0.5 * np.log(2 * np.pi * v) - (4 - m) ** 2 / (2 * v)
        for m, v in ((2, 1), (12, 4))
    ]
    np.testing.assert_allclose(joint, by_hand, rtol=1e-14)


def test_ten_million_words_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 2000, (2, 10_000)).astype(float)
    nb = NaiveBayes("multinomial", weights=None).fit(counts, ["a", "b"])
    p = nb.predict_proba(counts[:1] + counts[1:])
    assert counts.sum() > 1.9e7
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(), 1.0, rtol=1e-15)


def test_weights_of_evidence_sum_to_the_log_odds() -> None:
    nb = NaiveBayes(Bernoulli(alpha=1), weights=None).fit({f"x{j}": X[:, j] for j in range(4)}, Y)
    row = {f"x{j}": [x] for j, x in enumerate((1, 0, 1, 1))}
    p = bernoulli_posterior((1, 0, 1, 1), 1)
    evidence = nb.explain(row)[0]
    np.testing.assert_allclose(evidence.weights(0).sum(), np.log(p[0] / p[1]))
    np.testing.assert_allclose(evidence.weights(1).sum(), np.log(p[1] / p[0]))
    np.testing.assert_allclose(evidence.probability(0), p[0])
    weight = dict(zip(evidence.column, evidence.weights(0), strict=True))
    np.testing.assert_allclose(weight["x1"], np.log((Fraction(4, 5) / Fraction(2, 5)).__float__()))
    assert weight["class prior"] == 0


def course_posterior(row: tuple[int, ...], how: str) -> list[Fraction]:
    """P(y | x) of the course table, y under Beta(3, 2) and each theta under Beta(2, 2)."""
    pretend = {"mle": ((0, 0), 0), "map": ((1, 2), 1), "mean": ((2, 3), 2)}
    return posterior_by_hand(row, *pretend[how])


@pytest.mark.parametrize("how", ["mle", "map", "mean"])
def test_a_class_prior_with_a_prior_of_its_own(how: str) -> None:
    event = Bernoulli(prior=Beta(2, 2), estimate=how)
    for prior in (Beta(3, 2), Dirichlet([2, 3])):
        nb = NaiveBayes(event, class_prior=prior, estimate=how, weights=None).fit(X, Y)
        for row in np.ndindex(2, 2, 2, 2):
            if how == "mle" and row not in {(1, 0, 1, 1), (0, 1, 0, 1), (0, 0, 1, 1)}:
                continue  # impossible in both classes
            expected = [float(p) for p in course_posterior(row, how)]
            np.testing.assert_allclose(nb.predict_proba([row])[0], expected, rtol=1e-13)
    p = np.exp(nb.class_log_prior_[1])
    fraction = {"mle": Fraction(3, 6), "map": Fraction(5, 9), "mean": Fraction(6, 11)}[how]
    assert p == pytest.approx(float(fraction), rel=1e-15)


def test_the_course_table_by_map_written_out() -> None:
    first = Fraction(4, 9) * Fraction(2, 5) * Fraction(1, 5) * Fraction(4, 5) * Fraction(3, 5)
    second = Fraction(5, 9) * Fraction(3, 5) ** 4
    event = Bernoulli(prior=Beta(2, 2), estimate="map")
    nb = NaiveBayes(event, class_prior=Beta(3, 2), estimate="map", weights=None).fit(X, Y)
    joint = np.exp(nb.predict_joint_log_proba([[0, 1, 1, 1]])[0])
    np.testing.assert_allclose(joint, [float(first), float(second)], rtol=1e-14)


# --- Predictions that show their work ------------------------------------------------------------

TENNIS, PLAY = datasets.play_tennis()


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_the_product_of_the_factors_is_the_joint_likelihood(
    case: Case, data: st.DataObject
) -> None:
    sample = data.draw(samples(case))
    model, rows = sample.model, sample.rows.take(slice(0, 1))
    found = worked(model, rows)
    joint = model.joint_log_likelihood(rows)[0]
    total = np.sum([factor.log for factor in found.factors], axis=0)
    np.testing.assert_allclose(total, joint, atol=1e-9)
    if found.joint_fractions is not None:
        exact = list(map(float, found.joint_fractions))
        np.testing.assert_allclose(np.exp(joint), exact, rtol=1e-9, atol=1e-300)
    assert str(found)
    assert found.to_latex()


def work(nb: NaiveBayes, X: Any) -> Worked:
    return nb.explain(X)[0].worked()


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(3, 10), Fraction(1), Fraction(1, 2)])
def test_a_product_of_levels_is_the_fraction_by_hand(alpha: Fraction) -> None:
    nb = NaiveBayes.textbook("categorical", smoothing=float(alpha)).fit(TENNIS, PLAY)
    row = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "wind": ["strong"]}
    found, by_hand = work(nb, row), []
    for label in ("no", "yes"):
        own = [i for i, of in enumerate(PLAY) if of == label]
        product = Fraction(len(own), len(PLAY))
        for name, (value,) in row.items():
            count, levels = sum(TENNIS[name][i] == value for i in own), len(set(TENNIS[name]))
            product *= (count + alpha) / (len(own) + alpha * levels)
        by_hand.append(product)
    assert found.joint_fractions == by_hand
    assert found.posterior_fractions == [p / sum(by_hand) for p in by_hand]
    joint = np.exp(nb.predict_joint_log_proba(row)[0])
    np.testing.assert_allclose(joint, list(map(float, by_hand)), rtol=1e-14)
    np.testing.assert_allclose(found.posterior, nb.predict_proba(row)[0], rtol=1e-14)


def test_words_are_as_often_a_factor_as_they_come() -> None:
    texts, y = ["cheap cheap pills", "lunch now", "pills now"], ["spam", "ham", "spam"]
    found = work(NaiveBayes.textbook("text", smoothing=1).fit(texts, y), ["cheap cheap lunch foo"])
    assert found.joint_fractions == [
        Fraction(1, 3) * Fraction(1, 6) ** 2 * Fraction(2, 6),
        Fraction(2, 3) * Fraction(3, 9) ** 2 * Fraction(1, 9),
    ]
    assert "ham:  1/3 · ((0+1)/(2+4))^2 · (1+1)/(2+4) = 1/324" in str(found)


def test_words_that_a_text_does_not_hold_are_factors() -> None:
    texts, y = ["cheap cheap pills", "lunch now", "pills now"], ["spam", "ham", "spam"]
    nb = NaiveBayes(Text(event=Bernoulli()), weights=None).fit(texts, y)
    found = work(nb, ["cheap cheap lunch foo"])
    words = [factor.value for factor in found.factors[1:]]
    assert words == ["cheap", "lunch", "(no pills)", "(no now)"]
    assert found.joint_fractions == [
        Fraction(1, 3) * Fraction(1, 3) * Fraction(2, 3) ** 2 * Fraction(1, 3),
        Fraction(2, 3) * Fraction(2, 4) * Fraction(1, 4) ** 2 * Fraction(2, 4),
    ]


@pytest.mark.parametrize("row", [(1, 0, 1, 1), (0, 1, 1, 1)])
def test_a_mode_and_what_is_false_are_fractions(row: tuple[int, ...]) -> None:
    event = Bernoulli(prior=Beta(2, 2), estimate="map")
    nb = NaiveBayes(event, class_prior=Beta(3, 2), estimate="map", weights=None).fit(X, Y)
    found = work(nb, [row])
    assert found.posterior_fractions == course_posterior(row, "map")
    table = NaiveBayes(JointTable(alpha=0), weights=None).fit(X, Y)
    assert work(table, [(0, 1, 0, 1)]).joint_fractions == [0, Fraction(1, 6)]


def test_a_density_has_its_numbers_put_in() -> None:
    nb = NaiveBayes.textbook("gaussian").fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    found = work(nb, [[3.0]])
    assert "0: 2/4 · 1/√(2π·0.25) · exp(-(3 - 1.5)²/(2·0.25)) = 0.00443185" in str(found)
    assert r"\frac{1}{\sqrt{2\pi \cdot 0.25}}" in found.to_latex()
    assert found.joint_fractions is None
    poisson = work(NaiveBayes.textbook("poisson").fit([[2], [4]], [0, 1]), [[3]])
    assert "0: 1/2 · 2^3 · exp(-1·2)" in str(poisson)
    assert "a factor of 0.166667" in str(poisson)  # 1/3!


@pytest.mark.parametrize("weights", ["loo", "temperature"])
def test_weights_are_powers_of_what_is_over_its_geometric_mean(weights: Any) -> None:
    nb = NaiveBayes("categorical", weights=weights).fit(TENNIS, PLAY)
    row = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "wind": ["strong"]}
    found = work(nb, row)
    assert found.joint_fractions is None
    product = np.sum([factor.log for factor in found.factors], axis=0)
    np.testing.assert_allclose(product, nb.predict_joint_log_proba(row)[0], rtol=1e-12)
    powered = [factor for factor in found.factors if factor.centred and factor.ratios]
    assert powered
    for factor in powered:
        log_p = np.log([float(ratio.fraction) for ratio in factor.ratios or ()])
        np.testing.assert_allclose(factor.log, factor.power * (log_p - log_p.mean()), rtol=1e-9)


def test_the_textbook_is_maximum_likelihood_and_its_joint_the_evidence_times_the_posterior() -> (
    None
):
    X = {"n": [1.0, 2.0, 8.0, 9.0], "s": ["a", "b", "a", None], "t": [True, True, False, False]}
    nb = NaiveBayes.textbook({"n": "gaussian"}, smoothing=1).fit(X, [0, 0, 1, 1])
    joint, evidence = nb.predict_joint_log_proba(X), nb.score_samples(X)
    log_p = nb.predict_log_proba(X)
    np.testing.assert_allclose(joint, evidence[:, None] + log_p, rtol=1e-14, atol=1e-14)
    assert nb.inspect.parameters(column="n").to_dict()["value"] == [1.5, 8.5, 0.25, 0.25]
    assert nb.inspect.parameters(column="s").to_dict()["value"] == [1 / 2, 2 / 3, 1 / 2, 1 / 3]
    assert nb.explain(X)[3].column == ["class prior", "n", "t"]  # nothing of the missing cell
    with pytest.raises(ValueError, match="gaussian has no counts that smoothing=1"):
        NaiveBayes.textbook("gaussian", smoothing=1)


def test_products_too_small_for_a_float_are_written() -> None:
    texts = ["a " * 400 + "b " * 400, "b " * 700 + "a"]
    nb = NaiveBayes.textbook("text", smoothing=1).fit(texts, ["u", "v"])
    found = work(nb, ["a b " * 1500])
    assert found.joint_fractions is not None
    written = str(found)
    assert re.search(r"^u: 1/2 · \(\(400\+1\).* = [\d.]+e-\d{3}$", written, re.MULTILINE)
    power = int(re.search(r"^v: .*e(-\d+)$", written, re.MULTILINE)[1])  # type: ignore[index]  # it is there
    assert power == math.floor(nb.predict_joint_log_proba(["a b " * 1500])[0, 1] / math.log(10))
    assert r" \cdot 10^{-" in found.to_latex()
    assert found.posterior.tolist() == [1.0, 0.0]


def test_what_is_beside_the_columns_is_named() -> None:
    X = {"c": ["a", "b", None, "a", None, "b"] * 20, "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 20}
    nb = NaiveBayes().fit(X, ["u", "v", "u", "u", "u", "v"] * 20)
    row = {"c": [None], "x": [2.5]}
    found = work(nb, row)
    assert "(c is missing)" in str(found)
    product = np.sum([factor.log for factor in found.factors], axis=0)
    np.testing.assert_allclose(product, nb.predict_joint_log_proba(row)[0], rtol=1e-12)
    assert "(c is present)" in str(work(nb, {"c": ["a"], "x": [2.5]}))
