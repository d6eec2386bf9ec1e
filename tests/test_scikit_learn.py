"""Inside scikit-learn: pipelines, searches, metadata routing, frames between steps, diagrams."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from naively import Categorical, Gaussian, NaiveBayes, Poisson

IRIS, SPECIES = load_iris(as_frame=True, return_X_y=True)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    n = 120
    y = rng.choice(["bad", "good"], n)
    good = y == "good"
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + good),
            "visits": rng.poisson(2 + 2 * good),
            "colour": np.where(rng.random(n) < 0.7, np.where(good, "red", "blue"), "green"),
            "member": rng.random(n) < np.where(good, 0.8, 0.3),
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "h"),
        }
    )
    table["colour"] = table["colour"].astype("category").where(rng.random(n) < 0.9)
    return table, y


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_folds_of_a_table_are_scored_one_by_one(mixed, form):
    table, y = mixed
    X = table if form == "pandas" else pl.from_pandas(table)
    scores = cross_val_score(NaiveBayes(), X, y, cv=4, scoring="neg_log_loss")
    by_hand = []
    for fold in range(4):
        # the folds of StratifiedKFold, by hand: in each class, in order, as even as can be
        test = np.zeros(len(y), bool)
        for label in ("bad", "good"):
            rows = np.flatnonzero(y == label)
            test[rows[_folds(y, label) == fold]] = True
        nb = NaiveBayes().fit(table[~test], y[~test])
        p = nb.predict_proba(table[test])
        by_hand.append(
            np.log(p[np.arange(test.sum()), np.searchsorted(nb.classes_, y[test])]).mean()
        )
    np.testing.assert_allclose(scores, by_hand, rtol=1e-9)
    assert cross_val_predict(NaiveBayes(), X, y, method="predict_proba").shape == (len(y), 2)


def _folds(y, label):
    from sklearn.model_selection import StratifiedKFold

    folds = np.empty(len(y), int)
    for i, (_, test) in enumerate(StratifiedKFold(4).split(y, y)):
        folds[test] = i
    return folds[y == label]


def test_a_pipeline_is_its_steps():
    scaler = StandardScaler().fit(IRIS)
    expected = NaiveBayes().fit(scaler.transform(IRIS), SPECIES)
    pipe = make_pipeline(StandardScaler(), NaiveBayes()).fit(IRIS, SPECIES)
    np.testing.assert_allclose(
        pipe.predict_proba(IRIS), expected.predict_proba(scaler.transform(IRIS))
    )
    assert pipe.score(IRIS, SPECIES) > 0.9


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frames_between_steps_keep_names_and_types(mixed, container):
    table, y = mixed
    numbers = make_column_selector(dtype_include="number")
    columns = make_column_transformer(
        (SimpleImputer(), numbers), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform=container)
    X = table if container == "pandas" else pl.from_pandas(table)
    if container == "polars":
        columns.set_params(transformers=[("imputer", SimpleImputer(), ["size", "visits"])])
    pipe = Pipeline([("columns", columns), ("nb", NaiveBayes())]).fit(X, y)
    assert set(pipe["nb"].feature_names_in_) == set(table.columns)
    kinds = {name: group.kind for name, group in pipe["nb"].schema_.columns.items()}
    assert kinds["colour"] == "string"
    assert kinds["member"] == "boolean"
    assert kinds["when"] == "time"
    assert pipe.score(X, y) > 0.7


@pytest.mark.slow
def test_a_search_over_event_models_and_priors(mixed):
    table, y = mixed
    grid = {
        "event_models": [
            "auto",
            {"visits": Poisson()},
            {("size", "visits"): "gaussian", "string": Categorical(alpha=2.0)},
        ],
        "class_prior": ["data", "uniform", {"bad": 0.3, "good": 0.7}],
        "weights": ["loo", None],
    }
    search = GridSearchCV(NaiveBayes(), grid, scoring="neg_log_loss", cv=3, error_score="raise")
    search.fit(table, y)
    assert len(search.cv_results_["params"]) == 18
    best = cross_val_score(
        NaiveBayes(**search.best_params_), table, y, scoring="neg_log_loss", cv=3
    )
    assert search.best_score_ == pytest.approx(best.mean())
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    pipe = Pipeline([("nb", NaiveBayes())])
    random = RandomizedSearchCV(
        pipe, {"nb__" + name: of for name, of in grid.items()}, n_iter=3, cv=2, random_state=0
    )
    assert random.fit(table, y).score(table, y) > 0.7


def test_a_clone_is_unfitted_and_the_same():
    events = {"petal width (cm)": Gaussian(smoothing=0.1)}
    nb = NaiveBayes(events, class_prior="uniform", weights=None).fit(IRIS, SPECIES)
    again = clone(nb)
    assert again.get_params() == nb.get_params()
    assert "model_" not in vars(again)
    np.testing.assert_array_equal(
        again.fit(IRIS, SPECIES).predict_proba(IRIS), nb.predict_proba(IRIS)
    )
    assert clone(nb.set_params(estimate="mle")).estimate == "mle"
    with pytest.raises(ValueError, match="Invalid parameter 'smoothness'"):
        nb.set_params(smoothness=1)


def test_sample_weights_are_routed(mixed):
    table, y = mixed
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    expected = NaiveBayes(weights=None).fit(table[kept], y[kept]).predict_proba(table)
    with sklearn.config_context(enable_metadata_routing=True):
        nb = NaiveBayes(weights=None).set_fit_request(sample_weight=True)
        pipe = Pipeline([("nb", nb)]).fit(table, y, sample_weight=weight)
        np.testing.assert_allclose(pipe.predict_proba(table), expected, rtol=1e-9)
        nb.set_score_request(sample_weight=True)
        routed = cross_validate(nb, table, y, cv=3, params={"sample_weight": weight})
        assert (routed["test_score"] > 0.6).all()
        with pytest.raises(ValueError, match="sample_weight"):
            cross_val_score(NaiveBayes(), table, y, params={"sample_weight": weight})


class OfTheirBase(ClassifierMixin, BaseEstimator):
    """The methods of NaiveBayes on scikit-learn's base classes, which say what it asks of them."""

    fit, partial_fit, score = NaiveBayes.fit, NaiveBayes.partial_fit, NaiveBayes.score
    predict, predict_proba = NaiveBayes.predict, NaiveBayes.predict_proba
    predict_log_proba = NaiveBayes.predict_log_proba


