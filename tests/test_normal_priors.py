"""Normal numbers with a known mean or a shared variance: Bayes' rule by numeric integration."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from naively import Gaussian, InverseGamma, LogNormal, NaiveBayes, NormalInverseGamma

SAMPLE = np.array([1.0, -3.0, 2.0, 0.5])
CLASSES = [np.array([1.0, 3.0, 4.0]), np.array([-2.0, 0.5]), np.array([7.0])]
MEAN, ROWS, SHAPE, SCALE = 1.0, 0.5, 3.0, 4.0


def of_variance(v: float, sample: np.ndarray) -> float:
    """The joint density of a variance and a sample around the mean 1.5."""
    return float(stats.invgamma.pdf(v, 2.5, scale=3) * stats.norm.pdf(sample, 1.5, v**0.5).prod())


def test_the_variance_around_a_known_mean() -> None:
    model = Gaussian(mean=1.5, prior=InverseGamma(2.5, 3), estimate="predictive")
    found = model.fit(SAMPLE)
    evidence = integrate.quad(of_variance, 0, np.inf, args=(SAMPLE,), epsabs=0)[0]
    for v in (0.7, 3.0):
        assert found.posterior.pdf(v) == pytest.approx(of_variance(v, SAMPLE) / evidence, rel=1e-7)
    mean = integrate.quad(lambda v: v * of_variance(v, SAMPLE), 0, np.inf, epsabs=0)[0] / evidence
    assert found.mean == pytest.approx({"mean": 1.5, "variance": mean}, rel=1e-7)
    best = optimize.minimize_scalar(lambda v: -of_variance(v, SAMPLE) / evidence, bounds=(0.1, 30))
    assert found.map["variance"] == pytest.approx(best.x, rel=1e-4)
    for x in (-1.0, 4.0):
        more = integrate.quad(of_variance, 0, np.inf, args=(np.append(SAMPLE, x),), epsabs=0)[0]
        assert found.predictive.pdf(x) == pytest.approx(more / evidence, rel=1e-7)
        assert np.exp(found.log_likelihood([x])) == pytest.approx(more / evidence, rel=1e-7)
    assert found.log_evidence == pytest.approx(np.log(evidence))
    assert found.updated == InverseGamma(2.5 + 2, 3 + ((SAMPLE - 1.5) ** 2).sum() / 2)
    assert found.mle["variance"] == float(Fraction(1 + 81 + 1 + 4, 16))


def test_a_known_mean_far_away_loses_nothing() -> None:
    sample = [1e8 + 1, 1e8 - 1, 1e8 + 1]
    assert Gaussian(mean=1e8).fit(sample).mle == {"mean": 1e8, "variance": 1.0}
    assert LogNormal(mean=0.0).fit([np.e, 1 / np.e**2]).mle["variance"] == pytest.approx(2.5)


def test_pretend_rows_around_a_known_mean_have_the_variance_of_the_column() -> None:
    found = Gaussian(mean=1.0, smoothing=2.0).fit([0.0, 4.0])
    assert found.prior == InverseGamma(2.0, 5.0)
    assert found.prior.mean == found.mle["variance"] == 5.0
    assert found.mean["variance"] == 5.0


def shared(estimate: str, classes: list = CLASSES) -> tuple[Any, Any]:
    prior = NormalInverseGamma(MEAN, ROWS, SHAPE, SCALE)
    event = Gaussian(prior=prior, variance="shared", estimate=estimate)  # type: ignore[arg-type]
    x = np.concatenate(classes)[:, None]
    y = np.repeat(np.arange(len(classes)), list(map(len, classes)))
    nb = NaiveBayes(event, weights=None).fit(x, y)
    return nb, next(iter(nb.tally_.blocks.values()))


def evidence(classes: list, power: float = 0.0) -> float:
    """Integrate variance ** power · p(variance) · p(classes | variance), the means integrated out.

    Given the variance, the numbers of a class are jointly normal.
    """

    def density(v: float) -> float:
        log = stats.invgamma.logpdf(v, SHAPE, scale=SCALE) + power * np.log(v)
        for of in classes:
            spread = v * (np.eye(len(of)) + 1 / ROWS)
            log += stats.multivariate_normal.logpdf(of, np.full(len(of), MEAN), spread)
        return float(np.exp(log))

    return integrate.quad(density, 1e-9, np.inf, epsabs=0, limit=200)[0]


def test_a_shared_variance_is_learned_from_the_squares_of_all_classes() -> None:
    nb, tally = shared("mean")
    event = next(iter(nb.tally_.blocks)).event
    whole = evidence(CLASSES)
    found = event.parameters(tally, "mean")
    np.testing.assert_allclose(found["variance"], evidence(CLASSES, 1.0) / whole, rtol=1e-6)
    expected = [(of.sum() + ROWS * MEAN) / (len(of) + ROWS) for of in CLASSES]
    np.testing.assert_allclose(found["mean"][0], expected, rtol=1e-12)
    within = sum(((of - of.mean()) ** 2).sum() for of in CLASSES)
    np.testing.assert_allclose(event.parameters(tally, "mle")["variance"], within / 6, rtol=1e-12)
    posterior = event.posterior(tally)
    assert posterior["variance"].mean() == pytest.approx(found["variance"][0, 0])
    assert posterior["variance"].moment(2) == pytest.approx(evidence(CLASSES, 2.0) / whole)


def test_the_mode_of_a_shared_variance_and_all_means() -> None:
    nb, tally = shared("map")
    event = next(iter(nb.tally_.blocks)).event

    def loss(at: np.ndarray) -> float:
        v, means = np.exp(at[0]), at[1:]
        log = stats.invgamma.logpdf(v, SHAPE, scale=SCALE)
        log += stats.norm.logpdf(means, MEAN, np.sqrt(v / ROWS)).sum()
        return -float(
            log
            + sum(
                stats.norm.logpdf(of, mean, np.sqrt(v)).sum()
                for of, mean in zip(CLASSES, means, strict=True)
            )
        )

    best = optimize.minimize(loss, np.zeros(4)).x
    found = event.parameters(tally, "map")
    np.testing.assert_allclose(found["variance"][0], np.exp(best[0]), rtol=1e-4)
    np.testing.assert_allclose(found["mean"][0], best[1:], rtol=1e-4)


def test_the_predictive_of_a_shared_variance_is_a_ratio_of_evidences() -> None:
    nb, _ = shared("predictive")
    for x in (-1.0, 5.0):
        joint = []
        for c in range(3):
            more = [np.append(of, x) if c == d else of for d, of in enumerate(CLASSES)]
            joint.append(evidence(more) / evidence(CLASSES) * len(CLASSES[c]) / 6)
        np.testing.assert_allclose(np.exp(nb.predict_joint_log_proba([[x]])[0]), joint, rtol=1e-6)


def test_a_known_parameter_has_no_curve() -> None:
    found = Gaussian(mean=1.5, prior=InverseGamma(2.5, 3)).fit(SAMPLE)
    assert found.curve().parameter == "variance"
