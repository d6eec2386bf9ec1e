"""Labelled tables as interactions see them, and the order of their rows in the sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively import NaiveBayes
from naively.counting.block import Batch
from naively.fitting.leave_one_out import row_order
from naively.schema.schema import contents, fingerprints
from tests.products import Product

MIXED = ("size", "colour", "member", "bit", "when")


def mixed(
    n: int, weights: str = "none", seed: int = 0
) -> tuple[dict[str, Any], np.ndarray, np.ndarray | None]:
    """Draw a table of all kinds of columns, with missing cells, copies and weights if wanted."""
    table = Product("mixed", MIXED).table(seed, n, weights=weights == "fractions")
    if weights == "copies":
        often = np.random.default_rng(seed).integers(1, 4, n)
        table = table.take(np.repeat(np.arange(n), often))
    if weights == "fractions":  # some rows come twice, with different weights
        table = table.take(np.append(np.arange(n), np.arange(0, n, 5)))
        assert table.weight is not None
        table.weight[n:] = 0.7
    return table.X, table.y, table.weight


def together(n: int, how: str, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Draw columns of which "a" and "b" tell the class together, and none alone; "c" never does."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n))
    y = np.where((a > 0) ^ (b > 0), "p", "q")
    match how:
        case "truths":
            return {"a": a > 0, "b": b > 0, "c": c > 0}, y
        case "levels":
            levels = np.array([["n0", "n1", "n2"], ["p0", "p1", "p2"]], object)
            which = rng.integers(0, 3, (3, n))
            cells = (levels[(x > 0).astype(int), w] for x, w in zip((a, b, c), which, strict=True))
            return dict(zip("abc", cells, strict=True)), y
    return {"a": a, "b": b, "c": c}, y


def noise(n: int, d: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw columns and labels that know nothing of each other."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, k, n)


def order_in_sample(nb: NaiveBayes, batch: Batch) -> np.ndarray:
    """Return the order in which all rows, which differ, are in the sample."""
    first = np.argsort(fingerprints(batch, nb._learned.sample.seed))
    (then,) = row_order([batch.take(first)], [contents(batch)[first]])
    return first[then]
