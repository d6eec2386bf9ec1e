"""The verbs that change models: update, forget, merge, decay, calibrate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from naively import NaiveBayes, load
from tests.commands import run
from tests.saved_linear_parts import table, with_linear_part
from tests.test_cli import ROWS, ok, sentence

HEAD, *LINES = ROWS.splitlines(keepends=True)


def part(folder: Path, name: str, lines: slice) -> Path:
    path = folder / f"{name}.csv"
    path.write_text(HEAD + "".join(LINES[lines]))
    return path


@pytest.fixture
def all_rows(tmp_path: Path) -> Path:
    return part(tmp_path, "all", slice(None))


def train(data: Path, name: str) -> Path:
    path = data.parent / name
    ok("train", data, "--target", "kind", "-o", path)
    return path


def same(a: NaiveBayes, b: NaiveBayes) -> None:
    """Two models counted the same: their predictions agree once neither is weighted."""
    frames = {
        name: [line.split(",")[i] or None for line in LINES] for i, name in ((1, "colour"),)
    } | {"size": [1.0, None, 3.0, 9.0, 8.0, 2.0], "note": [line.split(",")[2] for line in LINES]}
    np.testing.assert_array_equal(a.class_count_, b.class_count_)
    for one in (a, b):
        one.calibrate(frames, ["good", "good", "good", "bad", "bad", "bad"])
    np.testing.assert_allclose(a.predict_proba(frames), b.predict_proba(frames), rtol=1e-9)


@pytest.mark.slow
def test_update_is_training_on_all(tmp_path: Path, all_rows: Path) -> None:
    model = train(part(tmp_path, "some", slice(4)), "some.naively")
    done = run("update", model, part(tmp_path, "rest", slice(4, None)))
    assert done.returncode == 0, done.stderr.decode()
    assert b"Learned 2 more: 6 rows of 2 classes" in done.stderr
    assert b"Weights were fitted to 67% of them" in done.stderr
    same(load(model), load(train(all_rows, "all.naively")))


@pytest.mark.slow
def test_forget_is_never_seen(tmp_path: Path, all_rows: Path) -> None:
    model, out = train(all_rows, "all.naively"), tmp_path / "less.naively"
    ok("forget", model, part(tmp_path, "rest", slice(4, None)), "-o", out)
    same(load(out), load(train(part(tmp_path, "some", slice(4)), "some.naively")))
    assert "nothing would be left" in sentence("forget", model, all_rows)
    assert "were not learned" in sentence("forget", out, part(tmp_path, "more", slice(4, None)))


@pytest.mark.slow
def test_merge_is_training_on_both(tmp_path: Path, all_rows: Path) -> None:
    first = train(part(tmp_path, "first", slice(None, None, 2)), "first.naively")
    second = train(part(tmp_path, "second", slice(1, None, 2)), "second.naively")
    ok("merge", first, second, "-o", tmp_path / "both.naively")
    same(load(tmp_path / "both.naively"), load(train(all_rows, "all.naively")))
    assert "nothing to merge with" in sentence("merge", first, "-o", tmp_path / "x")


def test_merge_refuses_rows_that_would_count_twice(tmp_path: Path, all_rows: Path) -> None:
    model, copy, both = train(all_rows, "m"), tmp_path / "copy", tmp_path / "both"
    copy.write_bytes(model.read_bytes())
    other = train(part(tmp_path, "other", slice(4)), "other")
    ok("merge", model, other, "-o", both)
    ok("decay", copy, "0.5", "-o", tmp_path / "faded")
    for again in (model, copy, tmp_path / "faded", both):
        said = sentence("merge", model, again, "-o", tmp_path / "x")
        assert "would count twice; give --again to merge them." in said
        ok("merge", model, again, "-o", tmp_path / "x", "--again")
    ok("forget", both, all_rows, "-o", tmp_path / "less")
    ok("merge", tmp_path / "less", model, "-o", both)


@pytest.mark.slow
def test_a_column_that_was_not_learned_is_said(tmp_path: Path, all_rows: Path) -> None:
    model, more = train(all_rows, "m"), tmp_path / "more.csv"
    more.write_text(f"id,{HEAD}7,{LINES[0]}")
    for verb, rows in (("update", 7), ("forget", 6)):
        done = run(verb, model, more)
        assert done.returncode == 0
        assert f"{more}: column 'id' was not learned, and is left out." in done.stderr.decode()
        assert load(model).class_count_.sum() == rows
    again = run("update", model, all_rows, "--again")
    assert again.returncode == 0
    assert b"was not learned" not in again.stderr


@pytest.mark.parametrize("option", [("--ignore", "note"), ("--columns", "size,colour")])
def test_columns_that_training_left_out_are_left_out_without_a_note(
    tmp_path: Path, all_rows: Path, option: tuple[str, str]
) -> None:
    model, more = tmp_path / "m", tmp_path / "more.csv"
    ok("train", all_rows, "-t", "kind", "-o", model, *option)
    more.write_text(f"id,{HEAD}7,{LINES[0]}")
    said = run("update", model, more).stderr.decode()
    assert "'note'" not in said
    assert ("'id' was not learned" in said) == (option[0] == "--ignore")


@pytest.mark.slow
def test_what_was_never_learned_is_named_and_the_file_stays(tmp_path: Path, all_rows: Path) -> None:
    model = train(all_rows, "m")
    before = model.read_bytes()
    for line, named in (
        ("1.5,violet,a small red thing I like,good", "column 'colour', 'violet', class 'good'"),
        ("77.25,red,a small red thing I like,good", "column 'size', 77.25, class 'good'"),
        ("1.5,red,a small red thing I like,unheard", "class 'unheard'"),
    ):
        wrong = tmp_path / "wrong.csv"
        wrong.write_text(f"{HEAD}{line}\n")
        assert f"too few in {named}" in sentence("forget", model, wrong)
        assert model.read_bytes() == before


@pytest.mark.slow
def test_models_of_different_things_do_not_merge(tmp_path: Path, all_rows: Path) -> None:
    other = tmp_path / "other.naively"
    renamed = tmp_path / "renamed.csv"
    renamed.write_text(ROWS.replace("kind", "sort"))
    ok("train", renamed, "--target", "sort", "-o", other)
    message = sentence("merge", train(all_rows, "m"), other, "-o", tmp_path / "x")
    assert "cannot be merged" in message
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_decay_scales_the_counts(all_rows: Path) -> None:
    model = train(all_rows, "m")
    ok("decay", model, "0.5")
    assert load(model).class_count_.tolist() == [1.5, 1.5]
    assert "greater than 0" in sentence("decay", model, "0")
    assert load(model).class_count_.tolist() == [1.5, 1.5]


def test_calibrate_changes_the_weights_alone(all_rows: Path) -> None:
    model = train(all_rows, "m")
    before = load(model)
    ok("calibrate", model, all_rows)
    after = load(model)
    assert before.weights_ != after.weights_
    np.testing.assert_array_equal(before.class_count_, after.class_count_)


@pytest.mark.slow
def test_missing_cells_and_the_linear_part_stay(tmp_path: Path, all_rows: Path) -> None:
    """Through every verb that writes a model; of an older model missing cells say nothing."""
    trained = load(train(all_rows, "trained.naively"))
    assert trained.presence == trained.model_.settings.presence == "auto"
    nb, model, path = with_linear_part(), tmp_path / "m.naively", tmp_path / "table.csv"
    X, y = table()
    rows = zip(*X.values(), y, strict=True)
    text = "\n".join(",".join("" if x is None else str(x) for x in row) for row in rows)
    path.write_text(f"{','.join(X)},kind\n{text}\n")
    nb.save(model)
    ok("update", model, path, "--target", "kind")
    once = load(model)
    assert once.presence == once.model_.settings.presence == "auto"
    assert once.class_count_.tolist() == (2 * nb.class_count_).tolist()
    assert once.weights_ == nb.weights_
    ok("merge", model, model, "-o", tmp_path / "both.naively", "--again")
    both = load(tmp_path / "both.naively")
    assert both.presence == both.model_.settings.presence == "auto"
    linear, was = both.weights_.linear, nb.weights_.linear
    for of, before in ((linear.of, was.of), (linear.products, was.products)):
        assert of.keys() == before.keys()
        assert [*of.values()] == [pytest.approx(slopes) for slopes in before.values()]


def test_update_scores_each_batch_before_it_is_learned(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = np.where((x > 0) ^ (np.arange(400) > 250), "yes", "no")
    files = {}
    for name, rows in (("some", slice(0, 100)), ("rest", slice(100, 400))):
        files[name] = tmp_path / f"{name}.csv"
        lines = [f"{a!r},{b}" for a, b in zip(x[rows].tolist(), y[rows], strict=True)]
        files[name].write_text("\n".join(["x,kind", *lines]) + "\n")
    for decay in (None, 0.5):
        model, other = tmp_path / "m.naively", tmp_path / "o.naively"
        ok("train", files["some"], "-t", "kind", "-o", model)
        nb = load(model)
        more = [] if decay is None else ["--decay", decay]
        option = ["--score", "--batch", 120, "-f", "json", "-o", other]
        said = ok("update", model, files["rest"], *option, *more)
        lines = [json.loads(line) for line in said.splitlines()]
        expected = []
        for rows in (slice(100, 220), slice(220, 340), slice(340, 400)):
            right = nb.evaluate({"x": x[rows]}, y[rows])
            expected.append((right.rows, right.log_loss, right.accuracy))
            nb.partial_fit({"x": x[rows]}, y[rows], decay=decay)
        weight = [of[0] for of in expected]
        every = [np.average([of[i] for of in expected], weights=weight) for i in (1, 2)]
        expected.append((300, *every))
        assert [line["batch"] for line in lines] == [1, 2, 3, "all"]
        for line, right in zip(lines, expected, strict=True):
            found = [line[name] for name in ("rows", "log_loss", "accuracy")]
            assert found == pytest.approx(right, rel=1e-9)
        kept = load(other)
        np.testing.assert_allclose(kept.class_count_, nb.class_count_, rtol=1e-12)
        assert [record.verb for record in kept.history_.records] == ["train", "update"]
        assert kept.history_.records[-1].rows == 300


def test_update_with_decay_is_decay_and_then_update(tmp_path: Path, all_rows: Path) -> None:
    model, one, two = (tmp_path / f"{name}.naively" for name in ("m", "one", "two"))
    ok("train", all_rows, "-t", "kind", "-o", model)
    ok("update", model, all_rows, "--again", "--decay", 0.5, "-o", one)
    ok("decay", model, 0.5, "-o", two)
    ok("update", two, all_rows, "--again")
    a, b = load(one), load(two)
    assert a.inspect.difference(b).equal
    assert [r.verb for r in a.history_.records] == [r.verb for r in b.history_.records]
    assert [r.total for r in a.history_.records] == [r.total for r in b.history_.records]


def test_a_file_that_was_learned_is_refused_unless_it_was_forgotten(
    tmp_path: Path, all_rows: Path
) -> None:
    model, copy = train(all_rows, "all.naively"), tmp_path / "copy.csv"
    copy.write_bytes(all_rows.read_bytes())
    before = model.read_bytes()
    assert f"has learned {copy} already, as {all_rows} at " in sentence("update", model, copy)
    assert model.read_bytes() == before
    ok("update", model, copy, "--again")
    assert load(model).class_count_.sum() == 2 * len(LINES)
    ok("forget", model, copy)
    assert "--again" in sentence("update", model, all_rows)  # it was learned twice
    ok("update", model, part(tmp_path, "other", slice(4)))  # other bytes are another file
    ok("forget", model, copy)
    ok("update", model, all_rows)
