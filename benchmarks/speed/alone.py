"""Work in a process of its own: the peak memory of a fit, and a first prediction.

``python -m benchmarks.speed.alone TASK SIDE`` makes the rows, fits a few of them, so that all is
imported, and prints by how many MB the peak rises while the rest is fitted. Linux only.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.process import Cost, cost
from benchmarks.speed.beside import Row, Setting, read_texts, say

ROOT = Path(__file__).parents[2]
RESET = Path("/proc/self/clear_refs")
ONE_THREAD = dict.fromkeys(
    ("NAIVELY_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


def alone(*command: str | Path) -> Cost:
    """Run Python in a process of its own, on one thread, and say what it cost.

    Whatever is set here, Python keeps the bytecode of what it imports, as it does for its users.
    """
    env = ["env", "-u", "PYTHONDONTWRITEBYTECODE", *map("=".join, ONE_THREAD.items())]
    return cost([*env, sys.executable, *command])


def memory(name: str, task: str, peer: str, setting: Setting) -> Row:
    """Measure the peak memory of one fit of each side."""
    if not RESET.exists():
        return say(Row(name, peer, unit="MB", clock="", note="not measured: needs Linux"))
    ours, theirs = (_peak(task, side, setting) for side in ("naively", "scikit-learn"))
    return say(Row(name, peer, [ours], [theirs], unit="MB", clock=""))


def _peak(task: str, side: str, setting: Setting) -> float:
    more = ["--small"] if setting.small else []
    if setting.data is not None:
        more += ["--data", str(setting.data)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.alone", task, side, *more],
        capture_output=True,
        check=False,
        text=True,
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD},
    )
    if done.returncode:
        raise RuntimeError(f"{task}, {side} failed:\n{done.stderr}")
    return float(done.stdout)


def _newsgroups(setting: Setting) -> tuple[Any, Any]:
    assert setting.data is not None
    return read_texts(setting.data, ("newsgroups20_train",), small=setting.small)


def _enron(setting: Setting) -> tuple[Any, Any]:
    assert setting.data is not None
    return read_texts(setting.data, ("enron_spam",), small=setting.small)


def _counts(setting: Setting) -> tuple[Any, Any]:
    from benchmarks.speed.drop_ins import FEW, counts

    return counts(setting, FEW)


def _counts_of_many(setting: Setting) -> tuple[Any, Any]:
    from benchmarks.speed.drop_ins import MANY, counts

    return counts(setting, MANY)


def _default() -> Any:
    from naively import NaiveBayes

    return NaiveBayes()


def _words() -> Any:
    from naively import NaiveBayes

    return NaiveBayes("text", weights=None, smoothing=1.0)


def _our_multinomial() -> Any:
    from naively import MultinomialNB

    return MultinomialNB()


def _their_words() -> Any:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(CountVectorizer(), MultinomialNB())


def _their_multinomial() -> Any:
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB()


Rows = Callable[[Setting], tuple[Any, Any]]
TASKS: dict[str, tuple[Rows, Callable[[], Any], Callable[[], Any]]] = {
    "newsgroups": (_newsgroups, _default, _their_words),
    "enron": (_enron, _default, _their_words),
    "words": (_enron, _words, _their_words),
    "counts": (_counts, _our_multinomial, _their_multinomial),
    "counts of many classes": (_counts_of_many, _our_multinomial, _their_multinomial),
}


def _held(field: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024 / 1e6


def _give_back() -> None:
    """Return freed memory to the system, so that it does not hide what a fit needs."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.alone", description=__doc__)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("side", choices=["naively", "scikit-learn"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    rows, ours, theirs = TASKS[options.task]
    X, y = rows(Setting(options.data, small=options.small))
    make = ours if options.side == "naively" else theirs
    make().fit(X[:99], y[:99])
    _give_back()
    RESET.write_text("5", encoding="ascii")  # the peak starts again from what is held now
    before = _held("VmHWM")
    model = make().fit(X, y)
    print(_held("VmHWM") - before)
    del model


if __name__ == "__main__":
    main()
