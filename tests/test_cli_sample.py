"""The verbs of the command line keep a sample of rows that `train --sample` left in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes, load
from naively.file import store
from naively.wings.cli import learn
from tests.commands import run
from tests.test_cli import ok, sentence

N = 240


def rows(of: slice) -> tuple[dict[str, list[object]], list[str]]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    x = rng.normal(y, 1.0).round(2)
    colour = np.where(rng.random(N) < 0.3 + 0.4 * y, "red", "blue")
    return {"x": x[of].tolist(), "colour": colour[of].tolist()}, np.array(["n", "p"])[y][
        of
    ].tolist()


def part(folder: Path, name: str, of: slice) -> Path:
    X, y = rows(of)
    path = folder / f"{name}.csv"
    lines = [f"{x},{c},{label}\n" for x, c, label in zip(*X.values(), y, strict=True)]
    path.write_text("x,colour,y\n" + "".join(lines))
    return path


@pytest.fixture
def some(tmp_path: Path) -> Path:
    return part(tmp_path, "some", slice(100))


@pytest.fixture
def rest(tmp_path: Path) -> Path:
    return part(tmp_path, "rest", slice(100, None))


def train(data: Path, *, sample: bool = True) -> str:
    """Do what `train` does, without starting a process."""
    path = data.with_suffix(".naively")
    table = np.genfromtxt(data, str, delimiter=",", skip_header=1)
    X = {"x": table[:, 0].astype(float), "colour": table[:, 1].astype(object)}
    learn._save(NaiveBayes().fit(X, table[:, 2]), str(path), {"target": "y"}, keep_rows=sample)
    return str(path)


def said_by(*arguments: object) -> str:
    """Run a verb, and return what it says on standard error."""
    done = run(*arguments)
    assert done.returncode == 0, done.stderr.decode()
    return done.stderr.decode()


def is_refit(path: str) -> bool:
    X, y = rows(slice(None))
    whole, found = NaiveBayes().fit(X, y), load(path)
    np.testing.assert_allclose(found.predict_proba(X), whole.predict_proba(X), rtol=1e-8)
    return found.assess().log_loss == pytest.approx(whole.assess().log_loss, rel=1e-8)


def sample_of(path: str | Path) -> Any:
    return store.load_all(path).sample


@pytest.mark.slow
def test_a_sample_is_kept_if_it_is_asked_for_and_shown(some: Path) -> None:
    model = some.with_suffix(".naively")
    ok("train", some, "-t", "y", "-o", model)
    assert sample_of(model) is None
    assert b"a sample of" not in run("show", model).stderr
    ok("train", some, "-t", "y", "-o", model, "--keep-rows")
    sample = sample_of(model)
    assert sample is not None
    groups = store.load_all(model).model.counted.schema.groups
    size = sum(array.nbytes for array in sample.arrays(groups).values())
    said = run("show", model).stderr.decode()
    assert f"a sample of 100 of 100 rows is in the file ({size:,} bytes)" in said
    assert load(model).assess().rows == 100
    ok("train", some, "-t", "y", "-o", model, "--keep-rows", "--hold-out", "30")
    sample = sample_of(model)
    assert sample is not None
    assert len(sample) == sample.seen == 70  # rows that are held out are not in it


def test_update_is_a_refit_once_a_tenth_more_rows_have_come(some: Path, rest: Path) -> None:
    model = train(some)
    assert "Weights were fitted to" not in said_by("update", model, rest)
    assert sample_of(model) is not None
    assert is_refit(model)


def test_an_update_of_few_rows_is_a_refit_after_calibrate(tmp_path: Path) -> None:
    model = train(part(tmp_path, "most", slice(225)))
    few = part(tmp_path, "few", slice(225, None))  # not a tenth more
    assert "`naively calibrate` fits them again" in said_by("update", model, few)
    said = said_by("calibrate", model)
    assert "Calibrated on the sample of rows in the file: 240 rows" in said
    assert is_refit(model)


def test_without_a_sample_calibrate_needs_rows(some: Path) -> None:
    message = sentence("calibrate", train(some, sample=False))
    assert "holds no sample of rows; give rows that it never saw" in message


def test_calibrate_on_other_rows_keeps_the_sample(some: Path, rest: Path) -> None:
    model = train(some)
    weights = load(model).weights_
    ok("calibrate", model, rest)
    assert load(model).weights_ != weights
    assert sample_of(model) is not None


def test_merge_is_a_refit(some: Path, rest: Path, tmp_path: Path) -> None:
    both = str(tmp_path / "both.naively")
    ok("merge", train(some), train(rest), "-o", both)
    assert sample_of(both) is not None
    assert is_refit(both)


@pytest.mark.parametrize("first", [0, 1])
def test_merging_with_a_file_that_has_none_leaves_none(some: Path, rest: Path, first: int) -> None:
    both = str(some.with_name("both.naively"))
    models = [train(some), train(rest, sample=False)]
    said = said_by("merge", models[first], models[1 - first], "-o", both)
    assert "holds no sample of rows any more" in said
    assert sample_of(both) is None
    assert load(both).class_count_.sum() == N


@pytest.mark.parametrize("sample", [True, False])
def test_forget_and_decay_leave_none(some: Path, *, sample: bool) -> None:
    few = part(some.parent, "few", slice(7))
    for verb, what in (("forget", few), ("decay", 0.5)):
        model = train(some, sample=sample)
        assert ("holds no sample of rows any more" in said_by(verb, model, what)) == sample
        assert sample_of(model) is None


def test_rows_without_a_label_that_count_leave_none(
    some: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(learn, "say", said.append)
    nb = NaiveBayes().fit(*rows(slice(50)))
    nb._exchange(model=nb.model_.counting(unlabelled_weight=0.5))
    out = some.with_name("semi.naively")
    learn._save(nb, str(out), {}, keep_rows=True)
    assert said == ["rows without a label count, so that no sample of rows is kept."]
    assert sample_of(out) is None
