"""Scoring in Node.js: rows a second of a model of twenty columns, and its size."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np

from naively import NaiveBayes

ROWS, LEVELS = 20_000, 20
PROGRAM = """
require(process.argv[1]);
const rows = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
for (let round = 0; round < 8; round++) {
  const begin = performance.now();
  for (const row of rows) naively.model.posterior(row);
  console.log(rows.length / (performance.now() - begin) * 1000);
}
"""


def measure(folder: Path) -> None:
    """Learn ten columns of numbers and ten of strings, and score them in Node.js."""
    node = shutil.which("node")
    if node is None:
        print("Node.js is not on this machine: it is left out")
        return
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=ROWS)
    columns = {f"number_{j}": (rng.normal(size=ROWS) + y / 2).round(6).tolist() for j in range(10)}
    for j in range(10):
        level = (rng.zipf(1.5, ROWS) + y * rng.integers(2, size=ROWS)) % LEVELS
        columns[f"string_{j}"] = [f"level {i}" for i in level]
    nb = NaiveBayes().fit(columns, y)
    script, data = folder / "model.js", folder / "rows.json"
    nb.export.scorecard().save(script)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    data.write_text(json.dumps(rows), encoding="utf-8")
    done = subprocess.run(
        [node, "-e", PROGRAM, str(script), str(data)], capture_output=True, text=True, check=True
    )
    best = max(map(float, done.stdout.split()))
    size = script.stat().st_size / 1e3
    print(f"Node.js, 20 columns: {best:,.0f} rows a second; scorer and model {size:.1f} kB")
