"""Gather the package of npm in a folder: ``python tools/npm_package.py build/js``.

The scorer and the schema are those that the package of Python ships; what only npm needs is in
``packages/js``. ``npm pack`` and ``npm publish`` are then run in the folder.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = [
    *("packages/js/package.json", "packages/js/README.md", "packages/js/scorer.d.mts"),
    *("src/naively/inspect/scorer.mjs", "src/naively/inspect/scorecard.schema.json", "LICENSE"),
]


def gather(folder: Path) -> None:
    """Copy what the package holds into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(ROOT / name, folder)


if __name__ == "__main__":
    gather(Path(sys.argv[1]))
