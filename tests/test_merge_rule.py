"""The rule by which models merge: each case is pooling the rows, in any order, or a sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product
from operator import add
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import Beta, Categorical, GaussianNB, Model, MultinomialNB, NaiveBayes, Text
from naively.counting.axis import VALUE
from naively.counting.labels import encode_labels
from naively.counting.tally import Total
from naively.data.frames import as_rows
from naively.model.counted import count_batch

Y = ["a", "a", "b", "b"]
TEXTS = ["one two three", "two four six eight", "cheap buy now today", "buy more now please"]
NUMBERS = [1.5, 2.25, 7.0, 8.5]


def rows_of(X: Any, n: slice) -> Any:
    return {name: column[n] for name, column in X.items()} if isinstance(X, dict) else X[n]


def pooled(X: Any, Z: Any) -> Any:
    """Return the rows of both tables; a column that one lacks is missing there."""
    if not isinstance(X, dict):
        return sparse.vstack([X, Z]).tocsr() if sparse.issparse(X) else [*X, *Z]
    n, m = len(next(iter(X.values()))), len(next(iter(Z.values())))
    names = dict.fromkeys([*X, *Z])
    return {c: [*X.get(c, [None] * n), *Z.get(c, [None] * m)] for c in names}


EQUAL = {
    "the same": ({"x": NUMBERS, "c": list("uuvv")}, {"x": [3.0, 4.0, 4.0, 9.0], "c": list("uvuv")}),
    "other levels": ({"c": list("uuvv")}, {"c": list("wxyz")}),
    "other words": (TEXTS, ["six seven", "eight nine ten", "now or never", "cheap as chips"]),
    "a column in one only": ({"x": NUMBERS}, {"z": [4.0, 4.0, 9.0, 9.5]}),
    "another order of columns": (
        {"x": NUMBERS, "c": list("uuvv")},
        {"c": list("uvuv"), "x": NUMBERS},
    ),
    "truths and numbers": ({"x": [0, 1, 1, 0]}, {"x": NUMBERS}),
    "levels and texts": (
        {"t": list("uvuv")},
        {"t": [f"{text} {i}" for i, text in enumerate(TEXTS * 400)]},
    ),
    "places": ([[x, 2 * x] for x in NUMBERS], [[x, x] for x in NUMBERS]),
    "sparse": (
        sparse.csr_array([[0.5, 1], [0, 0], [1, 0], [0, 1]]),
        sparse.csr_array([[1.0, 0], [0, 1], [0, 0.25], [2, 0]]),
    ),
    "a column that is missing throughout": (
        {"x": [None] * 4, "c": list("uuvv")},
        {"x": NUMBERS, "c": list("uuvv")},
    ),
}


@pytest.mark.parametrize("labels", [Y, ["b", "b", "c", "c"]], ids=["classes", "other classes"])
@pytest.mark.parametrize("case", EQUAL)
@pytest.mark.filterwarnings("ignore")
def test_merging_is_pooling_the_rows(case: str, labels: list[str]) -> None:
    X, Z = EQUAL[case]
    n = len(next(iter(Z.values()))) if isinstance(Z, dict) else np.shape(Z)[0]
    z = (labels * n)[:n]
    a, b = (
        (lambda: NaiveBayes(weights=None).fit(X, Y)),
        (lambda: NaiveBayes(weights=None).fit(Z, z)),
    )
    both = pooled(X, Z)
    whole = NaiveBayes(weights=None).fit(both, [*Y, *z])
    for merged in (a().merge(b()), b().merge(a())):
        assert merged.classes_.tolist() == whole.classes_.tolist()
        assert merged.class_count_.tolist() == whole.class_count_.tolist()
        np.testing.assert_allclose(
            merged.predict_proba(both), whole.predict_proba(both), atol=1e-12
        )


def pure(X: Any, y: Any = Y, **options: Any) -> Callable[[], NaiveBayes]:
    return lambda: NaiveBayes(weights=None, **options).fit(X, y)


X = {"x": NUMBERS}
REFUSED = {
    "another event model": (
        pure(X, event_models="gaussian"),
        pure(X),
        "'x' is .* in one model and",
    ),
    "numbers and strings": (pure(X), pure({"x": list("uuvv")}), "'x' is .* in one model and"),
    "times and strings": (
        pure({"x": ["2024-01-01", "2024-02-03", "2024-05-01", "2024-07-01"]}),
        pure({"x": list("uuvv")}),
        "'x' is .* in one model and",
    ),
    "booleans and numbers": (pure({"x": [True, False, True, False]}), pure(X), "'x' is"),
    "declared levels": (
        pure({"c": list("uuvv")}, event_models=Categorical(levels=["u", "v"])),
        pure({"c": list("uuvv")}, event_models=Categorical()),
        "'c' is",
    ),
    "texts split otherwise": (
        pure(TEXTS, event_models=Text(ngram_range=(1, 2))),
        pure(TEXTS, event_models=Text()),
        "'text'",
    ),
    "names and places": (pure({"x0": NUMBERS}), pure([[x] for x in NUMBERS]), "names in one model"),
    "places of another width": (
        pure([[x] for x in NUMBERS]),
        pure([[x, x] for x in NUMBERS]),
        "no names; there are",
    ),
    "sparse counts and dense ones, chosen": (
        pure(sparse.csr_array([[0, 2], [0, 0], [3, 0], [0, 0]])),
        pure([[0, 2], [0, 0], [3, 0], [0, 0]]),
        "'x0' is",
    ),
    "smoothing": (pure(X, smoothing=1.0), pure(X, smoothing=2.0), "smoothing is"),
    "estimate": (pure(X, estimate="map"), pure(X), "estimate is"),
    "class prior": (pure(X, class_prior="uniform"), pure(X), "class_prior is"),
    "probabilities": (
        pure(X, class_prior=[0.2, 0.8]),
        pure(X, class_prior=[0.3, 0.7]),
        r"class_prior is \[0\.",
    ),
    "Beta of three classes": (
        pure(X, class_prior=Beta(2, 1)),
        pure(X, list("aacc"), class_prior=Beta(2, 1)),
        "two classes",
    ),
    "drop-ins": (
        lambda: GaussianNB().fit([[x] for x in NUMBERS], Y),
        lambda: MultinomialNB().fit([[x] for x in NUMBERS], Y),
        "'x0' is",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_merge_says_why_in_either_order(case: str) -> None:
    one, two, message = REFUSED[case]
    for a, b in ((one(), two()), (two(), one())):
        before = a.model_
        with pytest.raises(ValueError, match=message):
            a.merge(b)
        assert a.model_ is before


def test_labels_of_other_types_do_not_merge() -> None:
    a, b = NaiveBayes().fit(X, Y), NaiveBayes().fit(X, [0, 0, 1, 1])
    for one, other in ((a, b), (b, a)):
        with pytest.raises(TypeError, match="one type"):
            one.merge(other)


def test_probabilities_are_the_same_however_they_are_given() -> None:
    a = pure(X, class_prior=np.array([0.2, 0.8]))().merge(pure(X, class_prior=[0.2, 0.8])())
    np.testing.assert_allclose(np.exp(a.class_log_prior_), [0.2, 0.8])


def test_sparse_and_dense_of_one_event_model_are_pooled() -> None:
    matrix = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [1.0, 4.0]])
    dense, thin = (
        pure(of, event_models="multinomial") for of in (matrix, sparse.csr_array(matrix))
    )
    whole = pure(np.vstack([matrix, matrix]), [*Y, *Y], event_models="multinomial")()
    for merged in (dense().merge(thin()), thin().merge(dense())):
        np.testing.assert_allclose(merged.predict_proba(matrix), whole.predict_proba(matrix))


def half(part: int, seed: int, **options: Any) -> NaiveBayes:
    """Return a model of half of a table in which two columns tell only together."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=400), rng.normal(size=400)
    y = np.where((a > 0) == (b > 0), "in", "out")
    a[rng.random(400) < 0.2] = np.nan
    of = slice(200 * part, 200 * (part + 1))
    return NaiveBayes(random_state=seed, **options).fit({"a": a[of], "b": b[of]}, y[of])


