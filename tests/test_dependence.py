"""The assumption tested: scikit-learn's mutual information, SciPy's G-test, simulated columns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.metrics import mutual_info_score

from naively import Multinomial, NaiveBayes, load
from naively.assess.dependence import Dependence, bins_by_class, p_values, pairwise_information
from naively.counting.labels import encode_labels
from tests.commands import run

RNG = np.random.default_rng(0)


def pair(found: Dependence, a: str, b: str) -> dict[str, Any]:
    """Return the row of a pair, whichever comes first."""
    columns = found.to_dict()
    (row,) = (i for i, of in enumerate(zip(found.a, found.b, strict=True)) if {*of} == {a, b})
    return {name: values[row] for name, values in columns.items()}


def categories(n: int = 400) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Levels, of which two depend on each other given the class, and some cells are missing."""
    y = RNG.choice(["p", "q", "r"], n, p=[0.5, 0.3, 0.2])
    a = RNG.choice(list("uvw"), n).astype(object)
    b = np.where(RNG.random(n) < 0.4, a, RNG.choice(list("uvwx"), n)).astype(object)
    c = np.where(y == "p", "s", RNG.choice(list("st"), n)).astype(object)
    a[:20] = None
    return {"a": a, "b": b, "c": c}, y


def test_is_scikit_learns_information_within_classes_and_scipys_g_test() -> None:
    table, y = categories()
    found = NaiveBayes().fit(table, y).inspect.dependence()
    assert (found.pairs, len(found.a)) == (3, 3)
    for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
        there = np.array(
            [x is not None and z is not None for x, z in zip(table[one], table[other], strict=True)]
        )
        information, g, freedom = 0.0, 0.0, 0
        for c in "pqr":
            of = there & (y == c)
            left, right = table[one][of].tolist(), table[other][of].tolist()
            information += of.sum() / there.sum() * mutual_info_score(left, right)
            counts = stats.contingency.crosstab(left, right).count
            if min(counts.shape) > 1:
                test = stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood")
                g, freedom = g + test.statistic, freedom + test.dof
        row = pair(found, one, other)
        assert row["rows"] == there.sum()
        assert row["mutual_information"] == pytest.approx(information, rel=1e-9)
        assert row["p_value"] == pytest.approx(stats.chi2.sf(g, freedom), rel=1e-9)
        assert row["expected"] == pytest.approx(freedom / (2 * there.sum()), rel=1e-12)


def test_a_copy_has_the_entropy_of_the_column_given_the_class() -> None:
    y = RNG.integers(0, 2, 300)
    a, b = RNG.choice(list("abc"), 300, p=[0.6, 0.3, 0.1]), RNG.choice(list("abc"), 300)
    level = np.where(y, a, b)
    found = NaiveBayes().fit({"one": level, "same": level.copy(), "truth": level == "a"}, y)
    row = pair(found.inspect.dependence(), "one", "same")
    entropy = sum(
        (y == c).mean() * stats.entropy(np.unique(level[y == c], return_counts=True)[1])
        for c in (0, 1)
    )
    assert row["mutual_information"] == pytest.approx(entropy, rel=1e-9)
    assert row["p_value"] < 1e-50


@pytest.mark.parametrize("n", [150, 2000])
def test_independent_columns_are_not_taken_for_dependent(n: int) -> None:
    p, ratio = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, n)
        table = {f"n{j}": rng.normal(size=n) + 2 * y for j in range(5)}
        table |= {"level": rng.choice(list("abc"), n), "truth": rng.random(n) < 0.2 + 0.2 * y}
        found = NaiveBayes(weights=None).fit(table, y).inspect.dependence(99)
        assert found.dependent <= 1
        p.append(found.p_value)
        ratio.append(found.mutual_information.sum() / found.expected.sum())
    assert 0.01 < (np.concatenate(p) < 0.05).mean() < 0.12
    assert 0.9 < np.mean(ratio) < 1.2


