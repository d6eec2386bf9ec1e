"""Models with noise in their counts: what one row changes, what is refused, what stays lawful."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naively import (
    Bernoulli,
    Categorical,
    Complement,
    Histogram,
    JointTable,
    KernelDensity,
    Model,
    Multinomial,
    NaiveBayes,
    Text,
    load,
)
from naively.counting.axis import PRESENT, VALUE
from naively.file import store
from naively.model.counted import AddedNoise
from naively.schema.schema import Group
from naively.wings.private import (
    DiscreteGaussian,
    DiscreteLaplace,
    Noise,
    Sensitivity,
    change_of,
    choose,
    is_declared,
    is_once,
    random_below,
    regular,
    with_noise,
)
from tests.cases import CASES, TEXT, Case, Cells, objects
from tests.damage import rewrite
from tests.laws import Sample, samples
from tests.test_noise import exact_delta, mass, support

RESOLUTION = 3
BOUNDED = [
    Text(binary=True, max_tokens=2, event=Multinomial()),
    Text(max_tokens=3, event=Multinomial()),
    Text(max_tokens=2, event=Bernoulli()),
    Text(binary=True, max_tokens=2, features=4, event=Complement()),
    Text(max_tokens=3, vocabulary=["buy", "lunch", "never"], event=Multinomial()),
    Text(binary=True, max_tokens=1, stop_words=["buy"], event=Multinomial()),
    Text(binary=True, max_tokens=2, token_pattern=r"\w+", event=Multinomial()),  # noqa: S106
]
MIXED = {"size": Histogram(), "colour": Categorical(), "member": Bernoulli(), "note": BOUNDED[0]}
HISTOGRAMS = Bernoulli | Categorical | Histogram | JointTable | KernelDensity
HIDDEN = [
    *(case for case in CASES if isinstance(case.event, HISTOGRAMS) and not case.text),
    *(Case(text, TEXT, objects, text=True) for text in BOUNDED),
    Case(MIXED, name="mixed"),
]
REFUSED = [
    *(case for case in CASES if case not in HIDDEN),
    Case(Text(max_tokens=2, min_df=2, event=Multinomial()), TEXT, objects, text=True),
]

Counts = dict[Hashable, float]


Table = tuple[Group, np.ndarray | None, list[Hashable], np.ndarray]


def tables(model: Model) -> Iterator[Table]:
    """Yield what noise is added to: the group, what is declared (if anything), names, counts."""
    for group in model.counted.schema.groups:
        block = regular(group, model.counted.tally.blocks[group.key], RESOLUTION)
        names: list[Hashable] = [block.axis.label(row) for row in range(len(block.axis))]
        known = block.axis.stays if is_declared(block.axis) else None
        if PRESENT not in block.sums:
            (sums,) = block.sums.values()
            yield group, known, names, sums.high
            continue
        present, value = (block[s].high for s in (PRESENT, VALUE))
        yield group, known, names, value
        if len(present) == len(value) and group.analyser is None:
            yield group, known, [("false", name) for name in names], present - value
        else:
            yield group, np.ones(len(present), np.bool_), ["present"], present


def vector(model: Model) -> Counts:
    """All counts that noise is added to, by what they are of, but those that are 0."""
    classes = model.classes.tolist()
    of: list[tuple[Hashable, np.ndarray]] = [("rows", model.counted.tally.class_count)]
    for group, _, names, counts in tables(model):
        of += [((group.key, name), row) for name, row in zip(names, counts, strict=True)]
    return {
        (what, label): count
        for what, row in of
        for label, count in zip(classes, row.tolist(), strict=True)
        if count
    }


def changes(model: Model) -> Sensitivity:
    """What one row changes of all counts together."""
    groups = model.counted.schema.groups
    each = [change_of(g, regular(g, model.counted.tally.blocks[g.key], RESOLUTION)) for g in groups]
    added, squared, new = (sum(of) for of in zip(Sensitivity(1, 1, 0), *each, strict=True))
    return Sensitivity(added, squared, new)


def undeclared(model: Model) -> set[Hashable]:
    """What only rows name."""
    return {
        (group.key, name)
        for group, known, names, counts in tables(model)
        for name, row in zip(names, counts, strict=True)
        if known is None and row.any()
    }


@pytest.mark.parametrize("case", HIDDEN, ids=repr)
@given(data=st.data())
def test_one_row_changes_no_more_than_is_accounted(case: Case, data: st.DataObject) -> None:
    table = data.draw(samples(case, least=2))
    row = data.draw(st.integers(0, len(table) - 1))
    rest = np.delete(np.arange(len(table)), row)
    model, without = table.model, table.take(rest).model
    change, more, less = changes(model), vector(model), vector(without)
    difference = np.array([more.get(of, 0.0) - less.get(of, 0.0) for of in {*more, *less}])
    assert np.abs(difference).sum() <= change.added
    assert (difference**2).sum() <= change.squared
    assert len(undeclared(model) - undeclared(without)) <= change.new
    assert change == changes(without)  # the bound itself depends on no row


@pytest.mark.parametrize(
    ("event", "X", "expected"),
    [
        (Categorical(), {"a": ["x"], "b": ["y"]}, Sensitivity(3, 3, 2)),
        (Categorical(levels=["x", "y"]), {"a": ["x"], "b": ["y"]}, Sensitivity(3, 3, 0)),
        (Histogram(), {"a": [1.0], "b": [2.0]}, Sensitivity(3, 3, 2)),
        (Bernoulli(), {"a": [1.0], "b": [0.0]}, Sensitivity(3, 3, 0)),
        (JointTable(), {"a": ["x"], "b": ["y"]}, Sensitivity(2, 2, 1)),
        ({"a": Text(binary=True, max_tokens=2)}, {"a": ["one two six"]}, Sensitivity(4, 4, 2)),
        ({"a": Text(max_tokens=1)}, {"a": ["one one one"]}, Sensitivity(3, 3, 1)),
        ({"a": Text(max_tokens=2, event="bernoulli")}, {"a": ["one two"]}, Sensitivity(4, 4, 2)),
        ({"a": Text(max_tokens=2, vocabulary=["one"])}, {"a": ["one one"]}, Sensitivity(4, 6, 0)),
    ],
)
def test_some_row_changes_as_much_as_is_accounted(event, X, expected) -> None:
    model = NaiveBayes(event, weights=None).fit(X, ["c"]).model_
    assert changes(model) == expected
    counts = np.array([*vector(model).values()])
    assert np.abs(counts).sum() == expected.added
    assert (counts**2).sum() == expected.squared
    assert len(undeclared(model)) == expected.new


def two_rows(case: Case) -> Model:
    """A model of two rows of a case."""
    cells = {"number": [1.0, 2.0], "string": ["buy now", "lunch"], "boolean": [True, False]}
    names = [*case.event] if isinstance(case.event, dict) else ["c0"]

    def column(of: Cells) -> np.ndarray:
        return of.column(cells.get(of.kind, [0, 100]))

    columns = {name: column(case.cells(name)) for name in names}
    return Sample(case, columns, np.array(["a", "b"])).model


@pytest.mark.parametrize("case", REFUSED, ids=repr)
def test_what_a_row_changes_without_bound_is_refused(case: Case) -> None:
    model = two_rows(case)
    with pytest.raises(ValueError, match=r"olumn '\w+' .* no noise can hide"):
        with_noise(model, 1.0, 1e-6, random_below(0))


def test_what_is_refused_is_of_every_kind() -> None:
    names = {type(case.event).__name__ for case in REFUSED}
    assert names >= {"Gaussian", "LogNormal", "Poisson", "Exponential", "Multinomial", "Text"}
    assert Case(Text(features=16, event=Bernoulli()), TEXT, objects, text=True).event in [
        case.event for case in REFUSED
    ]


def exactly(model: Model) -> Model:
    """Return a model with noise that is hardly ever other than 0, of so few columns."""
    return with_noise(model, 100.0, 0.9, random_below(0), RESOLUTION)


@pytest.mark.parametrize("case", HIDDEN, ids=repr)
@given(data=st.data())
def test_nothing_but_noise_and_the_threshold_changes_counts(
    case: Case, data: st.DataObject
) -> None:
    model = data.draw(samples(case)).model
    again = exactly(model)
    (noise,) = again.counted.noise
    expected: Counts = {
        ("rows", c): n
        for c, n in zip(again.classes.tolist(), again.counted.tally.class_count, strict=True)
    }
    at_least_1 = np.maximum(model.counted.tally.class_count, 1)
    assert again.counted.tally.class_count.tolist() == at_least_1.tolist()
    for group, known, names, counts in tables(model):
        seen = counts.max(axis=1, initial=0.0) >= noise.threshold
        keep = seen if known is None else known
        expected |= {
            ((group.key, name), label): count
            for name, row, kept in zip(names, counts, keep, strict=True)
            for label, count in zip(model.classes.tolist(), row.tolist(), strict=True)
            if kept and count
        }
    assert vector(again) == {of: count for of, count in expected.items() if count}


@pytest.mark.parametrize("case", HIDDEN, ids=repr)
@given(data=st.data())
def test_a_noisy_model_is_lawful(case: Case, data: st.DataObject) -> None:
    table = data.draw(samples(case))
    epsilon, seed = data.draw(st.sampled_from([0.3, 3.0])), data.draw(st.integers(0, 99))
    noisy = with_noise(table.model, epsilon, 0.1, random_below(seed))
    noise, threshold = choose(epsilon, 0.1, changes(table.model), len(table.model.classes))
    assert noisy.counted.noise == (
        AddedNoise(epsilon, 0.1, noise.mechanism, noise.deviation, threshold),
    )
    assert noisy.counted.impossible is None
    assert noisy.classes.tolist() == table.model.classes.tolist()
    again = store.from_bytes(store.to_bytes(noisy)).model
    assert again.counted.noise == noisy.counted.noise
    assert vector(again) == vector(noisy)
    p = again.posterior(table.rows)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p, noisy.posterior(table.rows), rtol=1e-9, atol=1e-12)
    both = noisy + again
    assert both.counted.noise == noisy.counted.noise * 2
    assert np.isfinite(both.posterior(table.rows)).all()
    for group in noisy.counted.schema.groups:
        block = noisy.counted.tally.blocks[group.key]
        for sums in block.sums.values():
            assert (sums.high == np.rint(sums.high)).all()
            assert not sums.low.any()
        if is_once(group) and group.analyser is not None:  # a word comes once in a text
            assert (block[VALUE].high <= block[PRESENT].high).all()


@pytest.mark.slow
def test_a_word_that_noise_leaves_without_counts_is_not_kept() -> None:
    """A count of a word above the threshold is 0 where the noise says that no text was there."""
    (case,) = (case for case in HIDDEN if case.text and case.event.event.shares)
    texts = objects(["buy now", "", "", "", "", "", "", "now lunch"])
    model = Sample(case, {"c0": texts}, np.array(list("aaaaaabc"))).model
    for seed in range(400):
        (block,) = with_noise(model, 0.3, 0.1, random_below(seed)).counted.tally.blocks.values()
        assert block[VALUE].high.any(axis=1).all()


def many_columns(n: int = 4000) -> dict[str, np.ndarray]:
    """Columns whose counts are all far above any noise of epsilon 3."""
    rng = np.random.default_rng(0)
    return {f"c{j}": np.array(list("abcd"), object)[rng.integers(0, 4, n)] for j in range(6)}


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("kind", ["levels", "truths", "cells", "words"])
def test_every_count_has_the_noise_that_is_said(kind: str, delta: float) -> None:
    columns, n = many_columns(), 4000
    y = np.arange(n) % 2
    event: Any = Categorical(levels=["a", "b", "c", "d"])
    X: Any = columns
    if kind == "truths":
        event, X = Bernoulli(), {name: (of > "b").astype(float) for name, of in columns.items()}
    elif kind == "words":
        words = [*(f"w{i}{c}" for i in range(6) for c in "abcd")]
        X = {"text": [" ".join(f"w{i}{c}" for i, c in enumerate(row)) for row in
                      zip(*columns.values(), strict=True)]}  # fmt: skip
        event = {"text": Text(binary=True, max_tokens=6, vocabulary=words)}
    elif kind == "cells":
        delta = delta or 1e-3
        event, X = Histogram(), {name: (of > "b") + 1.0 for name, of in columns.items()}
    model = NaiveBayes(event, weights=None).fit(X, y).model_
    before, found, chosen = vector(model), [], set()
    for seed in range(15):
        noisy = with_noise(model, 3.0, delta, random_below(seed))
        (noise,) = noisy.counted.noise
        after = vector(noisy)
        assert after.keys() == before.keys()
        differ = np.array([after[of] - count for of, count in before.items()])
        # Where a column has more cells than there are rows, it is scaled down a little.
        found += differ.tolist()
        chosen |= {(noise.mechanism, noise.deviation)}
    ((mechanism, deviation),) = chosen
    assert mechanism == "discrete Laplace" or delta > 0
    assert np.std(found) == pytest.approx(deviation, rel=0.25)
    every = np.array(found).reshape(15, -1)
    assert (every.std(axis=0) > 0).all()  # no count is left out
    assert np.abs(np.corrcoef(every[:, :8].T) - np.eye(8)).max() < 0.999  # nor is noise used twice


def test_a_declared_level_without_rows_has_noise_too() -> None:
    nb = NaiveBayes(Categorical(levels=["a", "never"]), weights=None)
    model = nb.fit({"x": ["a"] * 500}, ["c"] * 500).model_
    never = [
        with_noise(model, 0.2, 0.0, random_below(seed)).counted.tally.blocks[
            model.counted.schema.groups[0].key
        ]
        for seed in range(30)
    ]
    assert len({block[next(iter(block.sums))].high[1, 0] for block in never}) > 5


def test_what_one_row_alone_names_is_not_shown() -> None:
    n = 300
    X = {
        "level": ["common"] * n + ["secret"],
        "number": [1.0] * n + [1e9],
        "text": ["usual words"] * n + ["password"],
    }
    nb = NaiveBayes({"text": Text(binary=True, max_tokens=5)}, weights=None)
    nb.fit(X, ["a", "b"] * (n // 2) + ["a"])
    for seed in range(50):
        noisy = nb.export.with_noise(2.0, 1e-6, random_state=seed)
        content = store.to_bytes(noisy.model_)
        assert b"secret" not in content
        assert b"password" not in content
        assert b"common" in content
        (cells,) = (b.axis for b in noisy.tally_.blocks.values() if "number" in b.axis.columns)
        assert len(cells) == 1
    assert b"secret" in store.to_bytes(nb.model_)


def test_the_order_of_rows_does_not_show() -> None:
    rng = np.random.default_rng(0)
    X = {"level": rng.choice(["x", "a", "m", "b"], 400).astype(object),
         "text": rng.choice(["zoo ant", "bee", "cat dog"], 400).astype(object)}  # fmt: skip
    y = rng.choice(["p", "q"], 400)
    contents = set()
    for order in (np.arange(400), np.arange(400)[::-1], rng.permutation(400)):
        nb = NaiveBayes({"text": Text(binary=True, max_tokens=3)}, weights=None)
        nb.fit({name: of[order] for name, of in X.items()}, y[order])
        contents.add(store.to_bytes(exactly(nb.model_)))
    assert len(contents) == 1


def test_numbers_are_counted_in_cells_that_follow_from_no_row() -> None:
    x = np.random.default_rng(0).lognormal(3, 1, 2000)
    nb = NaiveBayes(Histogram(), weights=None).fit(x[:, None], np.zeros(2000, int))
    for resolution in (0, 3, 5):
        noisy = with_noise(nb.model_, 100.0, 0.9, random_below(0), resolution)
        ((block),) = noisy.counted.tally.blocks.values()
        edges = [
            2.0**e * (1 + i / 2**resolution) for e in range(-5, 12) for i in range(2**resolution)
        ]
        counts, _ = np.histogram(x, edges)
        (sums,) = block.sums.values()
        assert sums.high[:, 0].tolist() == counts[counts > 1].tolist()
        kept = np.array(edges[:-1])[counts > 1]
        np.testing.assert_array_equal(block.axis.low, kept)


def test_a_column_of_coarser_cells_is_refused() -> None:
    x = np.concatenate([2.0 ** np.arange(-1000, 1000), -(2.0 ** np.arange(-1000, 1000))])
    nb = NaiveBayes(Histogram(), weights=None).fit(x[:, None], np.zeros(len(x), int))
    with pytest.raises(ValueError, match="'x0' was counted in coarser"):
        nb.export.with_noise(1.0, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize(
    "change", [Sensitivity(2, 2, 1), Sensitivity(15, 15, 14), Sensitivity(22, 402, 20)]
)
@pytest.mark.parametrize("classes", [1, 2, 20])
@pytest.mark.parametrize("delta", [1e-5, 0.5])
def test_the_deltas_of_noise_and_threshold_add_up(epsilon, change, classes, delta) -> None:
    noise, threshold = choose(epsilon, delta, change, classes)
    x = support(noise)
    each = mass(noise, x)[1 + x >= threshold].sum()
    shown = 1 - (1 - each) ** (change.new * classes)  # a new level is kept in some class
    d = change.added if change.added == change.squared else 0
    of_noise = exact_delta(noise, d, epsilon) if d else 0.0
    assert of_noise + shown / (1 - shown) <= delta
    more = mass(noise, x)[1 + x >= threshold - 2].sum() * change.new * classes
    assert threshold < 4 or more > delta / 4  # and it is not much higher than it must be
    if isinstance(noise, DiscreteLaplace):
        other: Noise = DiscreteGaussian.hiding(change.squared, epsilon, delta / 2)
        share = delta / 2
    else:
        other, share = DiscreteLaplace.hiding(change.added, epsilon), delta
    its_threshold = other.threshold(share / (1 + share) / (change.new * classes))
    assert other.deviation * its_threshold >= noise.deviation * threshold


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_where_all_is_declared_the_whole_delta_is_for_the_noise(epsilon: float) -> None:
    few, many = Sensitivity(2, 2, 0), Sensitivity(60, 60, 0)
    assert choose(epsilon, 0.0, many, 2) == (DiscreteLaplace.hiding(60, epsilon), 0)
    assert choose(epsilon, 1e-6, many, 2) == (DiscreteGaussian.hiding(60, epsilon, 1e-6), 0)
    assert choose(epsilon, 1e-6, few, 2) == (DiscreteLaplace.hiding(2, epsilon), 0)


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [
        (0.0, 1e-6, "epsilon must be from 1e-06 to 100, got 0.0"),
        (-1.0, 1e-6, "epsilon must be from"), (1e-9, 1e-6, "epsilon must be from"),
        (math.nan, 1e-6, "epsilon must be from"), (101.0, 1e-6, "epsilon must be from"),
        (1.0, -1e-6, "delta must be 0, or from 1e-100 to less than 1, got"),
        (1.0, 1e-300, "delta must be 0, or from"), (1.0, 1.0, "delta must be 0, or from"),
        (1.0, math.nan, "delta must be 0, or from"), (1.0, 0.0, "or words of column 'colour'"),
    ],
)  # fmt: skip
def test_wrong_numbers_are_refused(epsilon: float, delta: float, said: str) -> None:
    nb = NaiveBayes(Categorical()).fit({"colour": ["red", "blue"]}, ["a", "b"])
    with pytest.raises(ValueError, match=said):
        nb.export.with_noise(epsilon, delta)


@pytest.mark.parametrize("epsilon", [1e-6, 100.0])
@pytest.mark.parametrize("delta", [1e-100, 1e-6, 0.999])
def test_there_is_noise_for_every_epsilon_and_delta(epsilon: float, delta: float) -> None:
    nb = NaiveBayes(Categorical()).fit({"colour": ["red", "blue"]}, ["a", "b"])
    (noise,) = nb.export.with_noise(epsilon, delta).noise_
    assert 0 <= noise.deviation < 1e12
    assert 2 <= noise.threshold < 1e12


def test_fractions_of_rows_are_refused() -> None:
    X, y = {"c": ["x", "y"]}, ["a", "b"]
    weighted = NaiveBayes(weights=None).fit(X, y, sample_weight=[1.0, 0.5])
    faded = NaiveBayes(weights=None).fit(X, y).decay(0.99)
    for nb in (weighted, faded):
        with pytest.raises(ValueError, match=r"rows that count once, but .* fractions of rows"):
            nb.export.with_noise(1.0, 1e-6)
    twice = NaiveBayes(weights=None).fit(X, y, sample_weight=[2.0, 1.0])
    assert twice.export.with_noise(1.0, 1e-6).noise_
    twice._exchange(model=twice.model_.counting(unlabelled_weight=0.5))
    with pytest.raises(ValueError, match="Rows without a label count"):
        twice.export.with_noise(1.0, 1e-6)


def test_noise_is_in_a_new_model_alone() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 600)
    X = {"x": rng.normal(y == "a", 1.0), "c": np.where(y == "a", "r", rng.choice(["r", "g"], 600))}
    nb = NaiveBayes({"c": "categorical"}, interactions="auto").fit(X, y)
    assert nb.model_.counted.schema.notes
    loss = nb.assess().log_loss  # which the model remembers held-out rows of
    before = store.to_bytes(nb.model_)
    noisy = nb.export.with_noise(2.0, 1e-6)
    assert store.to_bytes(nb.model_) == before
    assert nb.assess().log_loss == loss
    assert nb.noise_ == ()
    assert b'"noise"' not in before
    assert type(noisy) is NaiveBayes
    assert noisy.weights_ is None
    assert noisy.model_.settings.presence == "ignore"
    assert noisy.model_.counted.schema.notes == {}
    assert not noisy.model_.has_interactions
    assert noisy._sampled_rows() is None
    with pytest.raises(ValueError, match="rows"):
        noisy.assess()
    assert "noise: epsilon 2, delta 1e-06, discrete" in str(noisy.model_)
    fitted = noisy.calibrate(X, y)
    assert fitted.weights_ is not None
    assert fitted.noise_
    assert (fitted.predict(X) == y).mean() > 0.6
    said = fitted.noise_
    assert noisy.partial_fit(X, y).noise_ == noisy.decay(0.9).noise_ == said
    assert noisy.merge(nb).noise_ == said
    assert (nb.model_ - noisy.model_).counted.noise == nb.merge(noisy).noise_ == said


@pytest.mark.parametrize(
    "lie",
    [
        "noise",
        [{"epsilon": 1.0}],
        [{"epsilon": "1", "delta": 0.0, "mechanism": "discrete Laplace", "deviation": 1.0,
          "threshold": 0}],
        [{"epsilon": 1.0, "delta": 0.0, "mechanism": "\x1b[2J", "deviation": 1.0, "threshold": 0}],
        [{"epsilon": 1.0, "delta": 0.0, "mechanism": "discrete Laplace", "deviation": 1.0,
          "threshold": 0.5}],
    ],
)  # fmt: skip
def test_a_file_that_lies_about_noise_is_refused(tmp_path: Path, lie: object) -> None:
    nb = NaiveBayes(Categorical(levels=["r"])).fit({"c": ["r", "r"]}, ["a", "b"])
    path = tmp_path / "noisy.naively"
    nb.export.with_noise(1.0).save(path)
    rewrite(path, lambda header, _: header.update(noise=lie))
    with pytest.raises(ValueError, match=r"noisy\.naively is damaged: the header\.noise"):
        load(path)


def test_two_draws_differ_and_a_seed_repeats_them() -> None:
    nb = NaiveBayes(Categorical(levels=["r", "g"]), weights=None)
    nb.fit({"c": ["r", "g"] * 300}, ["a", "b", "b"] * 200)
    assert vector(nb.export.with_noise(0.05).model_) != vector(nb.export.with_noise(0.05).model_)
    one, same, other = (
        vector(nb.export.with_noise(0.05, random_state=s).model_) for s in (1, 1, 2)
    )
    assert one == same != other
    drawn = nb.export.with_noise(0.05, random_state=np.random.default_rng(0))
    assert vector(drawn.model_) == vector(
        nb.export.with_noise(0.05, random_state=np.random.default_rng(0)).model_
    )


def test_max_tokens_bounds_words() -> None:
    texts = ["to be or not to be", None, "", "be be be"]
    assert [*Text(max_tokens=3).rows(texts)] == [["to", "be", "or"], None, [], ["be"] * 3]
    assert Text(max_tokens=3, binary=True).rows(texts)[0] == ["to", "be", "or"]
    assert Text(max_tokens=4, binary=True).rows(texts)[0] == ["to", "be", "or", "not"]
    assert Text(max_tokens=5, binary=True).rows(texts)[3] == ["be"]
    stopped = Text(max_tokens=2, stop_words=["to", "be"])
    assert stopped.rows(texts)[0] == stopped.tokens("to be or not to be") == ["or", "not"]
    for other in ({"analyzer": "char"}, {"ngram_range": (1, 2)}):
        with pytest.raises(ValueError, match="max_tokens bounds words"):
            Text(max_tokens=3, **other)
    with pytest.raises(ValueError, match="max_tokens must be at least 1"):
        Text(max_tokens=0)


@given(st.lists(TEXT | st.none(), min_size=1, max_size=8), st.integers(1, 4), st.booleans())
def test_a_bounded_text_is_counted_as_its_first_words(texts, most, binary) -> None:
    cut = []
    for text in texts:
        words = Text().tokens(text or "")
        words = list(dict.fromkeys(words)) if binary else words
        cut.append(None if text is None else " ".join(words[:most]))
    assume(any(cut))  # else there is a warning
    y = ["a", "b"] * 4
    bounded = NaiveBayes({"t": Text(max_tokens=most, binary=binary)}, weights=None)
    bounded.fit({"t": np.array(texts, object)}, y[: len(texts)])
    whole = NaiveBayes({"t": Text(binary=binary)}, weights=None)
    whole.fit({"t": np.array(cut, object)}, y[: len(texts)])
    np.testing.assert_array_equal(
        bounded.predict_proba({"t": np.array(texts, object)}),
        whole.predict_proba({"t": np.array(cut, object)}),
    )
