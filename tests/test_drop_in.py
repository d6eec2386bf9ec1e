"""The drop-ins against scikit-learn, and right where others go wrong: each trap is a test."""

from __future__ import annotations

import csv
import re
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

import naively
from naively import (
    BernoulliNB,
    Categorical,
    CategoricalNB,
    ComplementNB,
    Gaussian,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    load,
)

SETTINGS = [
    GaussianNB(),
    GaussianNB(var_smoothing=0.1),
    GaussianNB(priors="uniform"),  # "uniform": filled in for the number of classes
    MultinomialNB(),
    MultinomialNB(alpha=0.3, fit_prior=False),
    MultinomialNB(class_prior="uniform"),
    ComplementNB(),
    ComplementNB(alpha=0.5, norm=True),
    BernoulliNB(),
    BernoulliNB(alpha=0.1, binarize=4.0, fit_prior=False),
    CategoricalNB(),
    CategoricalNB(alpha=0.5, min_categories=40),
]
ATTRIBUTES = {
    "GaussianNB": ["theta_", "var_", "epsilon_", "class_prior_"],
    "MultinomialNB": ["feature_count_", "feature_log_prob_", "class_log_prior_"],
    "ComplementNB": ["feature_count_", "feature_log_prob_", "class_log_prior_", "feature_all_"],
    "BernoulliNB": ["feature_count_", "feature_log_prob_", "class_log_prior_"],
    "CategoricalNB": [
        "category_count_", "feature_log_prob_", "class_log_prior_", "n_categories_",
    ],
}  # fmt: skip
ALL = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
TABLES = ["letter", "optdigits", "pima_diabetes", "spambase", "wdbc", "glass", "sonar"]

X = np.array([[3.0, 0, 1], [2, 1, 0], [0, 4, 1], [1, 1, 1], [0, 0, 2]])
Y = np.array(["a", "a", "b", "c", "b"])


def filled_in(ours: Any, k: int) -> Any:
    """Return the estimator with its "uniform" prior as probabilities."""
    given = {name: np.full(k, 1 / k) for name, v in ours.get_params().items() if v == "uniform"}  # type: ignore[comparison-overlap]
    return clone(ours).set_params(**given)


def assert_agree(ours: Any, x: np.ndarray, y: np.ndarray, **weight: Any) -> None:
    """Attributes to 1e-12, joint log likelihoods to 1e-10, relative."""
    if isinstance(ours, CategoricalNB):
        x = np.floor(x - x.min(axis=0)).astype(int) % 50
    elif not isinstance(ours, GaussianNB):
        x = np.abs(x)
    ours = filled_in(ours, len(np.unique(y)))
    peer = getattr(theirs, type(ours).__name__)(**ours.get_params())
    ours, peer = ours.fit(x, y, **weight), peer.fit(x, y, **weight)
    for name in ["class_count_", *ATTRIBUTES[type(ours).__name__]]:
        expected = getattr(peer, name)
        actual = getattr(ours, name)
        if not isinstance(expected, list):
            expected, actual = [expected], [actual]
        for a, b in zip(actual, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=name)
    joint = peer.predict_joint_log_proba(x)
    np.testing.assert_allclose(ours.predict_joint_log_proba(x), joint, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(x), peer.predict(x))


@pytest.mark.parametrize("ours", SETTINGS, ids=str)
@pytest.mark.parametrize("data", [load_digits, load_iris, load_wine])
def test_results_are_scikit_learns(ours: Any, data: Any) -> None:
    assert_agree(ours, *data(return_X_y=True))


@pytest.mark.parametrize("ours", SETTINGS, ids=str)
@pytest.mark.parametrize("name", TABLES)
def test_results_are_scikit_learns_on_real_tables(ours: Any, name: str, data_folder: Path) -> None:
    with (data_folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    assert_agree(ours, np.array([row[:-1] for row in rows], float), np.array([r[-1] for r in rows]))


@pytest.mark.parametrize("ours", SETTINGS[3:], ids=str)
def test_weights_are_scikit_learns(ours: Any) -> None:
    x, y = load_wine(return_X_y=True)
    assert_agree(ours, x, y, sample_weight=np.linspace(0.5, 3, len(y)))


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_alpha_by_column_is_scikit_learns(name: str) -> None:
    alpha = [0.5, 1.0, 2.0]
    ours, peer = (getattr(m, name)(alpha=alpha).fit(X, Y) for m in (naively, theirs))
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(sparse.csr_array(X)),
        peer.predict_joint_log_proba(X),
        rtol=1e-10,
    )


