"""The scorer as a package of npm: what is in it; it scores, is typed, and is a script too."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes

ROOT = Path(__file__).parent.parent
ROWS: list[dict[str, Any]] = [
    {"note": "a prize", "size": 3.5, "colour": "red"},
    {"note": None, "size": None, "colour": "never seen"},
]
FILES = {
    *("package.json", "README.md", "LICENSE"),
    *("scorer.mjs", "scorer.d.mts", "scorecard.schema.json"),
}
PROGRAM = """
import { readFileSync } from "node:fs";
import * as naively from "naively";
import schema from "naively/scorecard.schema.json" with { type: "json" };
const [card, rows] = JSON.parse(readFileSync(0, "utf8"));
const model = naively.scorer(card);
console.log(JSON.stringify({
  exported: Object.keys(naively), global: typeof globalThis.naively, title: schema.title,
  members: Object.keys(model), p: rows.map((row) => [...model.posterior(row)]),
}));
"""
SCRIPT = """
const { readFileSync } = require("fs");
const [path, rows] = JSON.parse(readFileSync(0, "utf8"));
const required = require(path).model;
delete globalThis.naively;
require("vm").runInThisContext(readFileSync(path, "utf8"));
const p = (model) => rows.map((row) => [...model.posterior(row)]);
console.log(JSON.stringify([p(required), p(globalThis.naively.model)]));
"""
TYPED = """
import { scorer, tokensOf, unicodeOf, type Label, type Scorecard, type Term } from "naively";

export function best(card: Scorecard, subject: string): Label {
  const model = scorer(card);
  const p: Float64Array = model.posterior({ subject, size: null, when: new Date(), note: ["a"] });
  const evidence: number[] = model.explain({ subject }).flatMap((line) => line.evidence);
  const some: Label[] = model.set({ subject }, 0.9);
  return p.length > evidence.length ? model.predict({}) : some[0] ?? card.classes[0]!;
}
export function tokens(card: Scorecard, term: Term, text: string): string[] {
  if (term.term !== "tokens" || card.unicode === undefined) return [];
  return tokensOf(term.split, unicodeOf(card.unicode))(text);
}
// @ts-expect-error: a cell is no function
scorer({}).predict({ subject: () => 1 });
// @ts-expect-error: a term of this kind has no edges
export const edges = (term: Extract<Term, { term: "line" }>) => term.edges;
"""


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not on this machine: the package of npm is not tried by it")
    return found


@pytest.fixture(scope="module")
def learned() -> NaiveBayes:
    notes = ["win a prize now", "lunch at noon", "claim the prize", "notes of the meeting"] * 5
    columns = {"note": notes, "size": [*range(19), None], "colour": ["red", "blue"] * 10}
    return NaiveBayes().fit(columns, [1, 0] * 10)


def known(nb: NaiveBayes) -> Any:
    return nb.predict_proba({name: [row[name] for row in ROWS] for name in ROWS[0]})


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the packed package is installed, as users install it."""
    npm, home = tool("npm"), tmp_path_factory.mktemp("npm")
    made = home / "made"
    subprocess.run([sys.executable, ROOT / "tools/npm_package.py", made], check=True)
    packed = subprocess.run(
        [npm, "pack", "--silent", "--offline"], cwd=made, check=True, capture_output=True, text=True
    )
    tarball = made / packed.stdout.strip()
    with tarfile.open(tarball) as files:
        assert set(files.getnames()) == {f"package/{name}" for name in FILES}
    (home / "package.json").write_text('{"type": "module", "private": true}')
    quietly = ["--silent", "--offline", "--no-audit", "--no-fund"]
    subprocess.run([npm, "install", *quietly, tarball], cwd=home, check=True)
    return home


def run(program: str, given: Any, folder: Path, *options: str) -> Any:
    done = subprocess.run(
        [tool("node"), "--no-warnings", *options, "-e", program],
        input=json.dumps(given),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_its_version_is_that_of_the_package_of_python() -> None:
    package = json.loads((ROOT / "packages/js/package.json").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert package["version"] == project["version"]
    assert package["license"] == project["license"]


def test_a_module_scores_rows_and_has_no_global(installed: Path, learned: NaiveBayes) -> None:
    card = learned.export.scorecard().to_dict()
    found = run(PROGRAM, [card, ROWS], installed, "--input-type=module")
    assert found["exported"] == ["scorer", "tokensOf", "unicodeOf"]
    assert found["global"] == "undefined"
    assert found["title"].startswith("Scorecard of naively")
    np.testing.assert_allclose(found["p"], known(learned), rtol=1e-9)
    types = (ROOT / "packages/js/scorer.d.mts").read_text("utf-8")
    said = types[types.index("interface Scorer {") :].partition("}")[0]
    assert all(f" {member}:" in said or f" {member}(" in said for member in found["members"])


def test_a_script_of_a_model_is_required_and_is_a_global(
    tmp_path: Path, learned: NaiveBayes
) -> None:
    path = tmp_path / "model.js"
    learned.export.scorecard().save(path)
    for found in run(SCRIPT, [str(path), ROWS], tmp_path):
        np.testing.assert_allclose(found, known(learned), rtol=1e-9)


@pytest.mark.slow
def test_its_types_are_those_that_a_strict_program_needs(installed: Path) -> None:
    tsc = tool("tsc")
    (installed / "program.mts").write_text(TYPED, encoding="utf-8")
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    done = subprocess.run(
        [tsc, *options, "--noUncheckedIndexedAccess", "program.mts"],
        cwd=installed,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
