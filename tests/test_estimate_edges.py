"""Estimates at their edges: modes on the border, maximum likelihood that is set, priors said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from naively import (
    Bernoulli,
    Categorical,
    Complement,
    Dirichlet,
    EventModel,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    Histogram,
    JointTable,
    Multinomial,
    NaiveBayes,
    NegativeBinomial,
    Normal,
    Poisson,
)
from naively.events.base import WHY_NOT
from tests.cases import CASES, by_event
from tests.learning import learn_table


def values(found: Any) -> np.ndarray:
    return np.array([*found.values()] if isinstance(found, dict) else found)


@pytest.mark.parametrize(
    ("event", "sample"),
    [
        (Bernoulli, [1, 1, 0, 1]),
        (Poisson, [3, 0, 2]),
        (Exponential, [0.5, 2.0, 1.0]),
        (Geometric, [4, 0, 2]),
        (lambda **o: NegativeBinomial(r=2.5, **o), [4, 0, 2]),
        (Categorical, list("aabc")),
        (Multinomial, [4, 2, 1]),
        (JointTable, [(0, 1), (0, 1), (1, 1)]),
        (lambda **o: Histogram(smoothing=0, **o), [1.0, 2.0, 2.0, 3.0]),
    ],
)
def test_the_estimate_that_is_set_adds_the_same_whichever_it_is(event: Any, sample: list) -> None:
    mean, mode = event(estimate="mean").fit(sample), event(estimate="map").fit(sample)
    np.testing.assert_allclose(values(mode.map), values(mean.mean), rtol=1e-12)
    np.testing.assert_allclose(values(mode.mle), values(mean.mle), rtol=1e-12)


def test_the_mode_of_rows_with_less_than_one_pretend_row_is_on_the_border() -> None:
    sample = [(0, 0)] * 3 + [(0, 1)] * 2 + [(1, 0)]
    found = JointTable(alpha=0.5).fit(sample).map
    left = {row: max(sample.count(row) - 0.5, 0) for row in dict.fromkeys(sample)}
    assert found == pytest.approx({row: x / sum(left.values()) for row, x in left.items()})


@pytest.mark.parametrize("m", [2.0, "auto"])
def test_levels_by_maximum_likelihood_have_no_pretend_rows(m: Any) -> None:
    nb = NaiveBayes(Categorical(m=m, estimate="mle"), weights=None)
    nb.fit([["u"], ["u"], ["v"], ["v"]], ["a", "a", "a", "b"])
    np.testing.assert_allclose(nb.predict_proba([["v"], ["u"]]), [[0.5, 0.5], [1.0, 0.0]])


def test_the_prior_of_counts_is_said_if_it_is_one() -> None:
    assert np.all(np.asarray(Multinomial(alpha=0.5).fit([4, 2, 1]).prior.alpha) == 0.5)
    assert Multinomial(alpha=0).fit([4, 2, 1]).prior is None
    bins = Histogram(smoothing=0, alpha=1.5).fit([1.0, 2.0, 2.0]).prior
    assert bins == Dirichlet([1.5, 1.5])
    assert Histogram(smoothing=0, alpha=0.0).fit([1.0, 2.0]).prior is None
    assert Poisson(alpha=0).fit([3, 0]).prior is None
    assert Geometric(alpha=0).fit([3, 0]).prior is None
    given = Dirichlet([1.0, 2.0, 3.0])
    assert Multinomial(prior=given).fit([4, 2, 1]).prior is given


@pytest.mark.parametrize("alpha", [2.0, [2.0, 3.0]])
def test_a_level_never_seen_has_the_pretend_rows_of_each_if_there_is_one_number(alpha: Any) -> None:
    nb = NaiveBayes(Categorical(prior=Dirichlet(alpha)), class_prior="uniform", weights=None)
    nb.fit([["u"], ["v"], ["u"]], ["a", "a", "b"])
    with np.errstate(divide="ignore"):
        found = np.exp(nb.predict_joint_log_proba([["never"]])[0]) * 2
    if alpha == 2.0:  # of a rows there are two, and pretend ones of the three levels
        np.testing.assert_allclose(found, [2 / (2 + 6), 2 / (1 + 6)])
    else:
        np.testing.assert_array_equal(found, [0.0, 0.0])


@pytest.mark.parametrize("options", [{"m": 2.0}, {"m": "auto"}, {"alpha": 0.5}, {"alpha": 2.0}])
def test_levels_are_scored_alike_by_the_mean_and_by_the_mode(options: dict[str, Any]) -> None:
    mean, mode = (
        NaiveBayes(Categorical(estimate=how, **options), weights=None).fit(
            [["u"], ["v"], ["u"], ["v"], ["u"]], list("aabbb")
        )
        for how in ("mean", "map")
    )
    rows = [["u"], ["v"], ["never"]]
    joint = mean.predict_joint_log_proba(rows)
    np.testing.assert_allclose(mode.predict_joint_log_proba(rows), joint, rtol=1e-12)


@pytest.mark.parametrize("event", [Geometric, NegativeBinomial, Poisson, Exponential, Bernoulli])
def test_a_column_that_was_never_recorded_says_nothing(event: Any) -> None:
    X = {"x": [np.nan] * 3, "z": [1.0, 2.0, 3.0]}
    nb = NaiveBayes({"x": event(alpha=0), "z": "gaussian"}, weights=None).fit(X, list("aab"))
    for x in (0.5, 3.0) if event is Exponential else (0.0, 3.0):
        np.testing.assert_allclose(nb.predict_proba({"x": [x], "z": [np.nan]}), [[2 / 3, 1 / 3]])
        if event in (
            Geometric,
            NegativeBinomial,
            Bernoulli,
        ):  # as likely as not to end each time, where nothing is known
            assert np.isfinite(nb.predict_joint_log_proba({"x": [x], "z": [np.nan]})).all()


@pytest.mark.parametrize("how", ["mean", "map", "mle", "predictive"])
def test_failures_before_one_success_are_geometric(how: Any) -> None:
    X, y = [[0.0], [3.0], [1.0], [7.0], [np.nan]], list("aabba")
    one, other = (
        NaiveBayes(event(estimate=how), weights=None).fit(X, y).score_samples([[2.0], [0.0]])
        for event in (Geometric, NegativeBinomial)
    )
    np.testing.assert_allclose(one, other, rtol=1e-14)


def test_the_prior_of_a_mean_is_pretend_rows_of_the_known_variance() -> None:
    assert Gaussian(variance=6.0, smoothing=3.0).fit([1.0, 2.0, 6.0]).prior == Normal(3.0, 2.0)
    assert Gaussian(variance=6.0, smoothing=0.0).fit([1.0, 2.0]).prior is None


def test_complement_estimates_the_shares_of_words() -> None:
    X = [[5.0, 3.0, 0.0], [1.0, 0.0, 2.0]]
    model = learn_table(X, ["a", "b"], Complement(alpha=2.0))
    (tally,) = model.view.counts.values()
    event = model.view.schema.groups[0].event
    outside = np.array([[1.0, 0.0, 2.0], [5.0, 3.0, 0.0]]).T  # of a the words of b
    np.testing.assert_allclose(event.parameters(tally, "mle")["p"], outside / outside.sum(axis=0))
    shares = (outside + 2) / (outside + 2).sum(axis=0)
    np.testing.assert_allclose(event.parameters(tally, "mean")["p"], shares)


def test_free_parameters_of_bins() -> None:
    x, y = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 4), np.repeat(["a", "b"], 10)
    bins = NaiveBayes(Histogram(smoothing=0), weights=None).fit(x[:, None], y)
    assert bins.n_parameters_ == 1 + 2 * (5 - 1)


def test_the_prior_of_a_rate_is_pretend_rows_at_the_mean_of_the_sample() -> None:
    # Two rows, at the mean 2: of counts four events in two rows, of times two events in 4.
    assert Poisson(alpha=2.0).fit([3.0, 1.0, 2.0]).prior == Gamma(4.0, 2.0)
    assert Exponential(alpha=2.0).fit([3.0, 1.0, 2.0]).prior == Gamma(2.0, 4.0)


LEARNED = dict.fromkeys(
    event
    for case in CASES
    for one in (case.event.values() if isinstance(case.event, Mapping) else [case.event])
    for text in (one if isinstance(one, list) else [one])
    for event in [getattr(text, "event", text)]
    if isinstance(event, EventModel)
)
LACKING = {"KernelDensity": {"posterior"}, "Complement": {"sample"}}


@pytest.mark.parametrize("event", LEARNED, ids=by_event)
def test_what_an_event_model_lacks_is_said_in_one_way(event: EventModel) -> None:
    name = type(event).__name__
    lacks = {what for what in WHY_NOT if getattr(type(event), what) is getattr(EventModel, what)}
    assert lacks == LACKING.get(name, set())
    nothing: Any = None
    for what in lacks:
        of = [nothing] * (3 if what == "sample" else 1)
        with pytest.raises(ValueError, match=f"^{name} has no {what}: it (has|does) no"):
            getattr(event, what)(*of)