def test_alpha_by_column_of_truths_is_of_columns() -> None:
    # scikit-learn adds it to the counts of the classes, as if there was one of each.
    alpha = [0.5, 1.0, 2.0]
    nb = BernoulliNB(alpha=alpha).fit(X, Y)
    alone = [BernoulliNB(alpha=a).fit(X[:, [j]], Y) for j, a in enumerate(alpha)]
    expected = np.hstack([one.feature_log_prob_ for one in alone])
    np.testing.assert_array_equal(nb.feature_log_prob_, expected)


def test_without_a_threshold_truths_are_as_they_are() -> None:
    x = np.array([[1.0, 0.0], [0.25, 1.0], [0.0, 0.5]])
    assert_agree(BernoulliNB(binarize=None), x, np.array([0, 0, 1]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        BernoulliNB(binarize=None).fit(X, Y)


@parametrize_with_checks([make() for make in ALL])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        check(estimator)


@pytest.mark.parametrize("make", ALL)
def test_forget_is_never_seen(make: Any) -> None:
    x, y = load_iris(return_X_y=True)
    x = np.floor(x * 10)
    half = make().fit(x[::2], y[::2])
    expected, whole = half.predict_joint_log_proba(x), make().fit(x, y)
    forgotten = make().fit(x, y).forget(x[1::2], y[1::2])
    np.testing.assert_array_equal(forgotten.predict_joint_log_proba(x), expected)
    np.testing.assert_allclose(whole.decay(0.5).class_count_, [25, 25, 25])


@pytest.mark.parametrize("make", ALL)
def test_explanations_sum_to_the_log_odds(make: Any) -> None:
    table = pd.DataFrame(X, columns=["x", "y", "z"])
    nb = make().fit(table, Y)
    joint = nb.predict_joint_log_proba(table)
    for evidence, row in zip(nb.explain(table), joint, strict=True):
        c = evidence.best
        assert set(evidence.column) <= {"class prior", "x", "y", "z"}
        np.testing.assert_allclose(evidence.weights(c).sum(), row[c] - row[evidence.rival(c)])


def test_settings_by_column_are_saved(tmp_path: Path) -> None:
    for nb in (MultinomialNB(alpha=[1, 2, 3]), CategoricalNB(min_categories=[5, 6, 7])):
        nb.fit(X, Y).save(tmp_path / "m.naively")
        assert load(tmp_path / "m.naively").schema_.groups == nb.schema_.groups


@pytest.mark.parametrize("make", ALL)
def test_an_announced_class_without_rows_has_weight_zero(make: Any) -> None:
    nb = make().partial_fit(X, Y, classes=["d", "c", "b", "a"], sample_weight=np.ones(len(Y)))
    assert nb.classes_.tolist() == ["a", "b", "c", "d"]
    assert nb.class_count_.tolist() == [2, 2, 1, 0]
    p = nb.predict_proba(X)
    if make is not ComplementNB:  # it leaves out the class prior
        np.testing.assert_array_equal(p[:, 3], 0)
    assert np.isfinite(p).all()
    nb.forget(X[3:4], ["c"])
    assert nb.class_count_.tolist() == [2, 2, 0, 0]
    nb.partial_fit(X[:1], ["d"])
    assert nb.class_count_.tolist() == [2, 2, 0, 1]


def test_parameters_may_be_set_between_batches() -> None:
    nb = MultinomialNB().partial_fit(X[:2], Y[:2], classes=["a", "b", "c"])
    nb.set_params(alpha=0.5).partial_fit(X[2:], Y[2:])
    expected = MultinomialNB(alpha=0.5).fit(X, Y).feature_log_prob_
    np.testing.assert_array_equal(nb.feature_log_prob_, expected)


@pytest.mark.parametrize("make", ALL)
def test_a_class_that_was_not_announced_is_an_error(make: Any) -> None:
    nb = make().partial_fit(X, Y, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        nb.partial_fit(X[:1], ["e"])
    with pytest.raises(ValueError, match="Cannot forget rows that were not learned"):
        nb.forget(X[:1], ["e"])
    assert nb.class_count_.tolist() == [2, 2, 1]


@pytest.mark.parametrize("make", ALL)
def test_bad_input_is_an_error_and_changes_nothing(make: Any) -> None:
    nb = make().fit(X, Y)
    before = nb.predict_proba(X)
    for bad, message in [
        (X[:, :2], "X has 2 features, but .* is expecting 3"),
        (np.where(X == 4, np.nan, X), "contains NaN"),
        (np.where(X == 4, np.inf, X), "contains infinity"),
    ]:
        for call in (
            nb.predict,
            lambda rows: nb.partial_fit(rows, Y),
            lambda rows: nb.forget(rows, Y),
        ):
            with pytest.raises(ValueError, match=message):
                call(bad)
    for weight in ([-1, 1, 1, 1, 1], [np.nan, 1, 1, 1, 1]):  # trap: negative weights
        with pytest.raises(ValueError, match="row 0"):
            make().fit(X, Y, sample_weight=weight)
    with pytest.raises(ValueError, match="Cannot merge"):
        nb.merge(make().fit(X[:, :2], Y))
    np.testing.assert_array_equal(nb.predict_proba(X), before)


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB, CategoricalNB])
def test_negative_numbers_are_an_error(make: Any) -> None:
    with pytest.raises(ValueError, match=rf"Negative values .* {make.__name__} \(input X\)"):
        make().fit(-X, Y)
    with pytest.raises(ValueError, match=rf"Negative values .* {make.__name__} \(input X\)"):
        make().fit(X, Y).predict(-X)


@pytest.mark.parametrize(
    ("make", "wrong", "right"),
    [
        (GaussianNB, {"priors": 0.5}, "an array or None, got 0.5"),
        (GaussianNB, {"priors": "even"}, "an array or None, got 'even'"),
        (GaussianNB, {"var_smoothing": -1e-9}, "a number of at least 0 or 'column', got -1e-09"),
        (GaussianNB, {"var_smoothing": "row"}, "a number of at least 0 or 'column', got 'row'"),
        (GaussianNB, {"var_smoothing": np.nan}, "a number of at least 0 or 'column', got nan"),
        (BernoulliNB, {"alpha": -0.5}, "a number of at least 0 or an array, got -0.5"),
        (BernoulliNB, {"alpha": np.inf}, "a number of at least 0 or an array, got inf"),
        (BernoulliNB, {"binarize": "yes"}, "a number of at least 0 or None, got 'yes'"),
        (MultinomialNB, {"alpha": None}, "a number of at least 0 or an array, got None"),
        (MultinomialNB, {"fit_prior": "no"}, "True or False, got 'no'"),
        (MultinomialNB, {"class_prior": {0: 1.0}}, "an array or None, got {0: 1.0}"),
        (ComplementNB, {"force_alpha": 1}, "True or False, got 1"),
        (ComplementNB, {"norm": "l2"}, "True or False, got 'l2'"),
        (CategoricalNB, {"alpha": [1.0, 1.0, 1.0]}, "a number of at least 0, got [1.0,"),
        (CategoricalNB, {"min_categories": 0}, "a whole number of at least 1, an array or None"),
        (CategoricalNB, {"min_categories": 2.5}, "a whole number of at least 1, an array or None"),
    ],
)
def test_parameter_of_no_allowed_kind_is_named(
    make: Any, wrong: dict[str, Any], right: str
) -> None:
    (name,) = wrong
    message = re.escape(f"{name} must be {right}")
    with pytest.raises(ValueError, match=message):
        make(**wrong).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        make(**wrong).partial_fit(X, Y, classes=Y)
    with pytest.raises(ValueError, match=f"{name}|Number of priors"):  # theirs refuses it, too
        getattr(theirs, make.__name__)(**wrong).fit(X, Y)


@pytest.mark.parametrize(
    "nb",
    [
        GaussianNB(var_smoothing=np.float32(0.5), priors=np.array([0.5, 0.25, 0.25])),
        MultinomialNB(alpha=np.int64(2), fit_prior=np.False_, class_prior=(0.5, 0.3, 0.2)),
        MultinomialNB(alpha=(1.0, 2.0, 3.0)),
        BernoulliNB(binarize=np.float64(1.5), alpha=np.float32(0.5)),
        CategoricalNB(min_categories=np.int64(9)),
    ],
)
def test_parameters_may_be_numbers_and_arrays_of_numpy(nb: Any) -> None:
    of_theirs = getattr(theirs, type(nb).__name__)(**nb.get_params())
    np.testing.assert_allclose(nb.fit(X, Y).predict_proba(X), of_theirs.fit(X, Y).predict_proba(X))


@pytest.mark.parametrize("make", ALL[1:])
def test_unchecked_priors(make: Any) -> None:
    for prior in ([5, -1, -3], [0.5, 0.5, 0.5], [np.nan, 0.5, 0.5]):
        with pytest.raises(ValueError, match="probabilities that sum to 1"):
            make(class_prior=prior).fit(X, Y)


def test_variance_smoothing_drowns_no_small_column_by_column() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    small = np.where(y == 0, -1e-3, 1e-3) + rng.normal(0, 2e-4, 400)
    x = np.stack([rng.normal(0, 1e3, 400), small], axis=1)
    assert GaussianNB(var_smoothing="column").fit(x, y).score(x, y) > 0.99
    assert GaussianNB(var_smoothing=1e-3).fit(x, y).score(x, y) < 0.7  # scikit-learn's rule
    nb = GaussianNB(var_smoothing="column").fit(x, y)
    np.testing.assert_allclose(nb.epsilon_, 0.01 * x.var(axis=0))
    event = Gaussian(smoothing=0, floor=0.01, floor_of="column")
    np.testing.assert_allclose(
        nb.predict_proba(x), NaiveBayes(event, weights=None).fit(x, y).predict_proba(x)
    )


def test_a_second_batch_does_not_corrupt_variances() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, 100), rng.normal(0, 1e6, 100), rng.normal(0, 1, 100)])
    x, y = x[:, None], np.repeat([0, 1, 0], 100)
    nb = GaussianNB().partial_fit(x[:200], y[:200], classes=[0, 1]).partial_fit(x[200:], y[200:])
    np.testing.assert_allclose(nb.epsilon_, 1e-9 * x.var(), rtol=1e-12)
    np.testing.assert_allclose(nb.var_[0], x[y == 0].var() + nb.epsilon_, rtol=1e-10)


