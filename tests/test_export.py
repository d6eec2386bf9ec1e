"""A model is written for other programs: as JSON that is documented, and as a script."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from onnxruntime import InferenceSession

from naively import GaussianNB, NaiveBayes
from naively.wings.cli.app import app
from tests.test_scorecard import models, read, table

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
PAGES = [REFERENCE / "scorecard.md", REFERENCE / "scorecard-texts.md"]


def fields(of: Any) -> set[str]:
    """All names of fields in JSON."""
    if isinstance(of, dict):
        return set(of).union(*map(fields, of.values()))
    return set().union(*map(fields, of)) if isinstance(of, list) else set()


def test_the_page_names_every_field_and_every_kind() -> None:
    written = "".join(page.read_text("utf-8") for page in PAGES)
    said = set(re.findall(r"`\"?(\w+)\"?`", written))
    cards = [read(nb.model_) for nb in models()]
    cards.append(read(NaiveBayes("lognormal").fit([[1.0], [2.0], [3.0]], [0, 1, 1]).model_))
    assert set().union(*map(fields, cards)) - said == set()
    kinds = {column["kind"] for card in cards for column in card["columns"]}
    terms = {term["term"] for card in cards for term in card["terms"]}
    parts = {term["part"] for card in cards for term in card["terms"] if "part" in term}
    assert kinds | terms | parts <= said
    assert {"log", "above"} <= said


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    columns, y = table(80, 0)
    NaiveBayes().fit(columns, y).save(tmp_path / "m.naively")
    return tmp_path / "m.naively"


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_json_is_written_to_standard_output_or_a_file(saved: Path) -> None:
    printed = run("export", saved)
    out = saved.with_suffix(".json")
    done = run("export", saved, "-o", out)
    assert printed.exit_code == done.exit_code == 0
    assert json.loads(printed.stdout) == json.loads(out.read_text(encoding="utf-8"))
    assert json.loads(printed.stdout)["naively"] == "scorecard"


def test_a_script_scores_rows_by_itself(saved: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not on this machine")
    out = saved.with_suffix(".js")
    assert run("export", saved, "-o", out).exit_code == 0
    columns, _ = table(80, 0)
    row = {name: of[0] for name, of in columns.items() if name != "when"}
    asked = (
        f"console.log(JSON.stringify([...require('./m.js').model.posterior({json.dumps(row)})]))"
    )
    done = subprocess.run([node, "-e", asked], cwd=out.parent, capture_output=True, check=True)
    nb = NaiveBayes().fit(*table(80, 0))
    known = nb.predict_proba({name: [cell] for name, cell in {**row, "when": None}.items()})[0]
    np.testing.assert_allclose(json.loads(done.stdout), known, rtol=1e-9)


def test_onnx_is_written_to_a_file(saved: Path) -> None:
    out = saved.with_suffix(".onnx")
    assert run("export", saved, "-o", out).exit_code == 0
    session = InferenceSession(out, providers=["CPUExecutionProvider"])
    nb = NaiveBayes().fit(*table(80, 0))
    columns, _ = table(9, 1)
    _, p = session.run(None, nb.export.onnx_inputs(columns))
    np.testing.assert_allclose(p, nb.predict_proba(columns), rtol=1e-9)


def test_a_script_may_stand_in_a_page(tmp_path: Path) -> None:
    nb = NaiveBayes("categorical").fit({"c": ["</script>", "x"]}, [0, 1])
    nb.export.scorecard().save(tmp_path / "m.js")
    assert "</script" not in (tmp_path / "m.js").read_text(encoding="utf-8")


def test_half_a_character_is_escaped(tmp_path: Path) -> None:
    nb = NaiveBayes("categorical").fit({"c": ["\ud800", "x"]}, [0, 1])
    nb.export.scorecard().save(tmp_path / "m.json")
    card = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert card["terms"][0]["levels"] == ["\ud800", "x"]


def test_what_is_to_be_written_is_told_or_asked_for(saved: Path) -> None:
    done = run("export", saved, "-o", saved.with_suffix(".txt"))
    assert isinstance(done.exception, ValueError)
    assert "give --format, one of json, js, onnx" in str(done.exception)
    given = saved.with_suffix(".txt")
    assert run("export", saved, "-o", given, "--format", "json").exit_code == 0
    assert json.loads(given.read_text(encoding="utf-8"))["version"] == 1
    over = run("export", saved, "-o", saved, "--format", "json")
    assert over.exception is not None
    assert NaiveBayes().fit(*table(80, 0)).classes_.tolist() == ["no", "yes"]


def test_drop_ins_have_scorecards_too() -> None:
    nb = GaussianNB().fit([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])
    assert {term["term"] for term in read(nb.model_)["terms"]} == {"presence", "parabola"}
    assert nb.export.scorecard().columns == ["x0"]
