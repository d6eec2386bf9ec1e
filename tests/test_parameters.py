"""The table of parameters, against scikit-learn, fractions and a histogram by hand."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import GaussianNB, MultinomialNB

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gaussian,
    Histogram,
    JointTable,
    KernelDensity,
    Multinomial,
    NaiveBayes,
    Poisson,
    Text,
    datasets,
)
from naively.inspect.difference import Interval
from naively.inspect.parameters import Parameters, parameters
from tests.cases import CASES, Case
from tests.commands import run
from tests.laws import samples

X, Y = load_iris(return_X_y=True)


def values(table: Parameters, **of: Any) -> list[float]:
    """Return the values of the rows that have these cells."""
    columns = table.to_dict()
    rows = range(len(columns["value"]))
    return [columns["value"][i] for i in rows if all(columns[k][i] == v for k, v in of.items())]


def test_gaussian_means_and_variances_are_scikit_learns() -> None:
    table = NaiveBayes(Gaussian(smoothing=0)).fit(X, Y).inspect.parameters()
    theirs = GaussianNB(var_smoothing=0).fit(X, Y)
    for c in range(3):
        for j in range(4):
            of = {"class": c, "column": f"x{j}"}
            np.testing.assert_allclose(values(table, parameter="mean", **of), theirs.theta_[c, j])
            np.testing.assert_allclose(values(table, parameter="variance", **of), theirs.var_[c, j])
        assert values(table, **{"class": c, "column": "class prior"}) == [pytest.approx(1 / 3)]


def test_words_are_scikit_learns_and_counts_and_pretend_counts_make_the_value() -> None:
    texts, y = ["buy now now", "lunch at noon", "now or never"], ["spam", "ham", "spam"]
    nb = NaiveBayes({"text": Text(event=Multinomial(alpha=0.5))}).fit({"text": texts}, y)
    counter = CountVectorizer()
    theirs = MultinomialNB(alpha=0.5).fit(counter.fit_transform(texts), y)
    found = nb.inspect.parameters(column="text")
    for word, j in counter.vocabulary_.items():
        for c, label in enumerate(theirs.classes_):
            p = values(found, **{"class": label, "item": word})
            np.testing.assert_allclose(p, math.exp(theirs.feature_log_prob_[c, j]))
    columns = found.to_dict()
    of_spam = [i for i, label in enumerate(columns["class"]) if label == "spam"]
    smoothed = np.array(columns["count"])[of_spam] + np.array(columns["pseudo_count"])[of_spam]
    np.testing.assert_allclose(smoothed / smoothed.sum(), np.array(columns["value"])[of_spam])


def test_how_chooses_among_the_estimates_of_one_prior() -> None:
    nb = NaiveBayes(Bernoulli(prior=Beta(3, 2)), class_prior=Dirichlet(2)).fit(
        [[1], [1], [1], [0]], ["a", "a", "b", "a"]
    )
    of = {"class": "a", "column": "x0"}
    assert values(nb.inspect.parameters(), **of) == [pytest.approx(5 / 8)]
    assert values(nb.inspect.parameters("mean"), **of) == [pytest.approx(5 / 8)]
    assert values(nb.inspect.parameters("map"), **of) == [pytest.approx(4 / 6)]
    assert values(nb.inspect.parameters("mle"), **of) == [pytest.approx(2 / 3)]
    prior = {
        how: values(nb.inspect.parameters(how, "class prior")) for how in ("mle", "map", "mean")
    }
    expected = {"mle": [3 / 4, 1 / 4], "map": [4 / 6, 2 / 6], "mean": [5 / 8, 3 / 8]}
    assert prior == {how: pytest.approx(p) for how, p in expected.items()}
    with pytest.raises(ValueError, match="how must be 'mle', 'map' or 'mean', got 'mode'"):
        nb.inspect.parameters("mode")


def test_bins_are_intervals_with_ends_and_their_p_is_counted() -> None:
    x = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0])
    y = np.array(["a", "b", "a", "b", "a", "b"])
    nb = NaiveBayes(Histogram(bins=2, smoothing=0, alpha=1.0), weights=None).fit(x[:, None], y)
    table = nb.inspect.parameters(column="x0").to_dict()
    bins = table["item"][::2]
    assert [str(b) for b in bins] == ["[0.5, 5.0)", "[5.0, 9.5]"]
    assert all(isinstance(b, Interval) for b in bins)
    edges = [bins[0].low, *(b.high for b in bins)]
    for label in ("a", "b"):
        count = np.histogram(x[y == label], edges)[0]
        own = [i for i, c in enumerate(table["class"]) if c == label]
        assert [table["count"][i] for i in own] == count.tolist()
        np.testing.assert_allclose([table["value"][i] for i in own], (count + 1) / (3 + 2))


def test_bins_of_times_are_times() -> None:
    when = np.array(["2020-01-01", "2020-06-01", "2021-01-01", "2021-06-01"], "datetime64[s]")
    nb = NaiveBayes(Histogram(bins=4)).fit({"when": when}, ["a", "a", "b", "b"])
    bins = nb.inspect.parameters(column="when")
    first = bins.to_dict()["item"][0]
    assert first.low < when[0].item() < first.high < when[1].item()
    assert str(first).startswith("[2019-")


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_every_event_model_has_its_table(case: Case, data: st.DataObject) -> None:
    model = data.draw(samples(case)).model
    table = parameters(model)
    columns = table.to_dict()
    assert {len(of) for of in columns.values()} == {len(table)}
    tables = [
        # Of a missing cell there is one line, as that it is present is what is left.
        p.size // (2 if group.kind == "missing" else 1)
        for group in model.view.schema.groups
        for p in group.event.parameters(model.view.counts[group.key], "mle").values()
    ]
    assert len(table) == sum(tables) + len(model.classes)
    for name in set(columns["column"]):
        if "n-grams" not in name:
            assert name in parameters(model, column=name).to_dict()["column"]
    strongest = table.strongest(3)
    assert len(strongest) <= 3 * len(model.classes)
    assert "class prior" not in strongest.to_dict()["column"]
    assert str(table).splitlines()[0].split() == list(columns)


def test_joint_tables_and_densities() -> None:
    rows = {"a": [0, 1, 1], "b": ["x", "y", "x"]}
    nb = NaiveBayes(JointTable()).fit(rows, ["u", "v", "v"])
    table = nb.inspect.parameters(column="a").to_dict()  # one of several that are one
    assert table["item"][::2] == [(0, "x"), (1, "y"), (1, "x")]
    density = (
        NaiveBayes(KernelDensity(bandwidth=0.25))
        .fit(X, Y)
        .inspect.parameters(column="x2")
        .to_dict()
    )
    assert (set(density["parameter"]), set(density["value"])) == ({"bandwidth"}, {0.25})
    assert density["count"] == [50.0] * 3


def test_strongest_are_those_of_the_largest_log_ratio_to_the_others() -> None:
    rng = np.random.default_rng(0)
    counts, y = rng.poisson(rng.gamma(1, 3, 12), (90, 12)), np.repeat([0, 1, 2], [20, 30, 40])
    counts[y == 1] += rng.poisson(rng.gamma(1, 2, 12), (30, 12))
    nb = NaiveBayes(Multinomial(), weights=None).fit(counts, y)
    p = np.exp(MultinomialNB().fit(counts, y).feature_log_prob_)
    tells = []
    for j in range(12):
        others = [
            np.average(np.delete(p[:, j], c), weights=np.delete([20, 30, 40], c)) for c in range(3)
        ]
        tells.append(max(abs(math.log(p[c, j] / others[c])) for c in range(3)))
    best = [f"x{j}" for j in np.argsort(tells)[::-1][:5]]
    assert nb.inspect.parameters().strongest(5).to_dict()["column"][::3] == best
    with pytest.raises(ValueError, match="at least 1, got 0"):
        nb.inspect.parameters().strongest(0)


def test_the_ratio_is_to_the_others_and_not_to_all_classes() -> None:
    levels = ["x"] * 32 + ["y"] * 8 + ["z"] * 40 + ["x"] * 2 + ["y"] * 9 + ["z"] * 9
    nb = NaiveBayes(Categorical(alpha=0), weights=None).fit(
        [[level] for level in levels], ["a"] * 80 + ["b"] * 20
    )
    # Of y log(0.45 / 0.1), of x log(0.4 / 0.1); to all classes x would have the larger one.
    assert nb.inspect.parameters().strongest(2).to_dict()["item"] == ["y", "y", "x", "x"]


def test_of_numbers_the_columns_are_strongest_whose_densities_are_furthest_apart() -> None:
    from scipy import stats

    nb = NaiveBayes(Gaussian(smoothing=0)).fit(X, Y)
    tells = []
    for j in range(4):
        parts = [X[c == Y, j] for c in range(3)]
        found = []
        for c in range(3):
            rest = np.concatenate(parts[:c] + parts[c + 1 :])
            own = stats.norm(parts[c].mean(), parts[c].std())
            other = stats.norm(rest.mean(), rest.std())
            found.append(abs(own.logpdf(own.mean()) - other.logpdf(own.mean())))
        tells.append(max(found))
    found = nb.inspect.parameters().strongest(4).to_dict()["column"]
    assert list(dict.fromkeys(found[::6])) == [f"x{j}" for j in np.argsort(tells)[::-1]][:2]


def test_impossible_items_come_first_and_one_class_tells_nothing() -> None:
    nb = NaiveBayes(Categorical(alpha=0)).fit([["u"], ["v"], ["u"]], [0, 0, 1])
    first = nb.inspect.parameters().strongest(1).to_dict()
    assert (first["item"], first["value"]) == (["v", "v"], [0.5, 0.0])
    alone = NaiveBayes(Categorical(), weights=None).fit([["u"], ["v"]], ["a", "a"])
    assert alone.inspect.parameters().strongest(9).to_dict()["item"] == ["u", "v"]


def test_what_is_not_estimated_has_no_pseudo_count_and_what_is_undefined_says_so() -> None:
    nb = NaiveBayes(Poisson(alpha=0), class_prior="uniform", presence="ignore")
    nb.fit([[1.0], [np.nan]], ["a", "b"])
    table = nb.inspect.parameters()
    assert table.to_dict()["pseudo_count"] == [None, None, 0.0, 0.0]
    assert str(table).splitlines()[-1].split() == ["b", "x0", "rate", "undefined", "0", "0"]


def test_an_unknown_column_is_named() -> None:
    nb = NaiveBayes().fit({"a": [1.0, 2.0], "b": ["x", "y"]}, [0, 1])
    with pytest.raises(ValueError, match="no column 'c'; the columns are 'a', 'b'"):
        nb.inspect.parameters(column="c")


def test_character_ngrams_are_told_from_words() -> None:
    nb = NaiveBayes().fit(["cheap pills", "lunch at noon"], ["spam", "ham"])
    columns = nb.inspect.parameters(column="text").to_dict()
    items = list(zip(columns["class"], columns["column"], columns["item"], strict=True))
    assert len(items) == len(set(items))
    assert set(columns["column"]) == {"text", "text (character n-grams)"}


def test_a_large_table_prints_its_first_rows_without_making_all(monkeypatch: Any) -> None:
    k = 20
    words = [f"w{i}" for i in range(30_000)]
    texts = [" ".join(words[i::k]) for i in range(k)] * 2
    table = NaiveBayes(Text()).fit(texts, np.arange(2 * k) % k).inspect.parameters()
    asked = []
    whole = Parameters._to_dict
    monkeypatch.setattr(
        Parameters, "_to_dict", lambda self, rows: asked.append(len(rows)) or whole(self, rows)
    )
    lines = str(table).splitlines()
    assert len(lines) == 22
    assert max(asked) <= 20
    assert lines[-1] == f"... and {30_000 * k + k - 20:,} more rows"


def test_show_writes_parameters(tmp_path: Path) -> None:
    path = tmp_path / "m.naively"
    nb = NaiveBayes(weights=None).fit(
        {"colour": ["r", "g", "r", "g"] * 5, "size": [1.0, 9.0, 2.0, 8.0] * 5}, ["a", "b"] * 10
    )
    nb.save(path)

    def rows(*options: str) -> list[dict[str, str]]:
        done = run("show", path, "--parameters", *options)
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout.decode())))

    expected = nb.inspect.parameters(column="colour").strongest(1).to_dict()
    found = rows("--column", "colour", "--top", "1")
    assert [row["item"] for row in found] == expected["item"]
    assert [float(row["value"]) for row in found] == expected["value"]
    assert len(rows("--top", "2")) == 4
    assert [row["value"] for row in rows("--column", "class prior")] == ["0.5", "0.5"]
    failed = run("show", path, "--column", "colour")
    assert b"give --parameters too" in failed.stderr


def test_a_table_of_parameters_is_a_heat_map() -> None:
    X, y = datasets.play_tennis()
    nb = NaiveBayes.textbook("categorical", smoothing=1).fit(X, y)
    found = nb.inspect.parameters()
    ax = found.plot()
    shown = np.asarray(ax.images[0].get_array())
    table = found.to_dict()
    np.testing.assert_array_equal(shown.ravel(), table["value"][2:])  # without the class prior
    assert ax.get_yticklabels()[0].get_text() == "outlook = sunny"
    outlook = nb.inspect.parameters(column="outlook").plot(count=True)
    assert np.asarray(outlook.images[0].get_array()).tolist() == [[3, 2], [0, 4], [2, 3]]
    few = found.plot(n=3)
    assert np.asarray(few.images[0].get_array()).shape == (3, 2)
    prior = nb.inspect.parameters(column="class prior").plot()
    assert np.asarray(prior.images[0].get_array()).tolist() == [[5 / 14, 9 / 14]]
    means = NaiveBayes.textbook("gaussian").fit([[-1.0], [2.0]], [0, 1]).inspect.parameters()
    assert np.asarray(means.plot().images[0].get_array()).tolist() == [[-1.0, 2.0]]


def test_a_table_is_latex() -> None:
    nb = NaiveBayes.textbook("categorical").fit({"a_b": ["50 %", "x"]}, ["u", "v"])
    lines = nb.inspect.parameters(column="a_b").to_latex().splitlines()
    assert lines[0] == r"\begin{array}{llllrrr}"
    assert lines[2].startswith(r"\text{u} & \text{a\_b} & \text{50 \%} & \text{p} & 1 & 1")
    assert lines[-1] == r"\end{array}"


def test_the_graph_is_an_arrow_to_each_column() -> None:
    X, y = datasets.play_tennis()
    graph = NaiveBayes.textbook("categorical").fit(X, y).inspect.graph("play")
    assert graph.to_dict() == {"from": ["play"] * 4, "to": list(X)}
    assert str(graph).endswith("p(humidity | play) p(wind | play)")
    root = ET.fromstring(graph.to_svg())  # noqa: S314  (our own)
    space = "{http://www.w3.org/2000/svg}"
    assert [of.text for of in root.findall(f"{space}text")] == [*X, "play"]
    assert len(root.findall(f"{space}line")) == 4
    assert graph._repr_html_() == graph.to_svg()
    assert [of.get_text() for of in graph.plot().texts if of.get_text()] == [*X, "play"]
    joint = NaiveBayes(JointTable(), weights=None).fit(X, y).inspect.graph()
    assert joint.columns == ("outlook, temperature, humidity, wind",)
    wide = NaiveBayes("bernoulli").fit(np.eye(12), np.arange(12) % 2).inspect.graph()
    assert "x5, ..., x11" in str(wide)
    assert len(wide.plot().texts) > 8
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    rules = NaiveBayes(interactions={"rules": 1}).fit(x, (x[:, 0] > 0) ^ (x[:, 1] > 0))
    assert rules.inspect.graph().together == (("x0", "x1"),)