def test_a_zero_weight_outlier_changes_nothing() -> None:
    x, y = load_iris(return_X_y=True)
    weight = np.append(np.ones(len(y)), 0)
    with_it = GaussianNB().fit(np.vstack([x, np.full(4, 1e6)]), np.append(y, 0), weight)
    without = GaussianNB().fit(x, y)
    assert with_it.epsilon_ == without.epsilon_
    np.testing.assert_array_equal(with_it.var_, without.var_)


@pytest.mark.parametrize("make", ALL[1:])
def test_alpha_0_is_no_nan_and_the_same_sparse(make: Any) -> None:
    nb = make(alpha=0).fit(X, Y)
    p = nb.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    if make is not CategoricalNB:
        np.testing.assert_allclose(nb.predict_proba(sparse.csr_array(X)), p, rtol=1e-13)


def test_an_unseen_category_takes_the_mass_of_one_never_counted() -> None:
    nb = CategoricalNB(fit_prior=False).fit([[0], [0], [3]], [0, 0, 1])
    p = np.array([1 / 6, 1 / 5])  # alpha / (n + alpha · 4): of 2, within the range, as of 9
    np.testing.assert_allclose(nb.predict_proba([[2], [9]]), [p / p.sum()] * 2)


def test_a_number_cut_to_a_category_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"1\.9 in column 0 is taken as 1"):
        nb = CategoricalNB().fit([[1.9], [0.0]], [0, 1])
    assert nb.n_categories_.tolist() == [2]


