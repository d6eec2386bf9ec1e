"""Three parties count rows of their own, and what they send is merged, as if rows were pooled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, load
from naively.file import store
from tests.commands import run
from tests.test_cli import ok, sentence

N = 300
WORDS = np.array(["cheap", "lunch", "pills", "noon", "watch", "meeting", "prize", "notes"])


def pooled(seed: int = 0) -> pd.DataFrame:
    """A table of all kinds of columns, with missing cells; columns say much alike."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    x = rng.normal(y, 1.0).round(3)
    of_text = rng.random((N, len(WORDS))) < np.where(
        np.arange(len(WORDS)) % 2 == y[:, None], 0.6, 0.2
    )
    return pd.DataFrame(
        {
            "x": np.where(rng.random(N) < 0.1, np.nan, x),
            "again": (x + rng.normal(0, 0.1, N)).round(3),
            "colour": np.where(
                rng.random(N) < 0.3 + 0.4 * y, "red", rng.choice(["blue", "green"], N)
            ),
            "member": rng.random(N) < 0.3 + 0.4 * y,
            "note": [" ".join(WORDS[row]) + f" number {i}" for i, row in enumerate(of_text)],
            "kind": np.array(["good", "bad"])[y],
        }
    )


def trained(folder: Path, parts: dict[str, pd.DataFrame], *options: str) -> list[str]:
    """Train a model of each part by the command line, each in a process of its own, all at once."""
    running = []
    for name, part in parts.items():
        path = folder / f"{name}.csv"
        part.to_csv(path, index=False)
        arguments = [
            "train", path, "--target", "kind", "-o", path.with_suffix(".naively"), *options,
        ]  # fmt: skip
        command = [sys.executable, "-m", "naively", *map(str, arguments)]
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
    assert [process.wait() for process in running] == [0] * len(parts)
    return [str(folder / f"{name}.naively") for name in parts]