def test_requests_and_tags_are_those_of_scikit_learns_base_classes():
    ours, theirs = NaiveBayes(), OfTheirBase()
    assert str(ours.get_metadata_routing()) == str(theirs.get_metadata_routing())
    tags = theirs.__sklearn_tags__()
    for name in ("sparse", "allow_nan", "string", "categorical"):
        setattr(tags.input_tags, name, True)
    assert ours.__sklearn_tags__() == tags
    with sklearn.config_context(enable_metadata_routing=True):
        for nb in (ours, theirs):
            nb.set_fit_request(sample_weight="w", groups=False)
            nb.set_score_request(sample_weight=True)
            nb.set_fit_request(time=True)
        assert str(ours.get_metadata_routing()) == str(theirs.get_metadata_routing())
        assert str(clone(ours).get_metadata_routing()) == str(ours.get_metadata_routing())
        assert str(ours.get_metadata_routing()) != str(NaiveBayes().get_metadata_routing())
        with pytest.raises(TypeError, match="no 'weight' of fit to request"):
            ours.set_fit_request(weight=True)
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        ours.set_fit_request(sample_weight=True)


def test_the_score_is_scikit_learns_accuracy(mixed):
    table, y = mixed
    weight = np.arange(len(y)) % 3
    nb = NaiveBayes(weights=None).fit(table[:80], y[:80])
    assert nb.score(table, y) == accuracy_score(y, nb.predict(table))
    weighed = accuracy_score(y, nb.predict(table), sample_weight=weight)
    assert nb.score(table, y, weight) == pytest.approx(weighed, rel=1e-14)
    assert nb.score(table.assign(y=y), "y") == nb.score(table, y)
    assert nb.score(table[:2], ["good", "never learned"]) <= 0.5
    with pytest.raises(ValueError, match="all sample weights are zero"):
        nb.score(table, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match="120 rows to score, and 119 labels"):
        nb.score(table, y[1:])


def test_partial_fit_is_routed_and_curves_learn_in_batches(mixed):
    table, y = mixed
    sizes, train, test = learning_curve(
        NaiveBayes(), table, y, exploit_incremental_learning=True, train_sizes=[20, 40, 80]
    )[:3]
    assert sizes.tolist() == [20, 40, 80]
    assert train.shape == test.shape == (3, 5)
    assert np.isfinite(test).all()


def test_other_meta_estimators(mixed):
    table, y = mixed
    for meta in (
        CalibratedClassifierCV(NaiveBayes(), cv=3),
        BaggingClassifier(NaiveBayes(), 3, random_state=0),
        VotingClassifier(
            [("a", NaiveBayes()), ("b", NaiveBayes(class_prior="uniform"))], voting="soft"
        ),
        OneVsRestClassifier(NaiveBayes()),
    ):
        X = (
            table
            if not isinstance(meta, BaggingClassifier)
            else table[["size", "visits"]].fillna(0)
        )
        assert meta.fit(X, y).score(X, y) > 0.6, meta
    nb = NaiveBayes().fit(table, y)
    importance = permutation_importance(nb, table, y, n_repeats=2, random_state=0)
    assert importance.importances_mean.shape == (5,)


@pytest.mark.parametrize("fitted", [False, True])
def test_the_diagram_and_the_text_show_what_was_set(mixed, fitted):
    nb = NaiveBayes({"visits": "poisson"}, class_prior="uniform")
    if fitted:
        nb.fit(*mixed)
    html = estimator_html_repr(make_pipeline(nb))
    assert "NaiveBayes" in html
    assert "poisson" in html
    assert "uniform" in repr(nb)
    assert "<style>" in nb._repr_html_()


def test_tags_and_names_out():
    nb = NaiveBayes().fit(IRIS, SPECIES)
    assert nb.__sklearn_tags__().input_tags.allow_nan
    assert nb.feature_names_in_.tolist() == list(IRIS)
    assert nb.n_features_in_ == 4
    assert sklearn.base.is_classifier(nb)