def test_xor_is_seen_though_each_column_says_nothing() -> None:
    rows = [[a, b] for a in (False, True) for b in (False, True)] * 50
    y = [a == b for a, b in rows]
    found = NaiveBayes().fit(np.array(rows), y).inspect.dependence()
    assert found.mutual_information[0] == pytest.approx(math.log(2))
    assert str(found).splitlines()[0] == (
        "1 of 1 pairs depend on each other more than chance, given the class (p < 0.05 / 1)."
    )


def test_the_petals_of_irises_depend_within_each_kind() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = NaiveBayes().fit(X, y).inspect.dependence()
    row = pair(found, "petal length (cm)", "petal width (cm)")
    within = np.mean(
        [np.corrcoef(X.values[y == c, 2], X.values[y == c, 3])[0, 1] for c in range(3)]
    )
    assert within > 0.3  # and not by the kinds alone
    assert row["p_value"] < 0.001
    excess = found.mutual_information - found.expected
    assert (np.diff(excess) <= 0).all()


def test_bins_hold_equally_many_rows_of_each_class() -> None:
    labels = encode_labels(np.repeat(["a", "b"], [200, 30]))
    x = np.concatenate([RNG.normal(size=200), RNG.normal(100, 1, 30)])
    x[5] = np.nan
    codes = bins_by_class(x, labels)
    assert codes[5] == -1
    assert np.ptp(np.bincount(codes[:200][codes[:200] >= 0])) <= 1
    assert codes[:200].max() + 1 == int(math.sqrt(199 / 5))
    assert np.bincount(codes[200:]).tolist() == [15, 15]
    few = bins_by_class(np.array([3.0, 1.0, 1.0]), encode_labels(["a"] * 3))
    assert few.tolist() == [1, 0, 0]


def test_bins_count_a_row_as_often_as_it_weighs() -> None:
    x, often = RNG.normal(size=60), RNG.integers(1, 9, 60)
    again = np.repeat(np.arange(60), often)
    codes = bins_by_class(x, encode_labels(["a"] * 60, often))
    expected = bins_by_class(x[again], encode_labels(["a"] * len(again)))
    assert codes[again].tolist() == expected.tolist()
    assert codes.max() == int(math.sqrt(often.sum() / 5)) - 1


def test_a_weight_is_the_row_so_often() -> None:
    table, y = categories(300)
    often = RNG.integers(1, 4, 300)
    again = np.repeat(np.arange(300), often)
    whole = NaiveBayes().fit({k: v[again] for k, v in table.items()}, y[again]).inspect.dependence()
    weighed = NaiveBayes().fit(table, y, often).inspect.dependence()
    for a, b in (("a", "b"), ("b", "c")):
        assert pair(weighed, a, b) == pytest.approx(
            {**pair(whole, a, b), "a": pair(weighed, a, b)["a"], "b": pair(weighed, a, b)["b"]}
        )


def texts(n: int = 400) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(1)
    found, y = [], []
    for i in range(n):
        words = rng.choice(["tax", "wall", "vote", "rally", "poll", "news"], 4).tolist()
        if rng.random() < 0.3:
            words += ["donald", "trump"]
        found.append(" ".join(words))
        y.append("politics" if i % 2 else "other")
    return found, y


@pytest.mark.parametrize("text", ["auto", "words"])
def test_words_that_come_together_are_found(text: Any) -> None:
    X, y = texts()
    found = NaiveBayes(text=text).fit(X, y).inspect.dependence(3)
    assert {found.a[0], found.b[0]} == {"donald", "trump"}
    holds = np.array(["donald" in x for x in X])
    expected = sum(
        (np.array(y) == c).mean()
        * stats.entropy([holds[np.array(y) == c].mean(), 1 - holds[np.array(y) == c].mean()])
        for c in set(y)
    )
    assert found.mutual_information[0] == pytest.approx(expected, rel=1e-9)
    beside = NaiveBayes(text=text).fit({"note": X, "size": RNG.normal(size=len(X))}, y)
    top = beside.inspect.dependence(1)
    assert {top.a[0], top.b[0]} == {"note=donald", "note=trump"}