def parts_of(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Three parts of different sizes."""
    rows = np.random.default_rng(1).permutation(len(table))
    cuts = np.split(rows, [len(rows) // 6, len(rows) // 2])
    return {f"party {i}": table.iloc[of] for i, of in enumerate(cuts)}


@pytest.mark.slow
@pytest.mark.parametrize("sample", [True, False])
def test_three_files_are_the_pooled_model(tmp_path: Path, sample: bool) -> None:
    table = pooled()
    options = ("--keep-rows",) if sample else ()
    *parties, whole = trained(tmp_path, {**parts_of(table), "whole": table}, *options)
    merged = tmp_path / "merged.naively"
    ok("merge", *parties, "-o", merged)
    ours, theirs = load(merged), load(whole)
    X = table.drop(columns="kind")
    difference = ours.model_.counted.tally - theirs.model_.counted.tally
    assert len(difference.classes) == 0  # nothing is left of any count
    assert ours.class_count_.sum() == N
    p, expected = ours.predict_proba(X), theirs.predict_proba(X)
    if sample:
        np.testing.assert_allclose(p, expected, rtol=1e-8)
        assert ours.assess().log_loss == pytest.approx(theirs.assess().log_loss, rel=1e-8)
        assert ours.weights_ is not None
        assert ours.weights_.rows == N
    else:
        # Without rows the weights are the mean of the parties' by their rows, which is near.
        assert (p != expected).any()
        assert np.abs(p - expected).mean() < 0.1
        pure = [nb.model_.weighed(None) for nb in (ours, theirs)]
        rows = ours._rows(X)
        np.testing.assert_allclose(pure[0].posterior(rows), pure[1].posterior(rows), rtol=1e-9)
        of = [load(path).weights_ for path in parties]
        assert all(weights is not None for weights in of)
        usual = np.average([w.usual for w in of if w], weights=[w.rows for w in of if w])
        assert ours.weights_ is not None
        assert ours.weights_.usual == pytest.approx(usual)


@pytest.mark.slow
def test_the_order_of_parties_does_not_matter(tmp_path: Path) -> None:
    table = pooled(3).drop(columns="note")
    paths = trained(tmp_path, parts_of(table), "--keep-rows")
    X, found = table.drop(columns="kind"), []
    for order in ((0, 1, 2), (2, 0, 1)):
        merged = tmp_path / f"{order}.naively"
        ok("merge", *(paths[i] for i in order), "-o", merged)
        found.append(load(merged).predict_proba(X))
    np.testing.assert_allclose(*found, rtol=1e-10)


def others() -> tuple[list[NaiveBayes], NaiveBayes, pd.DataFrame]:
    """Parties that have other classes, levels and columns, and the model of their rows together."""
    rng = np.random.default_rng(2)

    def rows(n: int, classes: list[str]) -> dict[str, Any]:
        y = rng.choice(classes, n)
        place = np.array(["a", "b", "c", "d"]).searchsorted(y)
        return {
            "kind": y,
            "x": rng.normal(place, 1.0).round(2),
            "level": np.array(["p", "q", "r", "s"])[(place + rng.integers(0, 2, n)) % 4],
            "other": rng.poisson(1 + place).astype(float),
        }

    first, second, third = rows(300, ["a", "b"]), rows(200, ["b", "c"]), rows(250, ["a", "c", "d"])
    del first["other"]
    del second["level"]
    third["level"] = np.char.add("t", third["level"])
    tables = [pd.DataFrame(of) for of in (first, second, third)]
    models = [NaiveBayes().fit(of.drop(columns="kind"), of["kind"]) for of in tables]
    everything = pd.concat(tables, ignore_index=True)
    whole = NaiveBayes().fit(everything.drop(columns="kind"), everything["kind"])
    return models, whole, everything.drop(columns="kind")


def test_parties_of_other_classes_levels_and_columns_are_the_pooled_model() -> None:
    (first, *rest), whole, X = others()
    for other in rest:
        first.merge(other)
    assert first.classes_.tolist() == whole.classes_.tolist() == ["a", "b", "c", "d"]
    assert first.class_count_.tolist() == whole.class_count_.tolist()
    assert len((first.model_.counted.tally - whole.model_.counted.tally).classes) == 0
    X = X[list(first.feature_names_in_)]
    np.testing.assert_allclose(first.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    assert first.assess().log_loss == pytest.approx(whole.assess().log_loss, rel=1e-9)


@pytest.mark.slow
def test_noisy_files_are_merged_and_say_so(tmp_path: Path) -> None:
    table = pooled(4).drop(columns="note")
    paths = trained(tmp_path, parts_of(table), "--keep-rows")
    shared = []
    for i, path in enumerate(paths):
        before, out = Path(path).read_bytes(), tmp_path / f"shared {i}.naively"
        done = run("export", path, "-o", out, "--noise", 50, "--delta", 1e-3)
        assert done.returncode == 0, done.stderr.decode()
        said = done.stderr.decode()
        assert said.startswith("noise: epsilon 50, delta 0.001, discrete ")
        assert f"wrote {out}, without weights and without any row." in said
        assert Path(path).read_bytes() == before
        content = store.load_all(out)
        assert content.sample is None
        assert content.model.weights is None
        assert len(content.model.counted.noise) == 1
        assert content.provenance["target"] == "kind"
        assert content.provenance["noise"].startswith("epsilon 50, delta 0.001, discrete ")
        shared.append(out)
    merged = tmp_path / "merged.naively"
    ok("merge", *shared, "-o", merged)
    nb = load(merged)
    assert len(nb.noise_) == 3
    assert run("show", merged).stderr.decode().count("noise: epsilon 50, delta 0.001") == 3
    X = table.drop(columns="kind")
    assert (nb.predict(X) == table["kind"]).mean() > 0.7
    p = nb.predict_proba(X)
    assert np.isfinite(p).all()
    # Nothing else is noisy, whether it was shared or not.
    assert load(paths[0]).noise_ == ()
    assert "noise" not in run("show", paths[0]).stderr.decode()
    ok("calibrate", merged, tmp_path / "party 0.csv", "--target", "kind")
    fitted = load(merged)
    assert fitted.weights_ is not None
    assert len(fitted.noise_) == 3


@pytest.mark.slow
def test_what_cannot_be_shared_is_one_sentence(tmp_path: Path) -> None:
    options = ("--event-models", "note=text", "--weights", "none")
    (path,) = trained(tmp_path, {"all": pooled(5)}, *options)
    out = tmp_path / "out.naively"
    assert "Each text of column 'note' may change any number of counts" in sentence(
        "export", path, "-o", out, "--noise", 1, "--delta", 1e-6
    )
    assert "epsilon must be from" in sentence("export", path, "-o", out, "--noise", 0)
    assert "would destroy" in sentence("export", path, "-o", path, "--noise", 1)
    assert "There is no model file" in sentence("export", out, "-o", path, "--noise", 1)
    assert not out.exists()


@pytest.mark.slow
def test_a_seed_repeats_a_shared_file(tmp_path: Path) -> None:
    (path,) = trained(tmp_path, {"all": pooled(6).drop(columns="note")})
    contents = []
    for seed in (1, 1, 2):
        out = tmp_path / "out.naively"
        ok("export", path, "-o", out, "--noise", 0.5, "--delta", 1e-6, "--seed", seed)
        contents.append(out.read_bytes())
    assert contents[0] == contents[1] != contents[2]
