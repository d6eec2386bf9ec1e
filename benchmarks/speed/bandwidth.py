"""What share of the memory's bandwidth GaussianNB reaches, on one thread and on two."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import naively
from benchmarks import saved
from benchmarks.speed.beside import Row, say
from benchmarks.speed.setting import Setting, numbers
from benchmarks.timing import take_turns

READ, BYTES = "reading", 400_000_000


def measure(setting: Setting) -> Sequence[Row]:
    n = setting.size(500_000, 400)
    large = np.ones(setting.size(BYTES, 80_000) // 8)
    rows: list[Row] = []
    try:
        for threads in dict.fromkeys((1, min(2, saved.cores()))):
            naively.set_threads(threads)
            for k in (2, 10):
                rows += _of_classes(n, k, large, threads, setting.rounds)
    finally:
        naively.set_threads(1)
    return rows


def _of_classes(n: int, k: int, large: np.ndarray, threads: int, rounds: int) -> list[Row]:
    X, y = numbers(n, 50, k)
    nb = naively.GaussianNB().fit(X, y)
    halves = np.array_split(large, threads)
    with ThreadPoolExecutor(threads) as pool:
        works: dict[str, Callable[[], Any]] = {
            "sum": lambda: [*pool.map(np.sum, halves)],
            "max": lambda: [*pool.map(np.max, halves)],
            "fit": lambda: naively.GaussianNB().fit(X, y),
            "predict": lambda: nb.predict(X),
        }
        clock = time.process_time if threads == 1 else time.perf_counter
        seconds = take_turns(works, rounds, clock=clock)
    best = [
        large.nbytes / min(pair) / 1e9 for pair in zip(seconds["sum"], seconds["max"], strict=True)
    ]
    return [
        say(
            Row(
                f"GaussianNB: {work} ({n:,} x 50, {k} classes)",
                READ,
                [X.nbytes / taken / 1e9 for taken in seconds[work]],
                best,
                unit="GB/s",
                clock="CPU" if threads == 1 else "wall",
                threads=threads,
                multiple=True,
            )
        )
        for work in ("fit", "predict")
    ]
