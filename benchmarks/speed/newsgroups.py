"""20 Newsgroups from the texts to a model, a file and a first prediction, and its memory."""

from __future__ import annotations

import gzip
import pickle
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import naively
from benchmarks.speed.alone import alone, memory
from benchmarks.speed.beside import Row, beside, say
from benchmarks.speed.setting import Setting
from benchmarks.speed.texts import PEER, Fits

FIRST = "import sys, naively; naively.load(sys.argv[1]).predict([sys.argv[2]])"
FIRST_OF_PICKLE = (
    "import pickle, sys; file = open(sys.argv[1], 'rb'); pickle.load(file).predict([sys.argv[2]])"
)
TEXT = "The orbit of the shuttle was changed twice before it landed."


def measure(setting: Setting) -> Sequence[Row]:
    train, y = setting.texts("newsgroups20_train")
    test, _ = setting.texts("newsgroups20_test")
    fits, every = Fits(), train + test
    size = sum(map(len, train)) / 1e6
    rows = beside(
        f"fit ({len(train):,} texts, {size:.1f} MB)",
        lambda: fits.ours(train, y),
        {PEER: lambda: fits.theirs(train, y)},
        rounds=min(3, setting.rounds),
    )
    ours, theirs = fits.held
    rows += beside(
        f"predict ({len(every):,} texts, {sum(map(len, every)) / 1e6:.1f} MB)",
        lambda: ours.predict(every),
        {PEER: lambda: theirs.predict(every)},
        rounds=min(3, setting.rounds),
    )
    with tempfile.TemporaryDirectory() as folder:
        rows += _of_files(ours, theirs, Path(folder), setting)
    rows.append(memory("peak memory of the fit", "newsgroups", PEER, setting))
    return rows


def _of_files(ours: Any, theirs: Any, folder: Path, setting: Setting) -> list[Row]:
    """Measure the model file, loading it, and a first prediction."""
    model, pickled = folder / "model.naively", folder / "model.pickle"
    small, their_small = folder / "model.naively.gz", folder / "model.pickle.gz"
    ours.save(model)
    ours.save(small)
    pickled.write_bytes(pickle.dumps(theirs))
    their_small.write_bytes(gzip.compress(pickled.read_bytes(), 6))
    rows = []
    for what, files in {
        "the model's file": (model, pickled),
        "the model's file, compressed": (small, their_small),
    }.items():
        sizes = [[path.stat().st_size / 1e6] for path in files]
        rows.append(say(Row(what, f"{PEER}, pickled", *sizes, unit="MB", clock="")))
    rows += beside(
        "load",
        lambda: naively.load(model),
        {f"{PEER}, pickled": lambda: pickle.loads(pickled.read_bytes())},  # noqa: S301  # written above
        rounds=setting.rounds,
    )
    seconds: tuple[list[float], list[float]] = ([], [])
    alone("-c", FIRST, model, TEXT)  # Python has no bytecode of what was edited since
    for _ in range(min(3, setting.rounds)):
        seconds[0].append(alone("-c", FIRST, model, TEXT).cpu)
        seconds[1].append(alone("-c", FIRST_OF_PICKLE, pickled, TEXT).cpu)
    rows.append(say(Row("start, load and predict one text", f"{PEER}, pickled", *seconds)))
    return rows
