"""``nb.inspect``, ``nb.curve`` and ``nb.export``: what they offer, and to whom."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import naively
from naively import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from naively.estimators.scikit import ROUTED
from tests.structure import own_methods

DOORS = {
    "inspect": {
        "column", "regions", "nomogram", "difference", "images", "strongest", "rules", "parameters",
        "parameter_counts", "linear", "dependence", "marginal", "conditional", "log_likelihood",
        "log_marginal_likelihood", "log_joint", "graph", "sample", "drift",
    },
    "curve": {"decay", "learning", "smoothing"},
    "export": {
        "sql", "tokens", "onnx", "onnx_inputs", "scorecard", "report", "card", "with_noise",
    },
}  # fmt: skip
FACE = {
    "fit", "fit_sql", "partial_fit", "predict", "predict_proba", "predict_log_proba",
    "predict_interval", "predict_joint_log_proba", "predict_set", "score_samples",
    "estimate_class_prior",
    "explain", "assess", "evaluate", "calibrate", "merge", "forget", "decay", "save", "of",
    "textbook",
    # scikit-learn's
    "get_params", "set_params", "score", "get_metadata_routing",
    *(f"set_{verb}_request" for verb in ROUTED),
}  # fmt: skip
KINDS = (NaiveBayes, BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB)
X, y = [[1, 0], [0, 1], [1, 1], [0, 0]], ["a", "b", "a", "b"]


def test_the_face_is_these_methods_and_three_classes() -> None:
    assert set(own_methods(NaiveBayes)) == FACE
    house = [kind.__name__ for kind in NaiveBayes.__mro__ if "naively" in kind.__module__]
    assert len(house) <= 3


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("door", DOORS)
def test_an_accessor_completes_and_prints_what_it_offers(door: str, kind: type) -> None:
    accessor = getattr(kind(), door)  # before anything is learned
    assert {name for name in dir(accessor) if not name.startswith("_")} == DOORS[door]
    first, *lines = repr(accessor).splitlines()
    assert first == f"{kind.__name__}.{door}"
    assert {line.partition("()")[0] for line in lines} == DOORS[door]
    for line in lines:
        name, _, said = line.partition("()")
        assert said.strip() == inspect.getdoc(getattr(accessor, name)).splitlines()[0]
        assert said.strip().endswith(".")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_before_anything_is_learned_an_accessor_says_so(kind: type) -> None:
    nb = kind()
    for ask in (nb.inspect.parameters, nb.curve.smoothing, nb.export.scorecard):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_estimator_answers_by_its_accessors(kind: type) -> None:
    nb = kind().fit(X, y)
    assert nb.inspect.parameters().to_dict()["class"]
    if kind is not ComplementNB:  # which does not say how rows are generated
        assert nb.inspect.sample(3, random_state=0)[1].shape == (3,)
    assert nb.inspect.difference(kind().fit(X, y)).equal
    assert nb.curve.learning(np.tile(X, (5, 1)), y * 5, sizes=[4], repeats=1).size == [4, 4]
    assert nb.export.scorecard().to_dict()["classes"] == ["a", "b"]
    assert "<html" in str(nb.export.report().html)


def test_a_drop_in_leaves_with_noise_as_a_naive_bayes() -> None:
    truths = np.array(X * 50)
    nb = BernoulliNB().fit(truths, y * 50)
    noisy = nb.export.with_noise(epsilon=5.0, delta=1e-6, random_state=0)
    assert isinstance(noisy, NaiveBayes)
    assert noisy.noise_
    assert (noisy.predict(truths) == nb.predict(truths)).all()


def test_an_accessor_asks_the_model_of_the_moment() -> None:
    nb = NaiveBayes("gaussian", weights=None).fit([[1.0], [3.0]], ["a", "b"])
    ask = nb.inspect
    nb.partial_fit([[2.0]], ["a"])
    assert ask.parameters(column="class prior").to_dict()["count"] == [2.0, 1.0]


def test_nothing_of_an_accessor_stays_on_the_estimator() -> None:
    old = {"to_sql", "to_onnx", "write_tokens", "learning_curve", "smoothing_curve", "compare_with"}
    for name in old | DOORS["inspect"] | DOORS["export"] | {"keep", "merge_each", "sampled"}:
        assert not hasattr(naively.NaiveBayes, name), name
