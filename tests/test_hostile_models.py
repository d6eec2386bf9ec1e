"""Model files that lie: each is refused in one sentence, before anything large is made of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save

from naively import Bernoulli, Categorical, Histogram, NaiveBayes, load
from naively.file import container, store
from tests.damage import (
    Arrays,
    Change,
    apart,
    assert_refused,
    change_of,
    first,
    in_little_memory,
    rewrite,
)
from tests.golden.make import FOLDER


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.naively"
    table = {
        "n": [1.0, 2.0, 4.0, 5.0],
        "c": ["u", None, "v", "u"],
        "b": [True, True, False, None],
        "t": ["one two three four", "a b c d e f", "one two", "ten"],
    }
    models = {"n": Histogram(), "c": Categorical(), "b": Bernoulli(), "t": "multinomial"}
    NaiveBayes(models).fit(table, ["x", "y", "y", "x"]).save(path)
    return path


def at(*way: Any, new: Any) -> Change:
    """Change one value of the header."""

    def change(header: dict[str, Any], _: Arrays) -> None:
        value: Any = header
        for key in way[:-1]:
            value = value[key]
        value[way[-1]] = new

    return change


def group(event: str, *way: Any, new: Any) -> Change:
    """Change one value of a group."""

    def change(header: dict[str, Any], arrays: Arrays) -> None:
        (i,) = (i for i, g in enumerate(header["groups"]) if g["event"] == event)
        at("groups", i, *way, new=new)(header, arrays)

    return change


def above(of: Any) -> Any:
    """Return classes of which the last is one too many."""
    return np.append(of[:-1], 2)


def endless(of: Any) -> Any:
    """Return as many sizes, none of which anything has."""
    return np.full(of.shape, 2**62)


def text_of(arrays: Arrays) -> str:
    """What the names of the arrays of a text begin with."""
    return next(name for name in sorted(arrays) if name.endswith("value/cells")).partition("/")[0]


def both_in_one_row(_: Any, arrays: Arrays) -> None:
    """Make the classes of a word that came in both the same."""
    text = text_of(arrays)
    cells, classes = arrays[f"{text}/value/cells"], arrays[f"{text}/value/classes"].copy()
    row = np.flatnonzero(cells == 2)[0]
    classes[int(cells[:row].sum()) + 1] = 0
    arrays[f"{text}/value/classes"] = classes


def double(header: dict[str, Any], arrays: Arrays) -> None:
    """Count the first group a second time, in arrays of its own."""
    first = header["groups"][0]
    header["groups"].append({**first, "arrays": "again"})
    for name in [name for name in arrays if name.startswith(f"{first['arrays']}/")]:
        arrays[f"again/{name.partition('/')[2]}"] = arrays[name]


LIES: dict[str, tuple[Change, str]] = {
    "a group twice": (double, "the same as another group"),
    "a text of two columns": (
        group("multinomial", "axis", "columns", new=["t", "n"]),
        "other columns than it has",
    ),
    "columns without end": (at("columns", new=10**9), "nearly all without a value"),
    "columns of a group without end": (group("histogram", "columns", new=10**9), "other columns"),
    "columns below none": (group("histogram", "columns", new=-1), "less than none"),
    "cells without end": (group("histogram", "axis", "columns", new=10**9), "cells of other"),
    "levels by number": (group("categorical", "axis", "columns", new=1), "instead of their names"),
    "labels without end": (at("classes", "dtype", new="<U500000000"), "too much memory"),
    "labels of objects": (at("classes", "dtype", new="V8"), "cannot be of type 'V8'"),
    "labels that are cut": (at("classes", "labels", new=["xy", "xz"]), "none of type <U1"),
    "labels of another type": (at("classes", "dtype", new="<i8"), "invalid literal"),
    "labels of small numbers": (at("classes", new={"labels": [1, 300], "dtype": "|u1"}), "type"),
    "no time": (at("classes", new={"labels": ["NaT", "2020"], "dtype": "<M8[Y]"}), "missing"),
    "no date": (at("classes", new={"labels": ["x", "y"], "dtype": "date"}), "isoformat"),
    "doubled classes": (at("classes", "labels", new=["x", "x"]), "a class is there twice"),
    "a label that is a list": (at("classes", "labels", new=[["x"], ["y"]]), "a label is a list"),
    "a class that was not counted": (at("classes", "labels", new=["x", "y", "z"]), "has shape"),
    "a class that is none": (at("classes", "labels", new=[{}, "x"]), r"labels\[0\] is an object"),
    "a format without end": (at("format", new=float("inf")), "format is inf, not a whole number"),
    "a format below": (at("format", new=0), "there is no format 0"),
    "a number too large": (at("columns", new=10**400), "a very large number"),
    "an infinite number": (at("weights", "usual", new=float("inf")), "which is not finite"),
    "an unknown entry": (at("more", new=1), "the header has no 'more'"),
    "no groups": (lambda header, _: header.pop("groups"), "the header lacks 'groups'"),
    **{
        f"a reading of {name}": (at("readings", new=[["n", {"content": "number", **of}]]), why)
        for name, of, why in (
            ("few forms", {"forms": {"count": [1]}}, "no column can be read so"),
            ("half a cell", {"forms": {"words": {"counts": {"NA": 0.5}}}}, "can be read so"),
            ("half a unit", {"forms": {"affixes": {"counts": {"|kg": 5}}}}, "can be read so"),
            ("what is no field", {"given": ["note"]}, "can be read so"),
            ("another content", {"content": "cats"}, "content is 'cats'"),
        )
    },
    "an unknown estimate": (at("settings", "estimate", new="best"), "'mle'"),
    "an unknown smoothing": (at("settings", "smoothing", new="much"), "smoothing is 'much'"),
    "a setting that there is not": (at("settings", "more", new=1), "settings has no 'more'"),
    "no settings": (at("settings", new={}), "settings has no .*, or lacks it"),
    "negative smoothing": (at("settings", "smoothing", new=-1.0), "smoothing is -1.0"),
    "an unknown class prior": (at("class_prior", new="none"), "class_prior is 'none'"),
    "no probabilities": (at("class_prior", new=[2.0, -1.0]), "must be probabilities"),
    "a prior of nothing": (at("class_prior", new={"name": "Beta", "a": -1, "b": 1}), "greater"),
    "a weight of no group": (at("weights", "of", 0, new=[9, None, None]), "weights of columns"),
    "a weight of three": (at("weights", "of", 0, new=[0, None]), "2 entries instead of 3"),
    "a band below": (at("weights", "of", 0, new=[0, None, -1]), "no words of band -1"),
    "weights negative": (first("weights", -1.0), "at least 0"),
    "weights not a number": (first("weights", np.nan), "at least 0"),
    "a bias not a number": (first("bias", np.nan), "at least 0"),
    "an infinite bias": (first("bias", np.inf), "at least 0"),
    "no rows": (lambda _, arrays: arrays.pop("weight/high"), "no array 'weight/high'"),
    "rows of other classes": (change_of("weight/high", lambda _: np.zeros(7)), "has shape"),
    "rows not a number": (first("weight/high", np.nan), "not finite"),
    "negative rows": (first("weight/high", -1.0), "too few"),
    "fewer rows than cells": (first("weight/high", 0.0), "more cells than rows"),
    "negative counts": (first("level/high", -1.0), "too few"),
    "negative counts of words": (first("value/counts", -1.0), "too few"),
    "counts of words not a number": (first("value/counts", np.nan), "not finite"),
    "infinite counts of words": (first("value/counts", np.inf), "not finite"),
    "a count of a word that is 0": (first("value/counts", 0.0), "a number that is 0"),
    "cells of words below none": (first("value/cells", -1), "do not fill it"),
    "cells of more than all classes": (first("value/cells", 3), "do not fill it"),
    "cells of words without end": (change_of("value/cells", endless), "do not fill it"),
    "a class of words below": (first("value/classes", -1), "no such class"),
    "a class of words above": (change_of("value/classes", above), "no such class"),
    "a class of a word twice": (both_in_one_row, "one twice in a row"),
    "classes of two dimensions": (
        change_of("value/classes", lambda of: of[:, None]),
        "do not fill it",
    ),
    "fewer counts of words": (change_of("value/counts", lambda of: of[1:]), "has shape"),
    "more of no count": (
        lambda _, arrays: arrays.update({f"{text_of(arrays)}/value/more": np.ones(1)}),
        "has shape",
    ),
    "lengths below": (first("/lengths", -1), "do not fill"),
    "lengths without end": (change_of("/lengths", endless), "do not fill"),
    "cells not a number": (first("cell/high", np.nan), "not finite"),
    "more cells than rows": (first("cell/high", 3.0), "more cells than rows"),
    "a cell beyond infinity": (first("/keys", 2**62), "not in order|beyond infinity"),
    "a shift that is none": (first("/shifts", 63), "no such shift"),
    "cells in another order": (change_of("/keys", lambda of: of[::-1]), "not in order"),
    "cells of other classes": (change_of("cell/high", lambda _: np.zeros((9, 9))), "has shape"),
    "cells that overlap": (first("/first", 1), "not in order"),
    "a statistic that lacks": (group("bernoulli", "statistics", new=["present"]), "statistics"),
    "a statistic twice": (group("bernoulli", "statistics", new=["present"] * 2), "statistics"),
    "another event model": (group("bernoulli", "event", new="gaussian"), "no 'alpha'"),
    "no event model": (group("bernoulli", "event", new="os.system"), "no event model 'os.system'"),
    "another kind": (group("bernoulli", "kind", new="string"), "cannot count so"),
    "another axis": (group("bernoulli", "axis", "kind", new="levels"), "instead of columns"),
    "no option": (group("bernoulli", "options", new={"no": 1}), "options has no 'no'"),
    "an option of many characters": (
        group("histogram", "options", "edges", new="x" * 10_000),
        r"x\.\.\.\.$",
    ),
    "an option of another type": (group("bernoulli", "options", new={"alpha": {}}), "alpha is an"),
    "a pseudo-count below 0": (group("bernoulli", "options", new={"alpha": -1.0}), "alpha must"),
    "no pseudo-count": (group("multinomial", "options", "alpha", new=[]), "alpha is empty"),
    "no pseudo-count of truths": (group("bernoulli", "options", "alpha", new=[]), "alpha is empty"),
    "no share": (group("bernoulli", "options", new={"m": 1.0, "p": []}), "p is empty"),
    "no pretend counts": (
        group("multinomial", "options", "prior", new={"name": "Dirichlet", "alpha": []}),
        "alpha is empty",
    ),
    "no pretend failures": (
        group("bernoulli", "options", "prior", new={"name": "Beta", "a": 1.0, "b": []}),
        "b is empty",
    ),
    "no codes": (group("categorical", "options", "codes", new=[]), "codes is empty"),
    "a class prior of no counts": (
        at("class_prior", new={"name": "Dirichlet", "alpha": []}),
        "alpha is empty",
    ),
    "an analyser that is none": (group("multinomial", "analyser", "name", new="x"), "analyser"),
    "n-grams of three": (group("multinomial", "analyser", "ngram_range", new=[1, 2, 3]), "entries"),
    "hashes without end": (
        group("multinomial", "analyser", "features", new=2**31 - 1),
        "instead of|uses the array",
    ),
    "a level twice": (group("categorical", "axis", "levels", new=[["u", "u"]]), "one twice"),
    "a level that is a list": (group("categorical", "axis", "levels", new=[["u", ["v"]]]), "list"),
    "a level of a string that is none": (
        group("categorical", "axis", "levels", new=[["u", 1]]),
        "not a string",
    ),
    "a level too many": (group("categorical", "axis", "levels", new=[["u", "v", "w"]]), "shape"),
    "no number": (group("categorical", "axis", "levels", new=[[float("nan"), "u"]]), "number"),
    "the columns of another": (group("categorical", "columns", new=["b"]), "other columns"),
    "arrays of another": (group("categorical", "arrays", new="9"), "no array"),
    "an array too many": (lambda _, arrays: arrays.update(x=np.ones(2)), "nothing uses"),
    "truths for numbers": (
        lambda _, arrays: arrays.update({"bias": np.zeros(2, np.bool_)}),
        "is of type BOOL",
    ),
    "numbers of half size": (
        lambda _, arrays: arrays.update({"bias": np.full(2, 0.5, np.float32)}),
        "is of type F32",
    ),
    "sums of two parts": (
        lambda _, arrays: arrays.update({"weight/low": np.ones(2)}),
        "two parts do not fit",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_refused_in_one_sentence(name: str, saved: Path) -> None:
    change, why = LIES[name]
    rewrite(saved, change)
    assert_refused(saved, why)


def test_options_without_end_take_no_memory(saved: Path) -> None:
    rewrite(saved, group("histogram", "options", "bins", new=10**15))
    with in_little_memory():
        p = load(saved).predict_proba({"n": [1.0], "c": ["u"], "b": [True], "t": ["one two"]})
    assert np.isfinite(p).all()


def test_codes_of_strings_are_said(saved: Path) -> None:
    rewrite(saved, group("categorical", "options", "codes", new=10**15))
    with pytest.raises(ValueError, match="column 'c' holds other levels"):
        load(saved).predict({"n": [1.0], "c": ["u"], "b": [True], "t": ["one two"]})


def test_cells_that_nothing_was_counted_of_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "model.naively"
    path.write_bytes((FOLDER / "1" / "numbers.naively").read_bytes())

    def empty(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        of = next(g["arrays"] for g in header["groups"] if g["event"] == "density")
        count = arrays[f"{of}/cell/high"] = arrays[f"{of}/cell/high"].copy()
        count[:3] = 0.0

    before = load(path)
    rewrite(path, empty)
    nb = load(path)
    (axis,) = (b.axis for k, b in nb.tally_.blocks.items() if k.event.name == "density")
    (whole,) = (b.axis for k, b in before.tally_.blocks.items() if k.event.name == "density")
    assert len(axis) == len(whole) - 3
    said = json.loads((FOLDER / "1" / "numbers.json").read_text())
    assert np.isfinite(nb.predict_proba(said["rows"])).all()


def test_json_that_is_nested_or_no_object_is_refused(saved: Path) -> None:
    deep = "[" * 5000 + "]" * 5000
    for text, why in [
        (f'{{"format": 1, "checksum": "00000000", "provenance": {deep}}}', "not JSON|checksum"),
        (deep, "not JSON|no JSON object"),
        ("[]", "no JSON object"),
        ("{", "not JSON"),
        ('{"format": 1e999}', "format is inf"),
        ('{"format": 2}', "made by a newer version of naively"),
        ('{"format": 1}', "lacks 'checksum'"),
        ('{"format": 1, "checksum": "00000000"}', "checksum does not fit"),
        (f'{{"format": {"9" * 5000}}}', "not JSON"),
    ]:
        saved.write_bytes(save({"x": np.zeros(1)}, {container.KEY: text}))
        with pytest.raises(ValueError, match=why) as e:
            load(saved)
        assert "\n" not in str(e.value)
        assert len(str(e.value)) < 500


def test_the_beginning_of_a_file_is_not_believed(saved: Path) -> None:
    content = saved.read_bytes()
    for start in [2**63, 10**8, 0, 1, len(content)]:
        saved.write_bytes(start.to_bytes(8, "little") + content[8:])
        with pytest.raises(ValueError, match="is not a model file, or it is damaged"):
            load(saved)
    for header in [b"{}" + b" " * 6, b"[" * 5000, b'{"__metadata__": 1}', b'{"x": ']:
        saved.write_bytes(len(header).to_bytes(8, "little") + header)
        with pytest.raises(ValueError, match="not a model"):
            load(saved)


@pytest.mark.slow
def test_every_flipped_bit_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "model.naively"
    NaiveBayes("gaussian", weights=None).fit([[1.5], [2.5]], ["x", "y"]).save(path)
    content = path.read_bytes()
    for place in range(len(content)):
        for bit in range(8) if place % 16 == 0 or content[place : place + 1].isdigit() else [0, 5]:
            flipped = bytearray(content)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            with pytest.raises(ValueError, match=r"model\.naively"):
                store.load_all(path)
    path.write_bytes(content)
    store.load_all(path)


def test_it_is_a_safetensors_file(saved: Path) -> None:
    _, arrays = apart(saved)
    with safe_open(saved, framework="numpy") as file:
        header = json.loads(file.metadata()[container.KEY])
    assert next(iter(header)) == container.CHECKSUM
    assert header["format"] == store.FORMAT
    read = load_file(saved)
    assert read.keys() == arrays.keys()
    assert all(np.array_equal(read[name], arrays[name]) for name in read)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["show", "predict", "evaluate", "explain", "merge", "decay"])
def test_the_command_line_says_so_and_ends_with_2(verb: str, saved: Path) -> None:
    data, other = saved.with_name("data.csv"), saved.with_name("other.naively")
    other.write_bytes(saved.read_bytes())
    rewrite(saved, at("columns", new=10**9))
    data.write_text("n,c,b,t,label\n1,u,true,one two,x\n")
    more = {"merge": [other, "-o", saved], "decay": ["0.5"], "show": []}.get(verb, [data])
    command = [sys.executable, "-m", "naively", verb, saved, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done
    assert done.stderr.count("\n") == 1
    assert f"{saved} is damaged: there are 1,000,000,000 columns" in done.stderr


def test_a_file_of_a_mail_filter_is_said() -> None:
    path = next((FOLDER / "mail-1").glob("*.naively"))
    with pytest.raises(ValueError, match="is the model of a mail filter"):
        load(path)
