"""A class prior that is not for the classes is refused when it is given, and is left out right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from naively import Beta, Dirichlet, NaiveBayes
from naively.fitting.leave_one_out import leave_one_out_table
from tests.learning import encoded

X, Y = [[1.0], [2.0], [7.0], [8.0], [4.0]], ["a", "a", "b", "b", "b"]
WRONG = {
    "too few": [1.0], "too many": [0.2, 0.3, 0.5], "unknown label": {"a": 0.5, "c": 0.5},
    "label lacking": {"a": 1.0}, "Beta of three": Dirichlet([1, 2, 3]), "no sum": [0.5, 0.6],
    "no number": ["a", "b"], "no name": "guess", "a number": 0.5,
}  # fmt: skip


@pytest.mark.parametrize("weights", ["loo", None])
@pytest.mark.parametrize("prior", WRONG.values(), ids=WRONG)
def test_fit_refuses_a_class_prior_that_is_not_for_the_classes(prior: Any, weights: Any) -> None:
    nb = NaiveBayes(class_prior=prior, weights=weights)
    with pytest.raises(ValueError, match="class_prior"):
        nb.fit(X, Y)
    assert not hasattr(nb, "model_")


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.2, 0.3, 0.5], "one probability for each of the 2 classes {}, got shape \\(3,\\)"),
        ({"a": 0.5, "c": 0.5}, "class_prior names \\['a', 'c'\\], but the classes are {}"),
        (Dirichlet([1, 2, 3]), "class_prior=.* has 3 counts for 2 classes; .* The classes are {}"),
    ],
    ids=str,
)
def test_the_error_names_the_option_and_the_classes(prior: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message.format(r"\['a', 'b'\]")):
        NaiveBayes(class_prior=prior, weights=None).fit(X, Y)


def test_a_beta_is_for_two_classes() -> None:
    with pytest.raises(ValueError, match=r"two classes, but there are 3.*\['a', 'b', 'c'\]"):
        NaiveBayes(class_prior=Beta(1, 2), weights=None).fit(X, ["a", "a", "b", "b", "c"])


def test_a_row_of_weight_0_brings_no_class() -> None:
    nb = NaiveBayes(class_prior=[0.5, 0.5]).fit(X, ["a", "a", "b", "b", "c"], [1, 1, 1, 1, 0])
    assert nb.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "prior",
    [[0.2, 0.3, 0.5], {"a": 0.2, "b": 0.3, "c": 0.5}, Dirichlet([1, 2, 3])],
    ids=lambda prior: type(prior).__name__,
)
def test_in_batches_the_other_classes_may_still_come(prior: Any) -> None:
    nb = NaiveBayes(class_prior=prior, weights=None)
    nb.partial_fit(X, Y).partial_fit(X, Y)
    nb.partial_fit([[3.0]], ["c"])
    once = NaiveBayes(class_prior=prior, weights=None).fit([*X, *X, [3.0]], [*Y, *Y, "c"])
    np.testing.assert_allclose(nb.predict_proba(X), once.predict_proba(X))
    with pytest.raises(ValueError, match="class_prior"):
        nb.partial_fit([[9.0]], ["d"])  # of which it can know nothing
    assert nb.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("prior", [WRONG[w] for w in ("too few", "unknown label", "no sum")])
def test_in_batches_what_can_never_fit_is_refused_at_once(prior: Any) -> None:
    with pytest.raises(ValueError, match="class_prior"):
        NaiveBayes(class_prior=prior, weights=None).partial_fit(X, Y)


def test_classes_that_are_said_are_checked() -> None:
    with pytest.raises(ValueError, match=r"each of the 3 classes \['a', 'b', 'c'\]"):
        NaiveBayes(class_prior=[0.5, 0.5], weights=None).partial_fit(X, Y, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"each of the 2 classes \['a', 'b'\]"):
        NaiveBayes(class_prior=[0.2, 0.3, 0.5], weights=None).partial_fit(X, Y, classes=["a", "b"])


def test_an_array_is_a_class_prior() -> None:
    nb, of_list = (NaiveBayes(class_prior=p).fit(X, Y) for p in (np.array([0.2, 0.8]), [0.2, 0.8]))
    np.testing.assert_array_equal(nb.predict_proba(X), of_list.predict_proba(X))
    assert nb.assess().log_loss == of_list.assess().log_loss


@pytest.mark.parametrize(
    "prior",
    [[0.2, 0.3, 0.5], {"a": 0.2, "b": 0.3, "c": 0.5}, Dirichlet([1, 2, 3]), "uniform"],
    ids=str,
)
def test_a_class_of_one_row_is_not_scored(prior: Any) -> None:
    labels = ["a"] * 16 + ["b"] * 16 + ["c"]
    numbers = np.array([*range(16), *range(100, 116), 900.0])[:, None].repeat(2, axis=1)
    found = NaiveBayes(class_prior=prior).fit(numbers, labels).assess()
    assert (found.rows, found.too_rare) == (32, ("c",))
    assert found.by_class["c"][2] == 0


def test_of_two_classes_of_a_beta_one_may_have_one_row() -> None:
    numbers, labels = [[1.0], [1.1], [1.2], [1.3], [1.4], [9.0]], ["a"] * 5 + ["b"]
    found = NaiveBayes(class_prior=Beta(2, 3)).fit(numbers, labels).assess()
    assert (found.rows, found.too_rare, found.accuracy) == (5, ("b",), 1.0)


def test_a_class_that_is_ruled_out_has_a_finite_assessment() -> None:
    nb = NaiveBayes(class_prior=[0.0, 1.0]).fit(X * 4, Y * 4)
    found = nb.assess()
    assert found.accuracy == 0.6
    assert np.isfinite([found.log_loss, *found.cost.values()]).all()
    assert np.isfinite(nb.feature_importances_).all()


@pytest.mark.parametrize("prior", [Beta(2, 3), Dirichlet(0.5), Dirichlet([4, 1])], ids=str)
@pytest.mark.parametrize("weighed", [False, True])
def test_leaving_a_row_out_leaves_it_out_of_an_estimated_class_prior(
    prior: Any, weighed: bool
) -> None:
    weight = np.array([2.0, 1.0, 0.5, 3.0, 1.0]) if weighed else None
    model = NaiveBayes("gaussian", weights=None, class_prior=prior).fit(X, Y, weight).model_
    found = leave_one_out_table(model, encoded(model, X, Y, weight)).class_prior
    for i in range(5):
        left = [1.0] * 5 if weight is None else weight.tolist()
        left[i] = 0.0
        count = [sum(w for w, y in zip(left, Y, strict=True) if y == label) for label in "ab"]
        pretend = [prior.b, prior.a] if isinstance(prior, Beta) else np.ones(2) * prior.alpha
        p = np.add(count, pretend) / np.add(count, pretend).sum()
        np.testing.assert_allclose(found[i], np.log(p))