def test_a_text_that_comes_again_counts_again() -> None:
    texts = ["donald trump speaks", "donald trump wins", "donald trump again", "mike speaks"]
    y = ["politics"] * 4 + ["weather"] * 2
    texts = [f"{text} n{i}" for i, text in enumerate([*texts, "rain wins", "rain again"] * 10)]
    found = NaiveBayes("bernoulli").fit(texts, y * 10)
    row = pair(found.inspect.dependence(), "donald", "trump")
    # Both or neither: the entropy of 3/4 in two thirds of the rows.
    assert row["mutual_information"] == pytest.approx(2 / 3 * stats.bernoulli(0.75).entropy())
    assert row["rows"] == 60


def test_a_missing_text_is_left_out() -> None:
    X, y = texts()
    whole = NaiveBayes(text="words").fit({"note": X[:300]}, y[:300]).inspect.dependence(1)
    gaps = (
        NaiveBayes(text="words").fit({"note": [*X[:300], *[None] * 100]}, y).inspect.dependence(1)
    )
    assert gaps.rows.tolist() == [300]
    assert gaps.mutual_information[0] == pytest.approx(whole.mutual_information[0], rel=1e-12)


def test_columns_of_a_sparse_bag_are_there_or_not() -> None:
    y = RNG.integers(0, 2, 300)
    counts = RNG.poisson(0.5, (300, 4))
    counts[:, 3] = np.where(counts[:, 0] > 0, 7, 0)
    found = NaiveBayes(Multinomial()).fit(csr_array(counts.astype(float)), y).inspect.dependence()
    assert {found.a[0], found.b[0]} == {"x0", "x3"}
    expected = sum(
        (y == c).mean() * stats.entropy(np.bincount(counts[y == c, 0] > 0)) for c in (0, 1)
    )
    assert found.mutual_information[0] == pytest.approx(expected, rel=1e-9)


def test_of_many_columns_some_are_looked_at_and_it_says_so() -> None:
    y = RNG.integers(0, 2, 200)
    X = RNG.normal(size=(200, 120))
    X[:, 117] += 2 * y
    X[:, 118] = X[:, 117]
    found = NaiveBayes("gaussian", weights=None).fit(X, y).inspect.dependence()
    assert found.pairs == 100 * 99 // 2
    assert (found.a[0], found.b[0]) == ("x117", "x118")
    assert "100 of 120 columns were looked at: those that say most." in str(found)


def test_a_time_is_no_pair_with_its_own_parts() -> None:
    when = np.datetime64("2024-01-01T00:00") + RNG.integers(0, 60 * 24 * 700, 300).astype(
        "timedelta64[m]"
    )
    found = NaiveBayes().fit({"when": when, "x": RNG.normal(size=300)}, RNG.integers(0, 2, 300))
    assert all(
        "x" in (a, b)
        for a, b in zip(found.inspect.dependence().a, found.inspect.dependence().b, strict=True)
    )


def test_interactions_that_were_not_chosen_say_why() -> None:
    X, y = RNG.normal(size=(400, 3)), RNG.integers(0, 2, 400)
    none = NaiveBayes(interactions="auto").fit(X, y)
    assert not none.model_.has_interactions
    said = str(none.inspect.dependence())
    assert "interactions='auto' chose none: no product and no rule" in said
    assert "lowers the log loss of held-out rows" in none.why_no_interactions_
    few = NaiveBayes(interactions="auto").fit(X[:99], y[:99])
    assert "chose none: 99 rows are too few, it takes 100." in str(few.inspect.dependence())
    bag = NaiveBayes(interactions="auto").fit(texts()[0], texts()[1])
    assert "not of words of texts" in bag.why_no_interactions_
    assert NaiveBayes().fit(X, y).why_no_interactions_ == ""
    some = NaiveBayes(interactions="auto").fit(X, (X[:, 0] > 0) ^ (X[:, 1] > 0))
    assert some.why_no_interactions_ == ""
    assert some.model_.has_interactions
    assert "auto" not in str(some.inspect.dependence())


