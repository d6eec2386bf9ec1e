"""Model files that were changed: each is refused in one sentence, or predicts probabilities."""

from __future__ import annotations

import json
import random
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes, load
from naively.file import store
from tests.damage import in_little_memory, is_sentence, outcome, paths, put, rewrite
from tests.fuzz import fuzz
from tests.golden.make import FOLDER, SAMPLED

FILES = sorted((FOLDER / str(store.FORMAT)).glob("*.naively"))
HOSTILE: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 3, 7, 10**9, 2**31, 2**63, 10**30, -(10**18)),
    *(0.0, -0.5, 0.5, 1e-300, 1e300, 1e999, float("nan"), -1e999),
    *("", "a", "b", "x" * 1000, "auto", "mle", "number", "text", "pair", "string", "\ud800", "\0"),
    *("<U500000000", "|O", "<f8", "|S5", "<M8[us]", "|V8", "date", "datetime", "2020-01-01"),
    *("gaussian", "categorical", "histogram", "joint", "words", "cells", "columns"),
    *([], [[]], {}, [1], ["a"], [[0, None, None]], ["a", "a"], [1, [2, [3]]], {"name": "Beta"}),
    {"name": "Beta", "a": 1e308, "b": 1.0},
    {"name": "Dirichlet", "alpha": [1.0, 2.0]},
]  # fmt: skip
NUMBERS = [-1.0, 0.0, 0.5, 1e-300, 1e12, 1e300, np.nan, np.inf, -np.inf, -1e300]


@cache
def rows_of(path: Path) -> Any:
    return json.loads(path.with_suffix(".json").read_text())["rows"]


def flip(rng: random.Random, path: Path) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 2, 5])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def cut(rng: random.Random, path: Path) -> None:
    content = path.read_bytes()
    kept = content[: rng.randrange(len(content))]
    path.write_bytes(rng.choice([kept, kept + bytes(len(content) - len(kept)), content + b"\0"]))


def edit(rng: random.Random, path: Path) -> None:
    def change(header: dict[str, Any], _: Any) -> None:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            at = rng.choice(paths(header))
            others = [HOSTILE[rng.randrange(len(HOSTILE))] for _ in range(3)]
            others.append(value_at(header, rng.choice(paths(header))))
            put(header, at, rng.choice(others))

    rewrite(path, change)


def value_at(value: Any, at: tuple[Any, ...]) -> Any:
    for key in at:
        value = value[key]
    return value


def drop(rng: random.Random, path: Path) -> None:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        if rng.random() < 0.3:
            arrays.pop(rng.choice(sorted(arrays)))
            return
        at = rng.choice(paths(header))
        inside = value_at(header, at[:-1])
        if rng.random() < 0.5 and isinstance(inside, list):
            inside.append(inside[at[-1]])
        else:
            del inside[at[-1]]

    rewrite(path, change)


def disarrange(rng: random.Random, path: Path) -> None:
    def change(_: Any, arrays: dict[str, np.ndarray]) -> None:
        name, other = (rng.choice(sorted(arrays)) for _ in range(2))
        array = arrays[name].copy()
        how = rng.choice(["swap", "number", "number", "number", "turn", "type", "shape", "more"])
        if how == "swap":
            arrays[name], arrays[other] = arrays[other], arrays[name]
        elif how == "number" and array.size:
            new = rng.choice(NUMBERS) if array.dtype.kind == "f" else rng.choice([0, 7, 255])
            if array.dtype == np.int64:
                new = rng.choice([-1, 0, 3, 2**62, -(2**63), 2**63 - 1])
            array.flat[rng.randrange(array.size)] = new
            arrays[name] = array
        elif how == "turn":
            arrays[name] = array[::-1].copy()
        elif how == "type":
            arrays[name] = array.astype(rng.choice([np.float32, np.int64, np.uint8, np.float64]))
        elif how == "shape":
            arrays[name] = array.reshape(-1, 1) if rng.random() < 0.5 else array[:-1]
        else:
            arrays["more"] = array

    with np.errstate(all="ignore"):
        rewrite(path, change)


WAYS = [flip, cut, edit, edit, edit, drop, disarrange, disarrange]


@pytest.mark.slow
@pytest.mark.parametrize("way", dict.fromkeys(WAYS), ids=lambda way: way.__name__)
def test_a_changed_file_is_refused_or_predicts(way: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.naively"

    def check(rng: random.Random) -> None:
        original = rng.choice(FILES)
        path.write_bytes(original.read_bytes())
        way(rng, path)
        with in_little_memory():
            nb, refused = outcome(lambda: load(path))
        if refused is not None:
            assert is_sentence(refused)
            assert path.name in refused
            return
        if way in (flip, cut):
            assert path.read_bytes() == original.read_bytes()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            p, refused = outcome(lambda: nb.predict_proba(rows_of(original)))
        if refused is not None:
            assert is_sentence(refused)
            return
        assert np.isfinite(p).all()
        assert ((p >= 0) & (p <= 1)).all()
        for verb in (
            lambda: nb.inspect.sample(5, random_state=0),
            lambda: nb.merge(load(original)),
        ):
            with warnings.catch_warnings(), np.errstate(all="ignore"), in_little_memory():
                warnings.simplefilter("ignore")
                _, refused = outcome(verb)
            assert refused is None or is_sentence(refused)

    fuzz(check, 40)


def disarrange_sample(rng: random.Random, path: Path) -> None:
    """Change some numbers of the sample of rows."""

    def change(_: Any, arrays: dict[str, np.ndarray]) -> None:
        for _ in range(rng.choice([1, 1, 2, 5])):
            name = rng.choice([name for name in sorted(arrays) if name.startswith("sample/")])
            array = arrays[name] = arrays[name].copy()
            of_floats = [*NUMBERS, 1.0, 2.0, rng.choice(array.ravel().tolist() or [0.0])]
            least, most = (0, 255) if array.dtype == np.uint8 else (-(2**31), 2**31 - 1)
            of_codes = [least, -1 % (most + 1), 0, 1, 2, 5, most]
            new = rng.choice(of_floats if array.dtype.kind == "f" else of_codes)
            if array.size:
                array.flat[rng.randrange(array.size)] = new

    rewrite(path, change)


def use_rows(nb: NaiveBayes, rows: Any, path: Path) -> np.ndarray:
    """Do all that needs rows."""
    assert nb.assess().log_loss >= 0
    labels = np.resize(nb.classes_, 12)
    return nb.merge(load(path)).partial_fit(rows, labels).calibrate().predict_proba(rows)


@pytest.mark.slow
def test_a_changed_sample_is_refused_or_used(tmp_path: Path) -> None:
    path, original = tmp_path / "model.naively", FOLDER / str(store.FORMAT) / f"{SAMPLED}.naively"

    def check(rng: random.Random) -> None:
        path.write_bytes(original.read_bytes())
        disarrange_sample(rng, path)
        nb, refused = outcome(lambda: load(path))
        if refused is None:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                p, refused = outcome(lambda: use_rows(nb, rows_of(original), path))
        if refused is not None:
            assert is_sentence(refused)
            return
        assert ((p >= 0) & (p <= 1)).all()

    fuzz(check, 40)
