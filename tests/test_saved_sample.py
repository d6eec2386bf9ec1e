"""A model file with a sample of rows: what needs rows works after loading as it did before."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import Bernoulli, GaussianNB, Multinomial, NaiveBayes, Text, load
from naively.assess import folds as cross_validate
from naively.fitting import reservoir
from tests import damage
from tests.damage import Change, apart, assert_refused, change_of, rewrite
from tests.golden.make import alike, dependent


@pytest.fixture(autouse=True)
def few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two folds show whether two assessments agree as well as twenty do."""
    for name in ("MANY_FOLDS", "FOLDS"):
        monkeypatch.setattr(cross_validate, name, 2)


Table = tuple[Any, list[Any], np.ndarray | None]
WORDS = [f"{a}{b}" for a in "bcdfg" for b in ("ad", "en", "il", "op")]


def mixed(n: int, seed: int = 0) -> Table:
    """A table of every kind of column, with missing cells, equal rows and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(y, 2.0).round(1))
    notes = [" ".join(rng.choice(WORDS[4 * c : 4 * c + 10], 6)) for c in y.tolist()]
    X = {
        "size": size,
        "count": rng.poisson(y + 1).astype(float),
        "truth": rng.random(n) < 0.3 + 0.2 * y,
        "colour": rng.choice(["red", "green", "blue", None], n).astype(object),
        "note": np.array([None if i % 13 == 0 else note for i, note in enumerate(notes)], object),
        "when": np.datetime64("2026-01-01T00") + rng.integers(0, 9000, n).astype("timedelta64[h]"),
    }
    twice = np.arange(n) % (n - n // 10)  # a tenth of the rows come twice
    weight = rng.choice([0.0, 0.5, 1.0, 2.5], n)[twice]
    return {k: v[twice] for k, v in X.items()}, np.array(list("abc"))[y][twice].tolist(), weight


def matrix(n: int, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    counts = rng.poisson(np.array([[0.1, 2, 0.5], [2, 0.1, 0.5], [0.5, 0.5, 0.5]])[y])
    return sparse.csr_array(counts.astype(float)), y.tolist(), None


def texts(n: int, seed: int = 0) -> Table:
    X, y, _ = mixed(n, seed)
    return [note and f"{note} {i % 17}" for i, note in enumerate(X["note"])], y, None


def pairs(n: int, seed: int = 0) -> Table:
    X, y = dependent(2 * n + seed)  # enough of them for rules
    return {name: column[seed:] for name, column in X.items()}, y[seed:], None


def linear(n: int, seed: int = 0) -> Table:
    X, y = alike(n + seed)  # with products, and with cells that are missing
    return {name: column[seed:] for name, column in X.items()}, y[seed:], None


KINDS: dict[str, tuple[Callable[..., Table], Callable[[], NaiveBayes]]] = {
    "mixed": (mixed, NaiveBayes),
    "notes": (mixed, lambda: NaiveBayes({"note": Text(min_df=0.05, ngram_range=(1, 2))})),
    "temperature": (mixed, lambda: NaiveBayes(weights="temperature")),
    "pure": (mixed, lambda: NaiveBayes(weights=None)),
    "seed": (matrix, lambda: NaiveBayes(random_state=7)),
    "sparse": (matrix, NaiveBayes),
    "sparse-truths": (matrix, lambda: NaiveBayes(Bernoulli())),
    "texts": (texts, NaiveBayes),
    "words": (texts, lambda: NaiveBayes(text="words")),
    "hashed": (texts, lambda: NaiveBayes(Text(features=50, event=Multinomial()))),
    "frequent": (texts, lambda: NaiveBayes(Text(min_df=3, max_features=12))),
    "linear": (linear, lambda: NaiveBayes(interactions="auto")),
    "interactions": (pairs, lambda: NaiveBayes(interactions="auto")),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[Callable[..., Table], Callable[[], NaiveBayes]]:
    return KINDS[request.param]


def again(nb: Any, tmp_path: Path) -> NaiveBayes:
    """Save with the sample, and load."""
    path = tmp_path / "again.naively"
    nb.save(path, keep_rows=True)
    return load(path)


def split(table: Table) -> tuple[Table, Table]:
    X, y, weight = table
    at = len(y) // 2

    def part(of: slice) -> Table:
        some = {name: column[of] for name, column in X.items()} if type(X) is dict else X[of]
        return some, y[of], None if weight is None else weight[of]

    return part(slice(None, at)), part(slice(at, None))


def learn(nb: NaiveBayes, table: Table, verb: str = "fit") -> NaiveBayes:
    X, y, weight = table
    return getattr(nb, verb)(X, y, sample_weight=weight)


def same(a: NaiveBayes, b: NaiveBayes, X: Any, rtol: float = 1e-12) -> None:
    """Both predict alike and assess themselves alike."""
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=rtol, atol=1e-13)
    ours, theirs = a.assess(), b.assess()
    assert (ours.rows, ours.of, ours.why) == (theirs.rows, theirs.of, theirs.why)
    assert ours.log_loss == pytest.approx(theirs.log_loss, rel=rtol)
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-6, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("most", [150, 10_000])
def test_what_is_loaded_does_what_was_saved_would(
    kind: Any, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all rows, and of a sample of them."""
    monkeypatch.setattr(reservoir, "ROWS", most)
    monkeypatch.setattr(reservoir, "OF_ONE", most // 4)
    rows, make = kind
    table, more = rows(320), rows(400, 1)
    X = more[0]
    nb = learn(make(), table)
    loaded = again(nb, tmp_path)
    same(loaded, nb, X)
    for one in (loaded, nb):  # there are new levels and words, and the weights are fitted again
        learn(one, more, "partial_fit")
    assert (nb.weights is None) == (nb.weights_ is None)
    if nb.weights_ is not None:
        assert nb.weights_.rows == pytest.approx(nb.model_.view.rows.sum())
    same(again(loaded, tmp_path).calibrate(), nb.calibrate(), X)


def test_a_class_that_comes_late_finds_all_rows_that_were_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one weight and one class few rows are enough; those that two classes need are kept."""
    monkeypatch.setattr(reservoir, "OF_ONE", 50)
    x = np.random.default_rng(0).normal(size=(300, 1))
    nb = NaiveBayes("gaussian", weights="temperature").partial_fit(x, ["a"] * 300)
    assert nb.assess().rows == 50
    loaded = again(nb, tmp_path)
    assert loaded.assess().rows == 50
    for one in (nb, loaded):
        one.partial_fit(x[:60] + 1, ["b"] * 60)
        assert one.assess().rows == 100
    same(loaded, nb, x)


@pytest.mark.slow
def test_loaded_models_merge_as_those_that_were_saved(kind: Any, tmp_path: Path) -> None:
    rows, make = kind
    first, second = split(rows(300))
    X = first[0]
    parts = [learn(make(), part) for part in (first, second)]
    loaded = [again(part, tmp_path) for part in parts]
    merged = loaded[0].merge(loaded[1])
    if make().interactions is None:  # else either part chooses a larger sample
        same(merged, learn(make(), rows(300)), X, rtol=1e-8)
    same(merged, parts[0].merge(parts[1]), X)


def test_one_that_was_loaded_merges_with_one_in_memory(kind: Any, tmp_path: Path) -> None:
    rows, make = kind
    first, second = (learn(make(), part) for part in split(rows(300)))
    loaded = again(first, tmp_path)
    same(loaded.merge(second), first.merge(second), rows(9)[0])


def test_truths_that_become_numbers_and_levels_that_become_texts(tmp_path: Path) -> None:
    n = 60
    y = np.arange(n) % 2
    X = {"x": np.arange(n) % 3 % 2.0, "note": [f"all of the {i % 5}" for i in range(n)]}
    more = {"x": np.arange(n) % 4.0, "note": [f"none of all {i} of {i % 7}" for i in range(n)]}
    nb = NaiveBayes().fit(X, y)
    loaded = again(nb, tmp_path)
    for one in (nb, loaded):
        one.partial_fit(more, y)
    assert nb.schema_.kinds["note"] == "text"
    same(loaded, nb, more)


def test_batches_of_both_forms_stay_apart(tmp_path: Path) -> None:
    X, y, _ = matrix(300)
    nb = NaiveBayes(Multinomial()).fit(X[:100], y[:100]).partial_fit(X[100:].toarray(), y[100:])
    header, arrays = apart_of(nb, tmp_path)
    assert header["sample"]["batches"] == 2
    assert "sample/0/0/ends" in arrays
    assert "sample/1/0/values" in arrays
    same(again(nb, tmp_path), nb, X)


@pytest.mark.slow
@pytest.mark.parametrize("event", ["gaussian", "histogram", "categorical"])
def test_weights_that_are_rounded_where_rows_are_equal_are_no_damage(
    event: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, y = rng.integers(0, 3, (40, 1)), rng.integers(0, 3, 40)
        weight = rng.choice([0.1, 0.3, 1e5, 1e-90], 40)
        nb = NaiveBayes(event, weights=None).fit(X, y, weight)
        loaded = again(nb.merge(NaiveBayes(event, weights=None).fit(X, y, weight[::-1])), tmp_path)
        assert loaded.assess().rows == 80


def test_a_drop_in_saves_its_sample_too(tmp_path: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32), [0, 1] * 40
    nb = GaussianNB().fit(X, y)
    loaded = again(nb, tmp_path)
    assert loaded.assess().log_loss == pytest.approx(nb.assess().log_loss, rel=1e-12)


def apart_of(nb: NaiveBayes, tmp_path: Path, *, sample: bool = True) -> tuple[Any, Any]:
    nb.save(tmp_path / "apart.naively", keep_rows=sample)
    return apart(tmp_path / "apart.naively")


def test_by_default_no_row_is_in_the_file(tmp_path: Path) -> None:
    nb = learn(NaiveBayes(), mixed(100))
    header, arrays = apart_of(nb, tmp_path, sample=False)
    assert "sample" not in header
    assert not [name for name in arrays if name.startswith("sample")]
    whole_header, whole = apart_of(nb, tmp_path)
    assert {name: of for name, of in whole_header.items() if name != "sample"} == header
    assert {name for name in whole if not name.startswith("sample/")} == set(arrays)
    loaded = again(nb, tmp_path)
    loaded.save(tmp_path / "without.naively")
    with pytest.raises(ValueError, match="not in memory"):
        load(tmp_path / "without.naively").assess()


def test_no_text_is_in_the_file_in_one_piece(tmp_path: Path) -> None:
    text = "Zebra crossing: quietly, my name is Anna Karenina"
    X = {"note": [text, *(f"another {i} of some words" for i in range(40))], "x": range(41)}
    nb = NaiveBayes({"note": Text()}).fit(X, [0, *([0, 1] * 20)])
    nb.save(tmp_path / "m", keep_rows=True)
    content = (tmp_path / "m").read_bytes().lower()
    assert b"zebra crossing" not in content
    assert b"zebra" in content  # as a word, which every model of texts holds


def test_the_file_is_no_larger_than_what_it_holds(tmp_path: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(1000, 10)), [0, 1] * 500
    nb = NaiveBayes().fit(X, y)
    sizes = []
    for sample in (False, True):
        nb.save(tmp_path / "m", keep_rows=sample)
        sizes.append((tmp_path / "m").stat().st_size)
    assert sizes[1] - sizes[0] < 1000 * (10 * 8 + 28) + 2000
    _, arrays = apart_of(learn(NaiveBayes(), texts(300)), tmp_path)
    of_texts = [name for name in arrays if name.endswith("/items")]
    assert len(of_texts) == 3  # words, word bigrams and character n-grams
    of_sample = [name for name in arrays if name.startswith("sample/")]
    assert not [name for name in of_sample if name.endswith("/counts")]  # they are there, is all


@pytest.mark.parametrize(
    "change",
    [
        lambda nb: nb.forget([[1.0]], ["a"]),
        lambda nb: nb.decay(0.5),
        lambda nb: nb.merge(NaiveBayes(random_state=3).fit([[1.0], [3.0]], ["a", "b"])),
    ],
)
def test_where_there_is_no_sample_it_is_said(change: Any, tmp_path: Path) -> None:
    nb = NaiveBayes().fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
    change(nb)
    path = tmp_path / "m"
    with pytest.raises(ValueError, match="There is no sample of the learned rows to save"):
        nb.save(path, keep_rows=True)
    assert not path.exists()
    nb.save(path)


def test_rows_without_a_label_that_count_leave_no_sample(tmp_path: Path) -> None:
    nb = NaiveBayes().fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
    nb._exchange(model=nb.model_.counting(unlabelled_weight=0.3))
    with pytest.raises(ValueError, match="rows without a label count"):
        nb.save(tmp_path / "m", keep_rows=True)
    nb._exchange(model=nb.model_.counting(unlabelled_weight=0.0))
    assert again(nb, tmp_path).assess().rows == 4


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "model.naively"
    X, y, weight = mixed(60)
    X["words"] = np.array([f"{i % 7} words and {i % 5} words {i}" for i in range(60)], object)
    columns = {"words": Text(), "note": "text", "size": "gaussian"}
    learn(NaiveBayes(columns), (X, y, weight)).save(path, keep_rows=True)
    return path.read_bytes()


@pytest.fixture
def saved(whole: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "model.naively"
    path.write_bytes(whole)
    return path


array = partial(change_of, begin="sample/")
first = partial(damage.first, begin="sample/")


def all_of(new: int) -> Callable[[np.ndarray], Any]:
    return lambda of: np.full(len(of), new)


def header(**new: Any) -> Change:
    return lambda header, _: header["sample"].update(new)


LIES: dict[str, tuple[Change, str]] = {
    "no keys": (lambda _, arrays: arrays.pop("sample/0/keys"), "no array 'sample/0/keys'"),
    "keys of two dimensions": (array("/keys", lambda of: of[:, None]), "order of their keys"),
    "keys that fall": (array("/keys", lambda of: of[::-1].copy()), "order of their keys"),
    "keys twice": (array("/keys", lambda of: np.repeat(of[::2], 2)[: len(of)]), "order of their"),
    "fewer keys": (array("/keys", lambda of: of[1:]), "has shape"),
    "fewer labels": (array("/labels", lambda of: of[1:]), "has shape"),
    "a label of no class": (first("/labels", 3), "no such class"),
    "a label below": (first("/labels", -1), "no such class"),
    "labels of floats": (array("/labels", lambda of: of + 0.5), "of type float64"),
    "labels of 64 bits": (array("/labels", all_of(2**40)), "of type int64"),
    "labels of another row": (array("/labels", lambda of: of * 0), "not learned"),
    "a weight of nothing": (first("/weights", 0.0), "no weight"),
    "a weight below": (first("/weights", -1.0), "no weight"),
    "a weight that is none": (first("/weights", np.nan), "no weight"),
    "a weight without end": (first("/weights", np.inf), "no weight"),
    "a weight of more than all": (first("/weights", 1e9), "not learned"),
    "a copy of nothing": (first("/copies", 0), "no copy"),
    "copies without end": (array("/copies", all_of(2**63 - 1)), "more rows than were seen"),
    "copies that overflow": (array("/copies", all_of(2**62)), "more rows than were seen"),
    "fewer seen": (header(seen=3), "more rows than were seen"),
    "seen below": (header(seen=-1), "more rows than were seen"),
    "batches that lack": (header(batches=2), "no array 'sample/1/keys'"),
    "batches without end": (header(batches=2**62), "no array 'sample/1/keys'"),
    "no batches": (header(batches=0), "nothing uses the array"),
    "a seed that is none": (header(seed="x"), "not a whole number"),
    "a seed of more bits": (header(seed=2**64), "64 bits"),
    "more of it": (header(more=1), "has no 'more'"),
    "no sample": (lambda header, _: header.pop("sample"), "nothing uses the array"),
    "a sample of nothing": (lambda header, _: header.update(sample=[]), "a list"),
    "numbers of fewer columns": (array("/values", lambda of: of[:, 1:]), "has shape"),
    "numbers that were not learned": (first("/values", 1e6), "not learned"),
    "numbers without end": (first("/values", np.inf), "not learned"),
    "a code of no level": (first("/codes", 99), "no such level"),
    "a code below": (first("/codes", -2), "no such level"),
    "codes of fewer rows": (array("/codes", lambda of: of[1:]), "has shape"),
    "another code": (array("/codes", lambda of: of - of), "not learned"),
    "a word of no number": (first("/items", 2**31 - 1), "no such column or word"),
    "a word below": (first("/items", -1), "no such column or word"),
    "words of two dimensions": (array("/items", lambda of: of[:, None]), "where the next begin"),
    "more words": (array("/items", lambda of: np.append(of, of[-1])), "where the next begin"),
    "another word": (array("/items", lambda of: of * 0), "not learned"),
    "ends that fall": (array("/ends", lambda of: of[::-1].copy()), "where the next begin"),
    "an end below": (array("/ends", all_of(-(2**63))), "where the next begin"),
    "an end past all": (array("/ends", all_of(2**62)), "where the next begin"),
    "counts of nothing": (first("/counts", 0), "no copy of a word"),
    "counts below": (first("/counts", -5), "no copy of a word"),
    "counts without end": (first("/counts", 2**31 - 1), "not learned"),
    "fewer counts": (array("/counts", lambda of: of[1:]), "has shape"),
    "words of a missing text": (
        array("/missing", np.ones_like),
        "a text that is missing has words",
    ),
    "numbers of a text": (
        lambda _, arrays: arrays.update({"sample/0/0/numbers": np.ones(3)}),
        "nothing uses the array",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_sample_that_lies_is_refused_in_one_sentence(name: str, saved: Path) -> None:
    change, why = LIES[name]
    rewrite(saved, change)
    assert_refused(saved, why)


def test_a_row_in_two_batches_is_refused(tmp_path: Path) -> None:
    X, y, _ = matrix(40)
    path = tmp_path / "m"
    NaiveBayes(Multinomial()).fit(X, y).save(path, keep_rows=True)

    def double(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        header["sample"].update(batches=2, seen=80)
        for name in [name for name in arrays if name.startswith("sample/0/")]:
            arrays[name.replace("sample/0/", "sample/1/")] = arrays[name]

    rewrite(path, double)
    with pytest.raises(ValueError, match="a row is there twice"):
        load(path)


@pytest.mark.parametrize("event", ["gaussian", "histogram"])
def test_a_matrix_that_the_event_model_cannot_count_is_refused(event: str, tmp_path: Path) -> None:
    path = tmp_path / "m"
    NaiveBayes(event).fit([[1.0], [2.5]] * 3, [0, 1] * 3).save(path, keep_rows=True)

    def lie(_: Any, arrays: dict[str, np.ndarray]) -> None:
        values = arrays.pop("sample/0/0/values")
        arrays["sample/0/0/ends"] = np.arange(1, len(values) + 1)
        arrays["sample/0/0/items"] = np.zeros(len(values), np.int32)
        arrays["sample/0/0/numbers"] = values.ravel().copy()

    rewrite(path, lie)
    with pytest.raises(ValueError, match="no array 'sample/0/0/values'"):
        load(path)


def test_the_header_says_what_is_in_the_file(saved: Path) -> None:
    found, _ = apart(saved)
    assert json.dumps(found["sample"]).startswith('{"seed": ')
    assert found["sample"]["batches"] == 1
    sample = load(saved)._learned.sample
    assert sample is not None
    assert len(sample) == sample.seen == found["sample"]["seen"]
