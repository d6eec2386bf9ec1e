"""The reservoir is a uniform sample of the rows learned, in whatever batches they came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chi2, hypergeom

from naively import Model, NaiveBayes, Text
from naively.counting.block import Batch, Block
from naively.counting.labels import Labels, encode_labels
from naively.data.frames import as_rows
from naively.fitting import reservoir
from naively.fitting.reservoir import ANY, OF_ONE, Reservoir, SampleSize
from naively.fitting.sample import deal
from naively.fitting.weights import ROWS
from naively.schema.encode import Held
from tests.learning import learn, learn_table

UNLIKELY = 1e-4
MODEL, POISSON = (learn_table([[0.0], [1.0]], [0, 1], event) for event in ("gaussian", "poisson"))


def encoded(X: Any, labels: Labels) -> Batch:
    return MODEL.counted.schema.encode(as_rows(X), labels)


def sampled(nb: NaiveBayes) -> list[float]:
    """The numbers of the rows in the sample, which their only column holds."""
    return ids(nb._learned.sample, nb.model_)


def ids(sample: Reservoir, model: Model = MODEL) -> list[float]:
    return sorted(x for batch in drawn(sample, model) for x in first_column(batch).tolist())


def drawn(sample: Reservoir, model: Model = MODEL) -> list[Batch]:
    return sample.of(model).batches


def first_column(batch: Batch) -> np.ndarray:
    return Held(batch).numbers((0,)).values[:, 0]


def sample_of(
    n: int, cuts: list[int], seed: int, weight: Any = None, *, grows: bool = False
) -> Reservoir:
    """A reservoir of n rows, that came in batches."""
    X, y = np.arange(float(n))[:, None], np.arange(n) % 2
    sample = Reservoir.chosen_by(seed, grows=grows)
    for begin, end in zip([0, *cuts], [*cuts, n], strict=True):
        some = slice(begin, end)
        labels = encode_labels(y[some], None if weight is None else weight[some])
        sample = sample.added(encoded(X[some], labels)).for_model(MODEL)
    return sample


def often(n: int, cuts: list[int], seeds: int) -> np.ndarray:
    """How often each row is sampled."""
    count = np.zeros(n)
    for seed in range(seeds):
        count[np.array(ids(sample_of(n, cuts, seed)), int)] += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [[], [5], [1, 2, 35], [10, 20, 30]], ids=str)
def test_each_row_is_in_it_as_often_as_any_other(
    cuts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    n, size, seeds = 40, 10, 1000
    monkeypatch.setattr(reservoir, "sample_size", lambda *_: SampleSize(size, size, 0.0, ""))
    count = often(n, cuts, seeds)
    assert count.sum() == seeds * size  # always as many as it is to hold
    # As each sample has the same size, the counts of two rows are negatively correlated: the sum of
    # squares is that of n - 1 independent ones, once it is multiplied by (n - 1) / n.
    p = size / n
    spread = ((count - seeds * p) ** 2).sum() / (seeds * p * (1 - p)) * (n - 1) / n
    assert chi2.sf(spread, n - 1) > UNLIKELY
    late = count[cuts[-1] if cuts else n // 2 :]
    expected = seeds * p * len(late)
    assert abs(late.sum() - expected) < 4 * np.sqrt(expected)


@given(
    cuts=st.lists(st.integers(0, 3000), max_size=4),
    seed=st.integers(0, 100),
    zeros=st.sampled_from([0, 0.3]),
)
def test_it_is_the_same_in_any_batches(cuts: list[int], seed: int, zeros: float) -> None:
    weight = np.where(np.random.default_rng(seed).random(3000) < zeros, 0.0, 2.0)
    once = sample_of(3000, [], seed, weight)
    again = sample_of(3000, sorted({cut for cut in cuts if 0 < cut < 3000}), seed, weight)
    assert len(once) == 2 * OF_ONE
    assert ids(once) == ids(again)
    assert once.seen == again.seen == np.count_nonzero(weight)


@pytest.mark.parametrize("n", [5, 2 * OF_ONE + reservoir.WAIT // 2, 2 * OF_ONE + 150])
def test_rows_that_come_one_by_one_and_wait_are_in_it(n: int) -> None:
    before = max(1, n - 150)
    once, again = sample_of(n, [], 0), sample_of(n, list(range(before, n)), 0)
    assert len(again) == len(once)
    assert ids(again) == ids(once)
    waiting = sample_of(n, list(range(before, n)), 0)
    mine, others = (of.saved(MODEL) for of in (sample_of(n, [], 0), waiting))
    keys = [np.sort(np.concatenate([keys for _, keys, _ in of.batches])) for of in (mine, others)]
    np.testing.assert_array_equal(*keys)


@given(n=st.integers(1, 30), seed=st.integers(0, 1000), data=st.data())
def test_a_row_of_weight_0_is_never_in_it(n: int, seed: int, data: Any) -> None:
    weight = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 3.0]), min_size=n, max_size=n)))
    cut = data.draw(st.integers(0, n - 1))
    sample = sample_of(n, [cut] if cut else [], seed, weight)
    there = np.flatnonzero(weight)
    assert ids(sample) == there.tolist()  # and each other one is, where there are few
    assert sample.seen == len(there)
    for batch in drawn(sample):
        np.testing.assert_array_equal(batch.labels.weight, weight[first_column(batch).astype(int)])


@pytest.mark.slow
def test_classes_that_come_late_do_not_push_out_the_early_rows() -> None:
    # Of one class 500 rows are enough, of two 1,000; both batches must have their share of these.
    n = 1200
    X, y = np.arange(2.0 * n)[:, None], np.repeat(["a", "b"], n)
    shares = []
    for seed in range(20):
        late = NaiveBayes("gaussian", weights="temperature", random_state=seed)
        late.partial_fit(X[:n], y[:n])
        assert late.assess().rows == OF_ONE
        late.partial_fit(X[n:], y[n:])
        once = NaiveBayes("gaussian", weights="temperature", random_state=seed).fit(X, y)
        assert sampled(late) == sampled(once)
        shares.append(sum(x < n for x in sampled(late)))
    mean, sd = hypergeom(2 * n, n, 2 * OF_ONE).mean(), hypergeom(2 * n, n, 2 * OF_ONE).std()
    assert abs(np.mean(shares) - mean) < 4 * sd / np.sqrt(20)


def test_columns_that_come_late_need_more_rows() -> None:
    n = 1500
    x, y = np.arange(2.0 * n), np.arange(2 * n) % 2
    nb = NaiveBayes("gaussian", weights="temperature").partial_fit({"x": x[:n]}, y[:n])
    assert nb.assess().rows == 2 * OF_ONE
    nb.partial_fit({"x": x[n:], "z": x[n:]}, y[n:])
    assert len(sampled(nb)) == nb.assess().of == 2 * n


def test_random_state_chooses_the_rows() -> None:
    X, y = np.arange(3000.0)[:, None], np.arange(3000) % 2
    fits = [
        sampled(NaiveBayes("gaussian", weights="temperature", random_state=s).fit(X, y))
        for s in (None, None, 1, 1, np.random.default_rng(1))
    ]
    assert fits[0] == fits[1] != fits[2] == fits[3] == fits[4]


def test_an_assessment_says_how_many_rows_it_is_of_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 2
    texts = [f"{'spam' if c and rng.random() < 0.5 else 'ham'} and eggs number {i}"
             for i, c in enumerate(y)]  # fmt: skip
    found = NaiveBayes(Text()).fit(texts, y).assess()
    assert (found.rows, found.of) == (1000, 3000)
    assert str(found).splitlines()[6] == (
        "rests on           1,000 of 3,000 rows (a random sample: 500 of each class are enough "
        "for one weight), 500 of class 0; in brackets: about 95 % intervals"
    )
    few = NaiveBayes(Text()).fit(texts[:900], y[:900]).assess()
    assert (few.rows, few.of, few.why) == (900, 900, "")
    assert str(few).splitlines()[6].startswith("rests on           900 rows, 450 of class 0")
    assert ROWS == 10_000  # as the docstring says
    monkeypatch.setattr(reservoir, "ROWS", 200)
    X = rng.normal(size=(300, 2))
    many = NaiveBayes("gaussian").fit(X, X[:, 0] > rng.normal(size=len(X)))
    assert "200 of 300 rows (a random sample that is large enough)" in str(many.assess())


def test_the_larger_sample_grows_with_the_logarithm_of_the_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reservoir, "ROWS", 200)
    for n in (150, 200, 300, 3_000):
        sample = sample_of(n, [], 0, grows=True)
        assert len(sample.of(MODEL)) == min(n, 200)
        expected = min(n, 200 * (1 + np.log(max(n / 200, 1))))
        off = abs(len(sample.of(MODEL, larger=True)) - expected)
        assert off < 3 * np.sqrt(expected) * (n > 200) + 1
        assert set(ids(sample)) <= set(larger_ids(sample))


@pytest.mark.parametrize("cuts", [[5], [100, 900], [*range(50, 1_000, 50)]], ids=len)
def test_the_larger_sample_is_the_same_however_rows_come(
    cuts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservoir, "ROWS", 200)
    whole, parts = (sample_of(1_000, of, 3, grows=True) for of in ([], cuts))
    assert larger_ids(parts) == larger_ids(whole)
    a, b = sample_of(1_000, [], 3, grows=True), Reservoir.chosen_by(3, grows=True)
    X, y = np.arange(1_000.0, 2_500.0)[:, None], np.arange(1_500) % 2
    b = b.added(encoded(X, encode_labels(y))).for_model(MODEL)
    merged, refit = a.merged(b, MODEL), sample_of(2_500, [], 3, grows=True)
    assert merged is not None
    assert larger_ids(merged) == larger_ids(refit)


def test_without_interactions_no_larger_sample_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reservoir, "ROWS", 200)
    plain, growing = sample_of(1_000, [], 3), sample_of(1_000, [], 3, grows=True)
    one_of_each = 2  # by which it is known that there were more
    assert len(plain.saved(MODEL)) == 200 + one_of_each < len(growing.saved(MODEL))
    # Of one part fewer rows are known: no more than the least keys of both are a fair sample.
    merged = plain.merged(growing, MODEL)
    assert merged is not None
    assert len(set(larger_ids(merged))) == 200


def larger_ids(sample: Reservoir) -> list[float]:
    """The numbers of the rows in the larger sample."""
    batches = sample.of(MODEL, larger=True).batches
    return sorted(x for batch in batches for x in first_column(batch).tolist())


def test_of_very_many_weights_there_are_as_many_rows_as_memory_is_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reservoir, "CELLS", 6000)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 10)), rng.integers(0, 2, 900)
    found = NaiveBayes("gaussian").fit(X, y).assess()
    assert found.rows == 300
    why = "(a random sample as large as memory allows, with 10 weights of 2 classes)"
    assert f"300 of 900 rows {why}" in str(found)


def test_batches_that_are_held_differently_stay_apart_and_keep_their_keys() -> None:
    X, y = np.arange(400.0).reshape(-1, 1), np.arange(400) % 2
    sample = ANY
    cuts = [slice(0, 100), slice(100, 200), slice(200, 300), slice(300, 400)]
    for i, cut in enumerate(cuts):
        rows = sparse.csr_array(X[cut]) if i == 0 else X[cut]
        sample = sample.added(
            POISSON.counted.schema.encode(as_rows(rows), encode_labels(y[cut]))
        ).for_model(POISSON)
        assert len(sample) == 100 * (i + 1)
    assert [len(batch) for batch in drawn(sample, POISSON)] == [100, 300]
    # A row that came both ways is one row with two copies.
    sample = sample.added(
        POISSON.counted.schema.encode(as_rows(X[:150]), encode_labels(y[:150]))
    ).for_model(POISSON)
    assert len(sample) == 550
    assert [len(batch) for batch in drawn(sample, POISSON)] == [100, 300]
    kept = np.concatenate([of.batch.times for of in sample._sample()])
    assert kept.tolist().count(2) == 150


def test_batches_that_are_held_in_turn_in_two_forms_become_two() -> None:
    X, y = np.arange(400.0).reshape(-1, 1), np.arange(400) % 2
    sample = ANY
    for i, rows in enumerate(np.split(np.arange(400), 40)):
        of = sparse.csr_array(X[rows]) if i % 2 else X[rows]
        sample = sample.added(
            POISSON.counted.schema.encode(as_rows(of), encode_labels(y[rows]))
        ).for_model(POISSON)
        assert len(sample.held[0]) <= reservoir.SEVERAL
    assert [len(batch) for batch in drawn(sample, POISSON)] == [200, 200]


def test_equal_rows_are_kept_once_with_their_copies_and_weights() -> None:
    X = np.array([[1.0], [2.0], [1.0], [1.0], [np.nan], [np.nan], [0.0]])
    y, weight = [0, 0, 0, 1, 1, 1, 1], np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.0, 1.0])
    sample = ANY
    sample = sample.added(encoded(X, encode_labels(y, weight))).for_model(MODEL)
    (batch,) = drawn(sample)
    rows = zip(
        first_column(batch).tolist(),
        batch.labels.codes.tolist(),
        batch.labels.weights.tolist(),
        batch.times.tolist(),
        strict=True,
    )
    expected = [(1.0, 0, 1.5, 2), (2.0, 0, 2.0, 1), (1.0, 1, 3.0, 1), (0.0, 1, 1.0, 1)]
    found = [row for row in rows if not np.isnan(row[0])]
    assert sorted(found) == sorted(expected)
    assert len(batch) == 5
    assert sample.seen == len(sample) == 7


@given(keys=st.lists(st.integers(0, 12), max_size=60), most=st.integers(0, 20))
def test_the_least_keys_are_found_among_copies(keys: list[int], most: int) -> None:
    found = reservoir._least_different(np.array(keys, np.uint64), most)
    assert found.tolist() == sorted(set(keys))[:most]


def test_copies_of_a_row_are_dealt_out_to_all_folds() -> None:
    X, y = np.repeat([[1.0], [2.0]], [7, 5], axis=0), np.zeros(12, int)
    sample = ANY
    sample = sample.added(encoded(X, encode_labels(y))).for_model(MODEL)
    whole = sample.of(MODEL)
    dealt = deal(whole.labels, whole.copies, 3)
    np.testing.assert_array_equal(dealt.sum(axis=1), whole.copies)
    np.testing.assert_array_equal(dealt.sum(axis=0), [4, 4, 4])
    part = whole.keep(dealt[:, 0])
    np.testing.assert_allclose(part.labels.weights, part.copies)
    assert len(part) == 4


def test_a_row_that_came_a_billion_times_is_dealt_out_in_no_memory() -> None:
    codes, copies = np.array([0, 1, 0], np.int32), np.array([10**9, 2, 4])
    dealt = deal(Labels(codes, np.array(["a", "b"])), copies, 5)
    np.testing.assert_array_equal(dealt.sum(axis=1), copies)
    np.testing.assert_array_equal(np.ptp(dealt, axis=1), [0, 1, 1])
    np.testing.assert_array_equal(dealt[codes == 0].sum(axis=0) - 2 * 10**8, [1, 1, 1, 1, 0])


def mixed(n: int) -> tuple[dict[str, Any], list[str]]:
    """A table of every kind of column, some rows of which are equal."""
    rng = np.random.default_rng(3)
    size = rng.integers(0, 3, n) + 0.5
    size[rng.random(n) < 0.1] = np.nan
    y = np.where(rng.random(n) < 0.3, "p", np.where(np.nan_to_num(size) > 1, "q", "r"))
    note = [f"{a} {b} and so on" for a, b in zip(y, rng.choice(list("uvw"), n), strict=True)]
    times = np.datetime64("2026-01-01") + rng.integers(0, 900, n).astype("timedelta64[D]")
    return {
        "size": size,
        "truth": rng.integers(0, 2, n).astype(bool),
        "colour": rng.choice(["red", "green", "blue"], n).astype(object),
        "note": np.array(note, object),
        "when": times.astype("datetime64[us]"),
    }, y.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 1500])
@pytest.mark.parametrize("settings", [{}, {"weights": "temperature"}, {"text": "words"}], ids=str)
def test_merging_is_refitting_to_the_last_bit_and_so_is_any_order(
    n: int, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservoir, "ROWS", 400)
    X, y = mixed(n)

    def part(index: Any) -> tuple[dict[str, Any], list[str]]:
        return {name: column[index] for name, column in X.items()}, np.array(y)[index].tolist()

    whole = NaiveBayes(**settings).fit(X, y)
    order = np.random.default_rng(0).permutation(n)
    cuts = np.split(order, [n // 3, n // 2])
    first, second, third = (NaiveBayes(**settings).fit(*part(cut)) for cut in cuts)
    merged = first.merge(second.merge(third))
    shuffled = NaiveBayes(**settings).fit(*part(order))
    for other in (merged, shuffled):
        np.testing.assert_allclose(
            other.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12
        )
        assert other.assess().log_loss == pytest.approx(whole.assess().log_loss, rel=1e-9)
        assert len(other._learned.sample or ()) == len(whole._learned.sample or ())


def test_of_many_batches_one_is_made() -> None:
    X, y = mixed(400)
    X["text"] = np.array([f"{y[i]} words of {i % 50} and {i}" for i in range(400)], object)
    many = NaiveBayes(weights="temperature")
    for rows in np.split(np.arange(400), 40):
        many.partial_fit({name: column[rows] for name, column in X.items()}, np.array(y)[rows])
    assert len(many._learned.sample.held[0]) <= reservoir.SEVERAL
    whole = NaiveBayes(weights="temperature").fit(X, y)
    assert len(many._learned.sample) == len(whole._learned.sample) == 400
    many.calibrate()
    np.testing.assert_allclose(many.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_merging_texts_is_refitting_whatever_words_each_part_has() -> None:
    texts = ["good film here", "bad film there", "good one", "no bad one"] * 8
    texts += [f"{'good' if i % 3 else 'bad'} number {i} of all" for i in range(60)]
    y = ["p", "n", "p", "n"] * 8 + ["n" if i % 4 else "p" for i in range(60)]
    whole = NaiveBayes().fit(texts, y)
    parts = [NaiveBayes().fit(texts[of], y[of]) for of in (slice(0, 40), slice(40, None))]
    merged = parts[1].merge(parts[0])
    np.testing.assert_allclose(merged.predict_proba(texts), whole.predict_proba(texts), rtol=1e-9)
    assert merged.assess().log_loss == pytest.approx(whole.assess().log_loss, rel=1e-9)


def test_samples_of_other_seeds_do_not_merge_and_weights_are_averaged() -> None:
    X, y = np.arange(40.0)[:, None] % 7, np.arange(40) % 2
    a, b = (NaiveBayes(random_state=seed).fit(X, y) for seed in (1, 2))
    assert a.weights_ is not None
    rows = a.weights_.rows
    a.merge(b)
    assert a._learned.sample is None
    assert a.weights_.rows == 2 * rows


def test_rows_are_encoded_again_as_the_rows_themselves_would_be() -> None:
    """Truths that are constant are numbers: a group has its columns in another order then."""
    X, y = mixed(300)
    table = {"none": np.zeros(300), **X, "ones": np.ones(300), "tail": np.arange(300) % 7.0}
    table |= {"both": np.arange(300) % 2.0}
    nb = NaiveBayes().fit(table, y)
    rows, labels = as_rows(table), encode_labels(y)
    own = nb.model_.recode(nb.model_.counted.schema.encode(rows, labels))
    given = nb.model_.encode(rows, labels).split()
    assert own.blocks.keys() == given.blocks.keys()
    np.testing.assert_array_equal(nb.model_.score(own, "joint"), nb.model_.score(given, "joint"))
    for key, block in own.blocks.items():
        assert tuple(block.axis.columns) == tuple(given.blocks[key].axis.columns)
        for mine, its in zip(block.entries(), given.blocks[key].entries(), strict=True):
            np.testing.assert_array_equal(mine, its)


def test_rows_are_encoded_again_for_a_model_that_knows_fewer_levels_and_words() -> None:
    """As the rows themselves would be: what is unseen stays unseen, and what is missing missing."""
    X, y = mixed(200)
    X["colour"] = np.array(["rare", None, *X["colour"][2:]], object)
    notes = [f"{note} of number {i}" for i, note in enumerate(X["note"][2:])]
    X["note"] = np.array(["one rare word here", None, *notes], object)
    rows, labels = as_rows(X), encode_labels(y)
    known = np.arange(2, 200)
    whole = learn(rows, labels)
    part = Model.learn(rows.take(known), labels.take(known), whole.counted.schema)
    given = part.encode(rows, labels).split()
    as_they_came = whole.counted.schema.encode(rows, labels)
    of_model = whole.encode(rows, labels).split()  # by its words, some of which are not known
    for own in (part.recode(of).split() for of in (as_they_came, of_model)):
        np.testing.assert_array_equal(part.score(own, "joint"), part.score(given, "joint"))
        for key, block in own.blocks.items():
            assert len(block) == len(given.blocks[key]) == 200
            for mine, its in zip(cells(block), cells(given.blocks[key]), strict=True):
                np.testing.assert_array_equal(mine, its)


def cells(block: Block) -> list[np.ndarray]:
    """The cells of a block, in order of row and item."""
    entries = block.entries()
    order = np.lexsort(entries[1::-1])
    return [part[order] for part in entries]