def test_without_a_sample_it_says_how_to_keep_one(tmp_path: Path) -> None:
    table, y = categories()
    nb = NaiveBayes().fit(table, y)
    nb.save(tmp_path / "without.naively")
    nb.save(tmp_path / "with.naively", keep_rows=True)
    with pytest.raises(ValueError, match=r"save\(path, keep_rows=True\); after forget"):
        load(tmp_path / "without.naively").inspect.dependence()
    again = load(tmp_path / "with.naively").inspect.dependence()
    assert again.mutual_information.tolist() == nb.inspect.dependence().mutual_information.tolist()
    with pytest.raises(ValueError, match="keep it in the file"):
        nb.forget({k: v[:1] for k, v in table.items()}, y[:1]).inspect.dependence()


def test_one_column_and_one_value_are_no_dependence() -> None:
    alone = NaiveBayes().fit({"x": RNG.normal(size=20)}, [0, 1] * 10).inspect.dependence()
    assert str(alone) == "There is no pair of columns to test."
    constant = NaiveBayes().fit({"x": RNG.normal(size=20), "c": ["same"] * 20}, [0, 1] * 10)
    found = constant.inspect.dependence()
    assert (found.mutual_information[0], found.p_value[0], found.dependent) == (0, 1, 0)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        constant.inspect.dependence(0)


def test_p_values_and_information_of_no_rows() -> None:
    none = np.empty((0, 2), np.int64), np.empty(0, np.int32), np.empty(0)
    information, freedom, rows = pairwise_information(*none, 2)
    assert not information.any()
    assert (p_values(information, freedom, rows) == 1).all()


def test_bars_are_the_information_with_chance_as_a_mark() -> None:
    table, y = categories()
    found = NaiveBayes().fit(table, y).inspect.dependence()
    ax = found.plot()
    assert [bar.get_width() for bar in ax.patches] == found.mutual_information.tolist()
    (marks,) = ax.lines
    assert marks.get_xdata().tolist() == found.expected.tolist()
    assert [text.get_text().strip() for text in ax.texts] == [
        f"{a}, {b}" for a, b in zip(found.a, found.b, strict=True)
    ]
    assert "nats" in ax.get_xlabel()
    assert found.plot(ax) is ax


def test_train_says_why_no_interactions_were_chosen(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    rows = [f"{i % 7},{i % 5},{'ab'[i % 2]}" for i in range(40)]
    data.write_text("\n".join(["x,z,kind", *rows]))
    options = ["--target", "kind", "-o", str(tmp_path / "m"), "--interactions", "auto"]
    done = run("train", data, *options)
    assert done.returncode == 0, done.stderr
    assert b"Interactions: none; 40 rows are too few, it takes 100." in done.stderr


def test_whatever_the_class_it_is_that_of_the_table_of_two_columns() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, 600), rng.integers(0, 2, 600)
    y = (a + b) % 2  # independent, but not given the class
    nb = NaiveBayes("categorical", weights=None).fit(np.column_stack([a, b]), y)
    alone, given = (nb.inspect.dependence(given_class=of) for of in (False, True))
    table = np.zeros((3, 2))
    np.add.at(table, (a, b), 1)
    g = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert 2 * 600 * alone.mutual_information[0] == pytest.approx(g.statistic)
    assert alone.p_value[0] == pytest.approx(g.pvalue)
    assert (alone.dependent, given.dependent) == (0, 1)
    assert "whatever the class" in str(alone)
    assert alone.plot().get_xlabel() == "mutual information (nats)"