@pytest.mark.parametrize("make", [CategoricalNB, lambda: NaiveBayes(Categorical())])
def test_a_code_of_50_million_takes_no_memory(make: Any) -> None:
    x = np.array([[0], [1], [50_000_000]])
    tracemalloc.start()
    p = make().fit(x, [0, 1, 1]).predict_proba(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert p[2, 1] > p[2, 0]
    assert peak < 1e6


def test_no_matrix_of_rows_by_classes_is_built_to_count() -> None:
    n, k = 20_000, 2_000
    x = sparse.random_array((n, 20), density=0.05, format="csr", rng=np.random.default_rng(0))
    tracemalloc.start()
    nb = MultinomialNB().fit(x, np.arange(n) % k)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert nb.class_count_.tolist() == [n // k] * k
    assert peak < n * k  # a byte a cell; floats take eight


def test_float32_is_summed_in_float64() -> None:
    x = (1e6 + np.random.default_rng(0).normal(0, 1, (20_000, 1))).astype(np.float32)
    y = np.arange(20_000) % 2
    expected = [x[y == c].astype(np.float64).var() for c in (0, 1)]
    np.testing.assert_allclose(
        GaussianNB(var_smoothing=0).fit(x, y).var_[:, 0], expected, rtol=1e-9
    )


def test_many_columns_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 100, (50, 2_000)), np.arange(50) % 2
    p = GaussianNB().fit(x, y).predict_proba(rng.normal(0, 100, (50, 2_000)))
    np.testing.assert_allclose(p.sum(axis=1), 1)


def as_taken(make: Any, kind: str) -> Any:
    """A table that the drop-in takes as it is, of 40 rows."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, (40, 4))
    if make is CategoricalNB:
        return x
    x = x.astype(float)
    return sparse.csr_array(x) if kind == "sparse" else x


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("make", ALL)
def test_what_is_wrong_is_said_as_scikit_learn_says_it(make: Any, kind: str) -> None:
    """Cells are not looked at beforehand; whatever is wrong is found as they are counted."""
    if kind == "sparse" and make in (GaussianNB, CategoricalNB):
        pytest.skip("it takes no sparse matrices")
    x, y = as_taken(make, kind), np.arange(40) % 3
    peer = getattr(theirs, make.__name__)
    for bad in (np.nan, np.inf, -np.inf, -1):
        wrong = x.copy()
        if make is CategoricalNB and bad != -1:
            continue
        if make in (GaussianNB, BernoulliNB) and bad == -1:
            continue
        cells = wrong.data if kind == "sparse" else wrong.reshape(-1)
        cells[7] = bad
        with pytest.raises(ValueError) as expected:
            peer().fit(wrong, y)
        nb = make().fit(x, y)
        before = nb.model_
        for verb in (
            lambda: make().fit(wrong, y),  # noqa: B023
            lambda: nb.fit(wrong, y),  # noqa: B023
            lambda: nb.partial_fit(wrong, y, classes=[0, 1, 2]),  # noqa: B023
            lambda: nb.predict(wrong),  # noqa: B023
            lambda: nb.predict_proba(wrong[:5]),  # noqa: B023
            lambda: nb.forget(wrong, y),  # noqa: B023
        ):
            with pytest.raises(ValueError) as found:
                verb()
            said = str(found.value).splitlines()[0]
            assert said == str(expected.value).splitlines()[0]
        assert nb.model_ is before


def test_a_malformed_sparse_matrix_is_an_error_and_no_crash() -> None:
    x = sparse.csr_array(as_taken(MultinomialNB, "dense"))
    y = np.arange(40) % 3
    nb = MultinomialNB().fit(x, y)
    for change in ({"indices": 99}, {"indices": -1}, {"indptr": 10**6}):
        wrong = x.copy()
        for name, value in change.items():
            getattr(wrong, name)[5] = value
        for verb in (nb.predict, lambda x: MultinomialNB().fit(x, y)):
            with pytest.raises(ValueError, match="no csr matrix that can be read"):
                verb(wrong)


@pytest.mark.parametrize("make", ALL)
def test_whole_sparse_numbers_and_other_types_are_counted_alike(make: Any) -> None:
    x, y = as_taken(make, "dense"), np.arange(40) % 3
    expected = make().fit(x, y)
    forms: list[Any] = [x.tolist(), np.asfortranarray(x), x.astype(x.dtype.newbyteorder())]
    forms += [x.astype(np.int32)] if make is CategoricalNB else [x.astype(np.float32)]
    if "sparse" in make.takes:
        csr = sparse.csr_array(x)
        wide = sparse.csr_array(
            (csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64))
        )
        forms += [csr, csr.astype(np.int64), csr.astype(np.int32), csr.tocsc(), wide]
    for form in forms:
        nb = make().fit(form, y)
        np.testing.assert_array_equal(nb.class_count_, expected.class_count_)
        np.testing.assert_allclose(
            nb.predict_log_proba(form), expected.predict_log_proba(x), rtol=1e-12
        )


@pytest.mark.parametrize("make", ALL)
def test_names_of_columns_are_gone_after_a_fit_without(make: Any) -> None:
    x, y = as_taken(make, "dense"), np.arange(40) % 3
    nb = make().fit(pd.DataFrame(x, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        nb.predict(x)
    nb.fit(x, y)
    assert not hasattr(nb, "feature_names_in_")
    nb.predict(x)
    with pytest.raises(ValueError, match="expecting 4 features"):
        nb.predict(x[:, :3])
