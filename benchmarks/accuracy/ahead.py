"""Rows in time: each block scored by what was learned of the blocks before it.

``make bench-accuracy ARGS=--time``. For two made streams, one that turns round at once and one that
turns slowly, and for bank marketing in the order of its file, where it is in ``NAIVELY_DATA``: the
mean log loss of all blocks but the first, by naively without decay, by the half-life that was best
on the blocks before, and by the one that is best in hindsight; beside them logistic regression and
boosted trees, refitted on a window of blocks that is chosen alike. For made streams the truth is
known, and its log loss is the least that can be.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from benchmarks.accuracy import trial
from naively import NaiveBayes

ROWS, BLOCKS = 20_000, 20  # of a made stream, and of each
WINDOWS = (1, 4, math.inf)  # blocks that peers learn
Losses = Mapping[float, NDArray]  # of each block, by half-life or window


class Stream(NamedTuple):
    """Rows in their order, and the log loss of the truth, (rows,), if it is known."""

    name: str
    X: pd.DataFrame
    y: NDArray
    truth: NDArray | None = None


class Ahead(NamedTuple):
    """The mean log loss of the blocks of a stream by one contender."""

    stream: str
    contender: str
    log_loss: float


def made(name: str, rows: int, seed: int = 0) -> Stream:
    """Return a stream whose slopes change places: "sudden", halfway, or "slow"."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows) / rows
    Z = rng.normal(size=(rows, 6))
    Z[:, 3] = Z[:, 0] + 0.3 * Z[:, 3]
    angle = np.pi / 2 * (t >= 0.5) if name == "sudden" else np.pi * t
    odds = 2 * (np.cos(angle) * Z[:, 0] + np.sin(angle) * Z[:, 1]) + 0.5 * Z[:, 2]
    p = 1 / (1 + np.exp(-odds))
    y = rng.random(rows) < p
    truth = -np.log(np.where(y, p, 1 - p))
    return Stream(f"{name} drift", pd.DataFrame(Z, columns=[*"abcdef"]), y, truth)


def streams(folder: Path | None, rows: int) -> Iterator[Stream]:
    """Yield the streams there are."""
    yield made("sudden", rows)
    yield made("slow", rows)
    path = None if folder is None else folder / "tables" / "bank_marketing.csv"
    if path is not None and path.exists():
        table = pd.read_csv(path)
        rest = table.drop(columns="y")
        yield Stream("bank marketing", rest, table["y"].to_numpy())
        timeless = rest.drop(columns=["month", "day"])
        yield Stream("bank marketing without month and day", timeless, table["y"].to_numpy())


def by_half_life(stream: Stream) -> Losses:
    """Return what naively loses on each block."""
    curve = NaiveBayes().curve.decay(stream.X, stream.y, blocks=BLOCKS)
    loss, half_life = np.array(curve.log_loss), np.array(curve.half_life)
    return {one: loss[half_life == one] for one in np.unique(half_life).tolist()}


def by_window(stream: Stream, peer: Any) -> Losses:
    """Return what a peer loses on each block, refitted on so many blocks before it."""
    block = np.arange(len(stream.y)) * BLOCKS // len(stream.y)
    found: dict[float, NDArray] = {}
    for window in WINDOWS:
        losses = []
        for b in range(1, BLOCKS):
            learned, new = (block < b) & (block >= b - window), block == b
            fitted = peer.fit(stream.X[learned], stream.y[learned])
            p = fitted.predict_proba(stream.X[new])
            right = p[np.arange(len(p)), np.searchsorted(fitted.classes_, stream.y[new])]
            losses.append(float(-np.log(np.clip(right, trial.CLIP, 1)).mean()))
        found[window] = np.array(losses)
    return found


def chosen(losses: Losses) -> float:
    """Return the mean loss where each block has the dose that was best on those before it."""
    table = np.stack([losses[dose] for dose in sorted(losses)], axis=1)
    before = np.cumsum(table, axis=0) - table
    longest = before[:, ::-1].argmin(axis=1)  # of equal ones, as of the first block, the longest
    return float(table[:, ::-1][np.arange(len(table)), longest].mean())


def peers() -> dict[str, Any]:
    """Return logistic regression and boosted trees for a table of numbers and strings."""
    strings, numbers = make_column_selector(dtype_exclude="number"), StandardScaler()
    of_numbers = make_column_selector(dtype_include="number")
    one_hot = OneHotEncoder(handle_unknown="ignore")
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return {
        "logistic regression": make_pipeline(
            make_column_transformer((one_hot, strings), (numbers, of_numbers)),
            LogisticRegression(max_iter=1000),
        ),
        "HistGradientBoosting": make_pipeline(
            make_column_transformer((ordinal, strings), remainder="passthrough"),
            HistGradientBoostingClassifier(random_state=0),
        ),
    }


def of(stream: Stream) -> Iterator[Ahead]:
    """Yield what each contender loses on a stream."""
    if stream.truth is not None:
        first = len(stream.y) // BLOCKS
        yield Ahead(stream.name, "the truth", float(stream.truth[first:].mean()))
    each = {"naively": by_half_life(stream)}
    each |= {name: by_window(stream, peer) for name, peer in peers().items()}
    for name, losses in each.items():
        yield Ahead(stream.name, f"{name}, for ever", float(losses[math.inf].mean()))
        yield Ahead(stream.name, f"{name}, chosen", chosen(losses))
        best = min(losses, key=lambda dose: losses[dose].mean())
        told = f"{name}, best in hindsight ({best:g} blocks)"
        yield Ahead(stream.name, told, float(losses[best].mean()))


def run(folder: Path | None) -> list[Ahead]:
    """Measure all streams; print what was found, and return it."""
    found: list[Ahead] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stream in streams(folder, ROWS):
            print(f"{stream.name}: {len(stream.y):,} rows in {BLOCKS} blocks, mean log loss")
            for one in of(stream):
                print(f"  {one.contender:56}{one.log_loss:8.3f}", flush=True)
                found.append(one)
    return found
