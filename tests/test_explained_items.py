"""What an explanation shows: items that sum to the answer, named, sorted, runs with their words."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from naively import Categorical, JointTable, Multinomial, NaiveBayes, Text
from naively.inspect.explain import NGRAMS, ExplainedRow, Ngram
from naively.inspect.odds import Odds, strongest

N = 90
LABELS = np.array(list("abc"))[np.arange(N) % 3]


def mixed() -> dict[str, list[object]]:
    """Numbers, categories, texts and booleans of three classes, with missing cells."""
    rng = np.random.default_rng(0)
    table: dict[str, list[object]] = {
        "x": (rng.normal(size=N) + (LABELS == "a")).tolist(),
        "kind": ["uvw"[i] for i in (rng.integers(0, 3, N) + (LABELS == "b")) % 3],
        "note": [
            f"{'good' if label == 'a' else 'bad'} thing number {a} of the {b} that there are"
            for label, a, b in zip(
                LABELS, rng.integers(0, 40, N), rng.integers(0, 9, N), strict=True
            )
        ],
        "flag": rng.integers(0, 2, N).astype(bool).tolist(),
    }
    for i, name in enumerate(table):
        table[name][i] = None
    return table


def run(characters: str, *words: str) -> Ngram:
    found = Ngram(characters)
    found.words = words
    return found


def row(
    items: list[tuple[str, object, list[float]]], joint: list[float] | None = None
) -> ExplainedRow:
    log_likelihood = np.array([value for _, _, value in items])
    return ExplainedRow(
        [column for column, _, _ in items],
        [value for _, value, _ in items],
        log_likelihood,
        log_likelihood.sum(axis=0) if joint is None else np.array(joint),
        np.array(list("abc"[: log_likelihood.shape[1]])),
    )


@pytest.mark.parametrize("weights", ["loo", "temperature", None])
def test_items_sum_to_the_joint_with_any_weights(weights: str | None) -> None:
    table = mixed()
    nb = NaiveBayes(weights=weights).fit(table, LABELS)
    if weights == "loo":
        assert np.abs(nb.weights_.bias).min() > 0
    some = {name: [*values[:6], None] for name, values in table.items()}
    joint = nb.predict_joint_log_proba(some)
    for i, found in enumerate(nb.explain(some)):
        np.testing.assert_allclose(found.log_likelihood.sum(axis=0), joint[i], atol=1e-9)
        np.testing.assert_allclose(
            [found.probability(c) for c in range(3)], nb.predict_proba(some)[i], atol=1e-12
        )
        assert nb.classes_[found.best] == nb.predict(some)[i]
        shown = dict(zip(found.column, found.value, strict=True))
        for name in ("x", "kind", "flag"):
            assert shown.get(name) == some[name][i]
        assert ("note" in shown) == (some["note"][i] is not None)
    lacking = [f"{name} is missing" for name in table] if weights == "loo" else []
    constant = ["class prior"] + ["intercept"] * (weights == "loo")
    assert sorted(nb.explain(some)[6].column) == sorted([*constant, *lacking])


def test_items_are_sorted_by_their_weight_either_way() -> None:
    found = row([("class prior", None, [0.5, 0.0]), ("x", 1.0, [-3.0, -1.0]), ("y", 2, [1.0, 0.0])])
    assert found.rival(0) == 1
    assert found.top(0) == [("x", 1.0, -2.0), ("y", 2, 1.0), ("class prior", None, 0.5)]
    assert found.top(1, 2) == [("x", 1.0, 2.0), ("y", 2, -1.0)]
    assert str(found).splitlines() == [
        "'b' against 'a': log odds 0.50 (probability 0.62)",
        "   +2.00  x = 1.0",
        "   -1.00  y = 2",
        "   -0.50  class prior",
    ]


def test_the_rival_is_the_most_probable_other_class() -> None:
    found = row([("class prior", None, [0.0, 2.0, 1.0])])
    assert [found.rival(c) for c in range(3)] == [1, 2, 1]
    assert found.weights(0).tolist() == [-2.0]
    alone = row([("class prior", None, [0.0])])
    assert (alone.rival(0), alone.best, alone.probability(0)) == (0, 0, 1.0)


def test_runs_are_shared_out_to_the_words_that_they_are_in() -> None:
    found = row(
        [
            ("note", "good", [1.0, 0.0]),
            ("note", run("goo", "good", "goose"), [3.0, 0.0]),
            ("note", run("xyz"), [0.25, 0.0]),
            ("other", run("goo", "good"), [0.5, 0.0]),
            ("x", 7.0, [0.125, 0.0]),
            ("z", 7.0, [0.0625, 0.0]),
        ]
    )
    assert found.top(0) == [
        ("note", "good", 2.5), ("note", "goose", 1.5), ("other", "good", 0.5),
        ("note", NGRAMS, 0.25), ("x", 7.0, 0.125), ("z", 7.0, 0.0625),
    ]  # fmt: skip


def test_runs_of_a_text_know_their_words() -> None:
    texts = ["cheap pills", "cheap watches", "lunch at noon", "Lunch with ann"] * 5
    nb = NaiveBayes().fit(texts, ["spam", "spam", "ham", "ham"] * 5)
    assert nb.schema_.of_character_ngrams
    found = nb.explain(["Cheap lunch"])[0]
    runs = {str(value): value.words for value in found.value if isinstance(value, Ngram)}
    assert runs
    for characters, words in runs.items():
        assert set(words) == {word for word in ("cheap", "lunch") if characters in f" {word} "}
    shown = {value for column, value, _ in found.top(0) if column == "text"}
    assert {"cheap", "lunch"} <= shown
    assert not any(isinstance(value, Ngram) for value in shown)


def test_several_columns_that_are_one_show_the_whole_row() -> None:
    nb = NaiveBayes(JointTable(), weights=None).fit([[0, 1], [1, 1], [0, 0]], list("aab"))
    seen, never = nb.explain([[0, 1], [5, 5]])
    assert [*zip(seen.column, seen.value, strict=True)][1:] == [("x0, x1", (0, 1))]
    assert never.value[1:] == ["(never seen)"]


def test_pairs_of_columns_show_both_cells() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.integers(0, 2, (2, 400))
    table = {"p": p.astype(str), "q": q.astype(str)}
    nb = NaiveBayes(interactions="auto").fit(table, np.where(p ^ q, "odd", "even"))
    found = nb.explain({"p": ["1"], "q": ["0"]})[0]
    column, value, weight = found.top(found.best)[0]
    assert (column, value) == ("p × q", (1, 0))
    assert nb.classes_[found.best] == "odd"
    assert weight > 1
    assert type(value[0]) is int


def test_the_table_has_a_line_for_each_item_of_each_row_and_class() -> None:
    nb = NaiveBayes(weights=None).fit({"c": ["u", "v", "u"]}, ["a", "a", "b"])
    explanation = nb.explain({"c": ["u", None]})
    table = explanation.to_dict()
    assert len(explanation) == 2
    assert table["row"] == [0] * 4 + [1] * 2
    assert table["class"] == ["a", "a", "b", "b", "a", "b"]
    assert table["against"] == ["b", "b", "a", "a", "b", "a"]
    assert table["column"] == ["class prior", "c"] * 2 + ["class prior"] * 2
    assert table["value"] == [None, "u"] * 2 + [None] * 2
    prior = np.log(2)
    c = float(explanation[0].weights(0)[1])
    assert table["weight"] == pytest.approx([prior, c, -prior, -c, prior, -prior])
    assert str(explanation) == f"{explanation[0]}\n\n{explanation[1]}"


def test_what_speaks_most_is_against_all_others_by_their_priors() -> None:
    y = np.array(["a"] * 4 + ["b"] * 8 + ["c"] * 2)
    levels = ["u"] * 3 + ["v"] + ["u"] * 2 + ["v"] * 6 + ["w"] * 2
    nb = NaiveBayes(Categorical(alpha=1.0), weights=None).fit({"k": levels}, y)
    count, rows = Counter(zip(y.tolist(), levels, strict=True)), Counter(y.tolist())
    p = {(c, level): (count[c, level] + 1) / (rows[c] + 3) for c in "abc" for level in "uvw"}
    found = strongest(nb.model_, 0, 3)
    (group,) = nb.schema_.groups
    typical = nb.model_.terms.of[group.key].typical(0)[0]
    weights = dict(zip("uvw", Odds(nb.model_.terms.start, 0).weight(typical), strict=True))
    for level, weight in weights.items():
        others = (8 * p["b", level] + 2 * p["c", level]) / 10
        assert weight == pytest.approx(np.log(p["a", level] / others))
    assert found == [("k", "u", pytest.approx(weights["u"]))]  # the others are against the class
    assert max(weights["v"], weights["w"]) < 0
    weighted = NaiveBayes({"k": Categorical(alpha=1.0)}).fit({"k": levels}, y)
    assert [level for _, level, _ in strongest(weighted.model_, 2, 1)] == ["w"]


def test_what_speaks_for_a_class_can_be_impossible_in_it_or_in_all_others() -> None:
    nb = NaiveBayes(Categorical(alpha=0), weights=None).fit({"k": list("uvvw")}, list("aabb"))
    assert strongest(nb.model_, 0, 9) == [("k", "u", np.inf)]
    (group,) = nb.schema_.groups
    weight = Odds(nb.model_.terms.start, 0).weight(nb.model_.terms.of[group.key].typical(0)[0])
    assert weight.tolist() == [np.inf, 0.0, -np.inf]


def test_nothing_speaks_for_the_only_class() -> None:
    assert strongest(NaiveBayes(weights=None).fit([[1.0], [2.0]], ["a", "a"]).model_, 0, 3) == []


def test_what_speaks_most_leaves_out_runs_and_names_times() -> None:
    days = [datetime(2020, 1, 1, tzinfo=UTC).replace(tzinfo=None) + timedelta(i) for i in range(20)]
    nb = NaiveBayes(weights=None).fit({"when": days}, ["a"] * 10 + ["b"] * 10)
    column, when, weight = strongest(nb.model_, 1, 1)[0]
    assert column == "when"
    assert isinstance(when, datetime)
    assert days[10] <= when <= days[19]
    assert weight > 1
    texts = ["cheap pills", "cheap watches", "lunch at noon", "lunch with ann"] * 5
    nb = NaiveBayes().fit(texts, ["spam", "spam", "ham", "ham"] * 5)
    words = {word for text in texts for word in text.split()}
    items = {item for _, item, _ in strongest(nb.model_, 1, 100)}
    assert items <= words | {f"{a} {b}" for a in words for b in words}
    runs = Text(analyzer="char", event=Multinomial())
    assert strongest(NaiveBayes(runs, weights=None).fit(texts, [0, 0, 1, 1] * 5).model_, 0, 1)
