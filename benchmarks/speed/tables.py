"""Tables with the defaults, beside boosted trees, logistic regression and calibrated naive Bayes.

The peers and their encoders are those of ``benchmarks/accuracy``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from benchmarks import table
from benchmarks.accuracy.peers import BOOSTING, LIGHT, LOGISTIC, Contender
from benchmarks.speed.beside import Row, Run, beside
from benchmarks.speed.setting import Setting
from naively import NaiveBayes

PEERS = (LOGISTIC, LIGHT, BOOSTING)
CALIBRATED = "CategoricalNB, calibrated"


def measure(setting: Setting) -> Sequence[Row]:
    rows: list[Row] = []
    for name, target, both in (
        ("letter", "class", True),
        ("adult", "income", True),
        ("digits8x8", "target", False),
        ("iris", "class", False),
    ):
        X, y = setting.table(name, target)
        what = f"{name} ({X.shape[0]:,} x {X.shape[1]}, {len(np.unique(y))} classes)"
        more = {CALIBRATED: table.calibrated} if name == "adult" else {}
        rows += side_by_side(what, X, y, setting, predict=both, more=more)
        if name == "letter":
            rows += side_by_side(what, X, y, setting, peers=(), interactions="auto")
    return [*rows, *_from_csv(setting)]


def side_by_side(
    name: str,
    X: Any,
    y: np.ndarray,
    setting: Setting,
    peers: Sequence[Contender] = PEERS,
    *,
    predict: bool = True,
    more: dict[str, Callable[[Any], Any]] | None = None,
    **settings: Any,
) -> list[Row]:
    """Fit, and predict probabilities of the same rows."""
    table = pd.DataFrame(X) if peers else X
    makes = {one.name: one.make for one in peers if one.missing is None}
    makes |= more or {}
    held: dict[str, Any] = {}

    def fit(side: str) -> Run:
        def run() -> None:
            held[side] = makes[side](table).fit(table, y)

        return run

    def fit_ours() -> None:
        held["naively"] = NaiveBayes(**settings).fit(X, y)

    lacking = {one.name: f"{one.missing} is not installed" for one in peers if one.missing}
    of = f"{name}, interactions" if settings else name
    rounds = min(3, setting.rounds) if len(y) > 10_000 else setting.rounds
    rows = beside(
        f"{of}: fit", fit_ours, {side: fit(side) for side in makes} | lacking, rounds=rounds
    )
    if predict:
        theirs = {side: lambda side=side: held[side].predict_proba(table) for side in makes}
        rows += beside(
            f"{of}: predict_proba",
            lambda: held["naively"].predict_proba(X),
            theirs | lacking,
            rounds=rounds,
        )
    return rows


def _from_csv(setting: Setting) -> list[Row]:
    """Fit a file: read by DuckDB on our side, by pandas on the other."""
    path = setting.path("adult")
    limit = "LIMIT 300" if setting.small else ""

    def ours() -> None:
        query = f"FROM read_csv(?, header = true) {limit}"
        rows = duckdb.connect().execute("SET threads = 1").query(query, params=[str(path)])
        NaiveBayes().fit(rows, "income")

    def theirs() -> None:
        X = pd.read_csv(path, nrows=300 if setting.small else None)
        y = X.pop("income").to_numpy()
        table.calibrated(X).fit(X, y)

    return beside(
        "adult.csv: read and fit",
        ours,
        {f"pandas, {CALIBRATED}": theirs},
        rounds=min(3, setting.rounds),
    )
