"""The house in CONTRIBUTING.md, the contract of imports and the folders name the same rooms."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import naively
from naively import Model, NaiveBayes
from naively.estimators.learned import Learned
from naively.inspect.scorecard import schema
from tests import structure
from tests.mutants.faults import EVERY
from tests.structure import (
    LIMITS,
    above,
    circles,
    class_names,
    files_of,
    holding_out,
    imports,
    modules,
)

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "naively"
FRONT_DOORS = {"__init__", "__main__"}  # they import from every room, when it is needed


PARTS = pytest.mark.parametrize("part", [0, 1], ids=["house", "wings"])


def house(part: int) -> list[list[str]]:
    """Return the rooms in CONTRIBUTING.md, floor by floor."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## The house\n")[1].split("\n## ")[0]
    block = re.findall(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[part]
    floors = [re.split(r" {2,}", line, maxsplit=1) for line in block.splitlines()]
    assert all(len(floor) == 2 for floor in floors), "each floor has one line that says what it is"
    return [sorted(rooms.split(" | ")) for rooms, _ in floors]


def contract(part: int) -> list[list[str]]:
    """Return the rooms in a contract of import-linter, floor by floor, that must exist."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contracts = tools["importlinter"]["contracts"]
    layers = [of["layers"] for of in contracts if of["type"] == "layers"][part]
    return [sorted(layer.split(" | ")) for layer in layers if not layer.startswith("(")]


def folders(part: int) -> set[str]:
    """Return the folders and files of the package, or of its wings."""
    source = SOURCE / "wings" if part else SOURCE
    packages = {path.parent.name for path in source.glob("*/__init__.py")}
    return packages | {path.stem for path in source.glob("*.py")} - FRONT_DOORS


@PARTS
def test_contributing_lists_the_floors_of_the_contract(part) -> None:
    assert house(part) == contract(part)


@PARTS
@pytest.mark.parametrize("floors", [house, contract])
def test_the_rooms_are_the_folders(floors, part) -> None:
    rooms = [room for floor in floors(part) for room in floor]
    assert sorted(rooms) == sorted(folders(part))


def test_the_faults_that_can_be_planted_apply_to_the_code_as_it_is() -> None:
    for fault in EVERY:
        assert fault.text  # SystemExit says which one does not


def test_contributing_walks_a_row_through_each_file_once() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walked = text.partition("## The way of a row")[2].partition("\n## ")[0]
    named = re.findall(r"`([a-z_/]+\.py)`", walked)
    assert len(named) == len(set(named))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(["u", "v"], 200)})
    y = rng.choice(["p", "q"], 200)
    visited = {
        Path(file).relative_to(SOURCE).as_posix()
        for file in files_of(lambda: NaiveBayes().fit(frame, y).predict_proba(frame))
    }
    assert visited - set(named) == set()
    assert [name for name in named if not (SOURCE / name).exists()] == []


def test_what_a_reader_has_to_hold_does_not_grow() -> None:
    limits = json.loads(LIMITS.read_text("utf-8"))
    program = [sys.executable, "-m", "tests.structure", "--json"]  # that nothing was called before
    counted = json.loads(subprocess.run(program, capture_output=True, check=True, cwd=ROOT).stdout)
    assert above(counted, limits) == []
    assert set(limits) == set(counted)
    assert all(above({name: most + 1}, limits) for name, most in limits.items())


@pytest.mark.parametrize(
    ("kind", "held", "caches"),
    [
        (Learned, ["model", "sample", "history", "target"], ["held_out"]),
        (Model, ["counted", "view", "weights"], ["terms"]),
    ],
)
def test_what_was_learned_holds_little_and_caches_one_thing(kind, held, caches) -> None:
    assert [of.name for of in fields(kind)] == held
    assert [n for n, of in vars(kind).items() if isinstance(of, cached_property)] == caches


def test_rows_are_held_out_by_one_function() -> None:
    assert holding_out() == ["naively.fitting.sample.held_out"]


def test_a_name_has_one_meaning() -> None:
    twice = sorted(name for name, count in class_names(modules()).items() if count > 1)
    assert len(twice) <= 5, twice


def test_there_is_one_vocabulary_of_terms() -> None:
    kinds = structure.vocabulary()
    assert sum(map(len, kinds.values())) <= 25, kinds
    named = {"Term", "Terms", "GroupTerms", "BesideTerms"}.union(*kinds.values())
    for module, tree in modules().items():
        classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        of_terms = {name for name in classes if re.search("Terms?$", name)}
        assert of_terms <= (named if module.startswith("naively.terms.") else set()), module
    assert len(schema()["$defs"]["term"]["oneOf"]) == len(kinds["views of single columns"])


def test_files_do_not_import_each_other_in_circles() -> None:
    assert circles(imports(modules())) == []


def test_the_files_that_are_mutated_are_there() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert [of for of in tools["mutants"]["files"] if not list(ROOT.glob(of))] == []


def test_the_page_of_the_tests_names_each_helper() -> None:
    folder = ROOT / "tests"
    page = (folder / "README.md").read_text(encoding="utf-8")
    helpers = {path.name for path in folder.glob("[a-z]*.py") if not path.name.startswith("test_")}
    named = {*re.findall(r"`([a-z_]+\.py)`", page)}
    assert helpers <= named
    tests = {path.name for path in folder.glob("test_*.py")}
    assert {name for name in named if name.startswith("test_")} <= tests


def test_the_version_is_one_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited == [project["version"]]
    assert naively.__version__ == project["version"]


def test_the_security_page_names_files_that_are_there() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\((docs/[^)]*)\)", text)
    assert len(named) == 4
    assert all((ROOT / path).is_file() for path in named)
