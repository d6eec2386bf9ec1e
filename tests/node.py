"""Runs the scorer of scorecards in Node.js: many scorecards and rows in one process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from naively.inspect.scorecard import Scorecard

SCORER = Path(str(files("naively") / "inspect" / "scorer.mjs"))
PROGRAM = """
const { pathToFileURL } = require("url");
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
import(pathToFileURL(process.argv[1])).then(({ scorer, tokensOf, unicodeOf }) => {
const plain = (x) => JSON.parse(JSON.stringify(x, (_, v) => (
  v instanceof Float64Array ? [...v] : v === -Infinity ? "-inf" : v === Infinity ? "inf" : v)));
const tables = new Map();
const answers = asked.map(({ card, split, unicode, texts, rows, what, more = [] }) => {
  try {
    if (split) {
      if (!tables.has(unicode)) tables.set(unicode, unicodeOf(unicode));
      return texts.map(tokensOf(split, tables.get(unicode)));
    }
    const made = scorer(card);
    return rows.map((row) => plain(made[what](row, ...more)));
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(answers));
});
"""


def ask(questions: list[dict[str, Any]]) -> list[Any]:
    """Return the answer to each question, of a scorecard and rows, or of a way to split texts."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not on this machine: no scorecard is scored in JavaScript")
    done = subprocess.run(
        [node, "-e", PROGRAM, str(SCORER)],
        input=json.dumps(questions),
        env={**os.environ, "TZ": "America/Los_Angeles"},  # times are in UTC wherever one is
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[Any] = json.loads(done.stdout)
    return found


def question(
    card: Scorecard, rows: list[dict[str, Any]], what: str = "scores", *more: Any
) -> dict[str, Any]:
    """Ask for the scores, posteriors, labels, sets or explanations of rows."""
    return {"card": json.loads(card.to_json()), "rows": rows, "what": what, "more": more}
