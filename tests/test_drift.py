"""What has moved, over time or against new rows, and how much of it is chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from naively import NaiveBayes
from naively.inspect.difference import Apart, by_chance, jensen_shannon
from naively.inspect.drift import Drift, Moved


def table(n: int, seed: int = 0, shift: float = 0.0) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    X = {
        "still": rng.normal(size=n),
        "moves": x + shift,
        "level": rng.choice(["u", "v", "w"], n),
        "gap": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    }
    return X, np.where(x + rng.normal(size=n) > 0, "yes", "no")


def of(found: Drift, column: str) -> dict[str, Any]:
    columns = found.to_dict()
    row = columns["column"].index(column)
    return {name: values[row] for name, values in columns.items()}


def test_the_divergence_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.dirichlet(np.full(6, 0.5), 2)
        assert jensen_shannon(p) == pytest.approx(jensenshannon(*p) ** 2, abs=1e-12)
    assert jensen_shannon(np.full((3, 4), 0.25)) == 0.0


@pytest.mark.parametrize("rows", [[400, 400], [2000, 150], [300, 500, 900, 200]])
def test_what_chance_makes_is_what_draws_make(rows: list[int]) -> None:
    rng = np.random.default_rng(0)
    p = np.array([0.4, 0.3, 0.2, 0.1])
    drawn = [
        jensen_shannon(np.array([rng.multinomial(n, p) / n for n in rows])) for _ in range(4000)
    ]
    mean, deviation = by_chance(np.array(rows, float), 4)
    assert mean == pytest.approx(np.mean(drawn), rel=0.05)
    assert deviation == pytest.approx(np.std(drawn), rel=0.08)


@pytest.mark.parametrize("weigh", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(
    "share",
    [[0.1] * 10, [0.97, 0.03], [0.66, 0.17, 0.17], [0.9] + [0.005] * 20, [1 / 60] * 60],
    ids=["bins", "two", "three", "rare", "many"],
)
@pytest.mark.parametrize("rows", [(1000, 30), (30, 30), (200, 200)])
def test_p_values_hold_of_groups_that_are_alike(
    rows: tuple[int, int], share: list[float], *, weigh: bool
) -> None:
    """Rows of some cells may weigh more than others."""
    rng = np.random.default_rng(0)
    weight = np.where(np.arange(len(share)) % 2, 4.0, 1.0) if weigh else np.ones(len(share))
    p = []
    for _ in range(200):
        table = np.array([rng.multinomial(n, share) for n in rows]) * weight
        p.append(Apart.of(table, table * weight, missing=False).p)
    assert np.mean(np.array(p) <= 0.01) < 0.01 + 3 * np.sqrt(0.01 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [(30, 30), (1000, 30), (200, 200)])
def test_equal_tables_hardly_ever_raise_an_alarm(rows: tuple[int, int]) -> None:
    """Of 39 columns: numbers, gaps, few levels, rare ones and many."""
    alarms = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)

        def wide(n: int, rng: np.random.Generator = rng) -> tuple[dict[str, Any], Any]:
            X: dict[str, Any] = {}
            for j in range(13):
                x = rng.normal(size=n)
                X[f"number {j}"] = np.where(rng.random(n) < 0.1, np.nan, x)
                X[f"few {j}"] = rng.choice(["u", "v", "w"], n, p=[0.95, 0.03, 0.02])
                X[f"many {j}"] = [f"l{i}" for i in rng.geometric(0.1, n)]
            return X, np.where(x + rng.normal(size=n) > 0, "yes", "no")

        nb = NaiveBayes().fit(*wide(rows[0]))
        alarms += nb.inspect.drift(*wide(rows[1])).moved.any()
    assert alarms <= 2


def test_cells_that_are_newly_missing_are_seen() -> None:
    X, y = table(150)
    nb = NaiveBayes().fit(X, y)
    new, right = table(150, 1)
    new["still"][:10] = np.nan
    line = of(nb.inspect.drift(new, right), "still")
    assert line["p"] < 0.05
    assert (line["item"], line["before"]) == ("(missing)", 0.0)


def test_a_few_rows_without_a_great_loss_have_not_moved_the_loss() -> None:
    noise = np.random.default_rng(0).exponential(size=1000) ** 3
    line = Moved.of_loss([(noise, np.ones(1000)), (np.full(30, 0.1), np.ones(30))])
    assert line.p > 0.05
    assert Moved.of_loss([(noise, np.ones(1000)), (np.ones(1), np.ones(1))]).p == 1.0


def test_what_moved_most_comes_first() -> None:
    nb = NaiveBayes().fit(*table(800))
    found = nb.inspect.drift(*table(500, 1, shift=1.0))
    assert found.what[0] == "log loss"
    assert found.column[1] == "moves"
    assert of(found, "moves")["p"] < 1e-20
    assert all(of(found, name)["p"] > 0.05 for name in ("still", "level", "gap"))
    beyond = (found.divergence - found.chance)[1:]
    assert (np.diff(beyond) <= 0).all()
    assert "1 of 4 columns moved beyond chance" in str(found)


def test_the_divergence_of_levels_is_that_of_their_shares() -> None:
    X, y = {"level": np.repeat(["u", "v"], [30, 70])}, np.tile(["a", "b"], 50)
    nb = NaiveBayes().fit(X, y)
    new = {"level": np.array(["u"] * 40 + ["v"] * 20 + ["new"] * 30 + [None] * 10, object)}
    line = of(nb.inspect.drift(new, y), "level")
    right = jensenshannon([0.3, 0.7, 0, 0], [0.4, 0.2, 0.3, 0.1]) ** 2
    assert line["divergence"] == pytest.approx(right, rel=1e-9)
    assert line["chance"] == pytest.approx(3 / 8 * (1 / 100 + 1 / 100))
    assert (line["item"], line["before"], line["after"]) == ("v", 0.7, 0.2)


def test_the_class_prior_is_compared_and_the_loss_is_that_of_evaluate() -> None:
    X, y = table(600)
    nb = NaiveBayes().fit(X, y)
    new, right = table(400, 1, shift=1.0)
    found = nb.inspect.drift(new, right)
    assert found.after[0] == pytest.approx(nb.evaluate(new, right).log_loss, rel=1e-9)
    assert found.divergence[0] == found.after[0] - found.before[0]
    prior = found.what.index("class prior")
    shares = [[np.mean(of == c) for c in ("no", "yes")] for of in (y, right)]
    assert found.divergence[prior] == pytest.approx(jensenshannon(*shares) ** 2, abs=1e-12)


def test_the_loss_over_time_is_of_the_model_without_the_block() -> None:
    X, y = table(300)
    X["when"] = np.arange(300.0)
    nb = NaiveBayes().fit(X, y)
    found = nb.inspect.drift(by="when", blocks=3)
    kept = nb.weights_
    for place, share in ((slice(0, 100), found.before[0]), (slice(200, 300), found.after[0])):
        rows = {name: values[place] for name, values in X.items()}
        less = NaiveBayes().fit(X, y).forget(rows, y[place])
        assert less.weights_ == kept
        assert share == pytest.approx(less.evaluate(rows, y[place]).log_loss, rel=1e-9)


def test_over_time_a_column_that_changes_halfway_moves_and_time_is_left_out() -> None:
    X, y = table(600)
    X["level"] = np.where(np.arange(600) < 300, "u", X["level"])
    X["when"] = np.datetime64("2026-01-01") + np.arange(600)
    nb = NaiveBayes().fit(X, y)
    found = nb.inspect.drift()
    assert found.column[1] == "level"
    assert found.p[1] < 1e-20
    assert not any(name and name.startswith("when") for name in found.column)
    assert "600 learned rows in 10 blocks of 'when'" in str(found)


def test_a_class_that_is_new_moves_the_class_prior() -> None:
    X, y = table(300)
    found = NaiveBayes().fit(X, y).inspect.drift(X, np.where(np.arange(300) < 150, y, "who"))
    prior = found.what.index("class prior")
    assert prior == 1
    assert (found.item[prior], found.before[prior], found.after[prior]) == ("who", 0.0, 0.5)


def test_without_labels_only_columns_are_compared() -> None:
    nb = NaiveBayes().fit(*table(300))
    found = nb.inspect.drift(table(200, 1, shift=1.0)[0])
    assert set(found.what) == {"column"}
    assert found.column[0] == "moves"


def test_words_of_texts_move() -> None:
    texts = ["cheap pills now", "lunch at noon", "see the report"] * 40
    y = ["spam", "ham", "ham"] * 40
    nb = NaiveBayes(text="words").fit(texts, y)
    found = nb.inspect.drift(["lunch at noon"] * 100 + ["see the report"] * 20, ["ham"] * 120)
    line = of(found, "text=lunch")
    assert line["divergence"] == pytest.approx(
        jensenshannon([1 / 3, 2 / 3], [5 / 6, 1 / 6]) ** 2, rel=1e-9
    )
    assert line["chance"] == pytest.approx(1 / 8 * (1 / 120 + 1 / 120))  # copies are rows


def test_a_weight_counts_and_shows_in_what_chance_makes() -> None:
    X, y = {"level": np.tile(["u", "v"], 100)}, np.tile(["a", "a", "b", "b"], 50)
    weight = np.where(X["level"] == "u", 3.0, 1.0)
    nb = NaiveBayes().fit(X, y, sample_weight=weight)
    line = of(nb.inspect.drift({"level": np.tile(["u", "v"], 50)}), "level")
    assert max(line["before"], 1 - line["before"]) == pytest.approx(0.75)
    # Of rows drawn with a weight of 3 or 1 the share varies less than by Kish's 160 rows.
    draws = np.random.default_rng(0).binomial(200, 0.5, 10_000)
    rows = 0.75 * 0.25 / np.var(3 * draws / (200 + 2 * draws))
    assert line["chance"] == pytest.approx(1 / 8 * (1 / rows + 1 / 100), rel=0.05)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "of which none: name one"),
        ({"by": "level"}, "has levels, which are in no order"),
        ({"by": "when"}, "There is no column 'when'"),
        ({"by": "moves", "blocks": 1}, "blocks must be a whole number"),
        ({"X": table(9)[0], "by": "moves"}, "leave out by"),
        ({"y": table(9)[1]}, "give X too"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], said: str) -> None:
    nb = NaiveBayes().fit(*table(200, 1))
    with pytest.raises(ValueError, match=said):
        nb.inspect.drift(**given)


def test_there_must_be_rows_in_memory() -> None:
    X, y = table(100)
    with pytest.raises(ValueError, match="not in memory"):
        NaiveBayes().fit(X, y).decay(0.5).inspect.drift(X)


def test_it_is_drawn_and_is_a_table() -> None:
    nb = NaiveBayes().fit(*table(300))
    found = nb.inspect.drift(*table(200, 1, shift=1.0))
    ax = found.plot()
    assert ax.get_yticklabels()[0].get_text() == "moves"
    assert len({len(values) for values in found.to_dict().values()}) == 1
    assert "divergence" in found.to_json()


def test_the_report_shows_what_has_moved() -> None:
    X, y = table(600)
    plain = NaiveBayes().fit(X, y)
    page = plain.export.report(*table(300, 1, shift=1.0))
    assert "What has moved" in page.sections
    assert "300 new rows against 600 that were learned" in page.html
    nb = NaiveBayes().fit({**X, "when": np.datetime64("2026-01-01") + np.arange(600)}, y)
    assert "What has moved" in nb.export.report().sections
    assert "What has moved" not in plain.export.report().sections
    assert "What has moved" not in plain.export.report(X, y).sections