@pytest.mark.parametrize("seed", [0, 1], ids=["with samples", "without"])
@pytest.mark.parametrize(
    "options",
    [
        {"weights": None},
        {"weights": "temperature"},
        {"presence": "ignore"},
        {"interactions": "auto"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_what_one_model_has_both_have_in_either_order(options: dict[str, Any], seed: int) -> None:
    """Weights, interactions, a linear part, missing cells as evidence."""
    a, b = half(0, 0, **options).merge(half(1, seed)), half(1, seed).merge(half(0, 0, **options))
    rows = {"a": [1.0, -1.0, None], "b": [1.0, 1.0, -1.0]}
    np.testing.assert_allclose(a.predict_proba(rows), b.predict_proba(rows), atol=1e-9)
    assert a.model_.settings == b.model_.settings
    assert a.model_.settings.presence == "auto"
    assert a.weights == b.weights == "loo"
    assert a.interactions == b.interactions == options.get("interactions")


def texts(seed: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(30 * seed, 30 * seed + 60)]
    some = [" ".join(rng.choice(words, 8)) for _ in range(20)]
    return [*some, "stop the words"], rng.choice(["a", "b", "c"][: 1 + seed % 3], 21).tolist()


@pytest.mark.parametrize(
    "event",
    [
        Text(),
        Text(ngram_range=(1, 3)),
        Text(ngram_range=(2, 2), binary=True),
        Text("char_wb", (2, 4)),
        Text(ngram_range=(1, 2), stop_words=("the",)),
        Text(min_df=2),
        Text(features=32),
    ],
    ids=str,
)
def test_many_at_once_are_one_after_the_other(event: Text) -> None:
    """Words, tables that grow, classes that come late, and weights that are not whole."""
    models = []
    for i in range(6):
        X, y = texts(i)
        weight = np.random.default_rng(i).uniform(0.1, 2, len(y)) if i % 2 else None
        models.append(NaiveBayes(event, weights=None).fit(X, y, weight))
    before = [str(nb.tally_) for nb in models]
    total = Total.of(nb.tally_ for nb in models)
    pairwise = models[0].tally_
    for nb in models[1:]:
        pairwise = pairwise.combine(nb.tally_, type(pairwise.weight).__add__)
    assert [str(nb.tally_) for nb in models] == before  # nothing that was added has changed
    assert total.classes.tolist() == pairwise.classes.tolist()
    left = total - pairwise
    for sums in (left.weight, *(s for block in left.blocks.values() for s in block.sums.values())):
        assert not sums.high.any()
    axis = next(iter(total.blocks.values())).axis
    if not axis.hashed:
        assert axis.words == next(iter(pairwise.blocks.values())).axis.words
    again = Model.total(nb.model_ for nb in models)
    np.testing.assert_array_equal(again.counted.tally.class_count, total.class_count)
    assert models[0].merge(*models[1:]).class_count_.tolist() == total.class_count.tolist()


def test_what_was_handed_out_does_not_change_when_more_is_added() -> None:
    (X, y), (Z, z) = texts(0), texts(1)
    a, b = (NaiveBayes(Text(), weights=None).fit(*of).tally_ for of in ((X, y), (Z, z)))
    total = Total(a)
    total.add(b)
    first = total.tally()
    (block,) = first.blocks.values()
    words, sums = block.axis.words, {s: t.high.copy() for s, t in block.sums.items()}
    total.add(a)
    total.add(b)
    assert len(block.axis) == len(words)
    for statistic, table in sums.items():
        np.testing.assert_array_equal(block[statistic].high, table)
    np.testing.assert_array_equal(total.tally().class_count, 2 * first.class_count)


def test_words_selected_again_and_again_are_known_by_name_and_by_row() -> None:
    X, y = texts(0)
    tally = NaiveBayes(Text(), weights=None).fit(X, y).tally_
    (whole,) = (block.axis for block in tally.blocks.values())
    rng = np.random.default_rng(0)
    axis, rows = whole, np.arange(len(whole))
    for _ in range(3):
        keep = rng.random(len(axis)) < 0.7
        axis, rows = axis.select(keep), rows[keep]
    assert len(axis) == len(rows)
    place = axis.find(whole)
    np.testing.assert_array_equal(place[rows], np.arange(len(rows)))
    assert (np.delete(place, rows) == -1).all()
    assert axis.find(axis) is None
    assert axis.words == [whole.words[row] for row in rows]


def test_axes_of_words_are_found_and_joined_as_their_words_are() -> None:
    X, y = texts(0)
    (block,) = NaiveBayes(Text(), weights=None).fit(X, y).tally_.blocks.values()
    whole = block.axis
    more = whole.vocabulary.copy()
    more.add(["none", "of", "these", "was", "there"])
    grown = whole.grown(more)
    (other,) = NaiveBayes(Text(), weights=None).fit(*texts(1)).tally_.blocks.values()
    rng = np.random.default_rng(0)
    axes = [whole, grown, other.axis]
    axes += [axis.select(rng.random(len(axis)) < share) for axis in axes for share in (0.7, 0.0)]
    axes += [axis.select(rng.random(len(axis)) < 0.5) for axis in axes]
    for mine, theirs in product(axes, axes):
        row = {word: i for i, word in enumerate(mine.words)}
        place = mine.find(theirs)
        found = np.arange(len(theirs)) if place is None else place
        assert found.tolist() == [row.get(word, -1) for word in theirs.words]
        both, *places = mine.union(theirs)
        assert sorted(both.words) == sorted({*mine.words, *theirs.words})
        for axis, rows in zip((mine, theirs), places, strict=True):
            here = range(len(axis)) if rows is None else rows
            assert [both.words[i] for i in here] == axis.words


def test_a_word_that_nobody_has_is_none_of_a_sum() -> None:
    X = ["one two", "two three", "three four", "four five"]
    parts = [NaiveBayes(Text(), weights=None).fit([text], [1]).tally_ for text in X]
    total = reduce(add, parts)
    some = (total - parts[1] - parts[2]) + (total - parts[0] - parts[2] - parts[3])
    (block,) = some.blocks.values()
    assert sorted(block.axis.words) == ["five", "four", "one", "three", "two"]
    some = (total - parts[2] - parts[3] - parts[1]) + (total - parts[0] - parts[1] - parts[2])
    (block,) = some.blocks.values()
    assert sorted(block.axis.words) == ["five", "four", "one", "two"]


def test_nothing_to_add_up_is_said() -> None:
    with pytest.raises(ValueError, match="no model"):
        Model.total([])


@pytest.mark.parametrize("consume", [False, True])
def test_a_total_uses_its_first_model_up_only_if_it_may(consume: bool) -> None:
    texts = ["one two", "two three three", "three four one", "five two"]
    parts = [
        NaiveBayes(weights=None).fit([text], [label])
        for text, label in zip(texts, "abab", strict=True)
    ]
    first = next(iter(parts[0].tally_.blocks.values())).axis
    words, before = first.words, len(first)
    total = Model.total([nb.model_ for nb in parts], consume=consume)
    whole = NaiveBayes(weights=None).fit(texts, list("abab")).model_
    found, expected = (next(iter(model.counted.tally.blocks.values())) for model in (total, whole))
    assert found.axis.words == expected.axis.words
    np.testing.assert_array_equal(found[VALUE].high, expected[VALUE].high)
    assert (found.axis.vocabulary is first.vocabulary) == consume
    assert consume or (first.words, len(first)) == (words, before)


def test_a_tally_stays_as_it_is_when_a_sum_goes_on_with_its_words() -> None:
    (X, y), (Z, z) = texts(0), texts(1)
    schema, first = NaiveBayes(Text(), weights=None).fit(X, y).model_.counted.grouped
    rows = as_rows(["words that go on", "and on"], texts=True)
    batch = schema.encode(rows, encode_labels(["b", "a"]))
    more = count_batch(batch.on(first.axes), schema)
    others = NaiveBayes(Text(), weights=None).fit(Z, z).tally_
    alone = NaiveBayes(Text(), weights=None).fit(["words that go on", "and on"], ["b", "a"]).tally_
    before = [str(tally) for tally in (first, more, others)]
    total = Total.of([first, more, others])
    assert [str(tally) for tally in (first, more, others)] == before
    left = total - first - alone - others
    assert not any(s.high.any() for block in left.blocks.values() for s in block.sums.values())
    assert not left.weight.high.any()


def test_a_sum_goes_on_with_words_that_were_selected() -> None:
    X, y = texts(0)
    schema, first = NaiveBayes(Text(), weights=None).fit(X, y).model_.counted.grouped

    def counted(rows: list[str], labels: list[str], axes: Any) -> Any:
        batch = schema.encode(as_rows(rows, texts=True), encode_labels(labels))
        return count_batch(batch.on(axes), schema)

    more = counted(["gone words that go", "words that stay"], ["a", "b"], first.axes)
    less = more - counted(["gone words that go"], ["a"], more.axes)
    (block,) = less.blocks.values()
    assert sorted(block.axis.words) == ["stay", "that", "words"]
    total, expected = Total.of([first, less]), NaiveBayes(Text(), weights=None)
    expected.fit([*X, "words that stay"], [*y, "b"])
    found, of = (next(iter(t.blocks.values())) for t in (total, expected.tally_))
    at = [of.axis.words.index(word) for word in found.axis.words]
    np.testing.assert_array_equal(found[VALUE].high, of[VALUE].high[at])
    assert len(at) == len(of.axis)
