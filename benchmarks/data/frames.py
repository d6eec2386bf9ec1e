"""Frames in memory: the generated table as whatever holds it, and one real table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks.data.by_hand import ByHand, of_pandas
from benchmarks.data.rows import NUMBERS, STRINGS, TARGET, query
from benchmarks.data.sides import BARE, DICTIONARY, OURS, PEER, Setting, measure, walk
from naively import NaiveBayes

NAMES = [*NUMBERS, *STRINGS]


@dataclass(frozen=True)
class Holder:
    """What holds a table: how it is made, and what else is done with it.

    Parameters
    ----------
    make : callable
        Makes it of a table in PyArrow.
    without_target : callable
        Leaves the target out.
    for_scikit_learn : callable
        Makes it what scikit-learn takes.
    walk : callable
        Goes through it, and does nothing else.
    """

    make: Callable[[pa.Table], Any]
    without_target: Callable[[Any], Any] = lambda table: table[NAMES]
    for_scikit_learn: Callable[[Any], Any] = lambda table: table
    walk: Callable[[Any], object] = walk


def _pandas(table: pa.Table, strings: str) -> pd.DataFrame:
    return table.to_pandas().astype(dict.fromkeys([*STRINGS, TARGET], strings))


def _relation(table: pa.Table) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("create table kept as from given")
    return connection.table("kept")


HOLDERS = {
    "polars": Holder(pl.from_arrow),
    "pandas-arrow": Holder(partial(_pandas, strings="string[pyarrow]")),
    "pandas-object": Holder(
        partial(_pandas, strings="object"),
        walk=lambda table: [column.tolist() for _, column in table.select_dtypes("object").items()],
    ),
    "pyarrow": Holder(
        lambda table: table, lambda table: table.select(NAMES), lambda table: table.to_pandas()
    ),
    "duckdb": Holder(
        _relation,
        lambda relation: relation.project(", ".join(NAMES)),
        lambda relation: relation.df(),
    ),
}


def frame(setting: Setting, name: str) -> None:
    """Fit the generated table, and predict it."""
    with duckdb.connect() as connection:
        arrow = connection.query(query(setting.rows)).to_arrow_table()
    holder = HOLDERS[name]
    table = holder.make(arrow)
    rows = holder.without_target(table)
    strings = [arrow[string] for string in STRINGS]
    ours = _fit(table, TARGET)
    peer = _fit_by_hand(holder, table)
    encode = {DICTIONARY: lambda: [column.dictionary_encode() for column in strings]}
    measure(
        f"{name}: fit",
        {
            BARE: lambda: holder.walk(table),
            **encode,
            PEER: lambda: _fit_by_hand(holder, table),
            OURS: lambda: _fit(table, TARGET),
        },
        setting.rounds,
    )
    measure(
        f"{name}: predict_proba",
        {
            BARE: lambda: holder.walk(rows),
            **encode,
            PEER: lambda: peer.predict_proba(holder.for_scikit_learn(rows)),
            OURS: lambda: _every(ours.predict_proba(rows)),
        },
        setting.rounds,
    )


def _every(found: Any) -> Any:
    """Return all predictions; those of a relation come in batches, when they are asked for."""
    return found if isinstance(found, np.ndarray) else list(found)


def _fit(table: Any, y: Any) -> NaiveBayes:
    nb = NaiveBayes(weights=None).fit(table, y)
    _ = nb.model_.likelihoods  # as scikit-learn derives them in fit
    return nb


def _fit_by_hand(holder: Holder, table: Any) -> ByHand:
    taken = holder.for_scikit_learn(table)
    return ByHand(NUMBERS, STRINGS).fit(taken, taken[TARGET])


def adult(setting: Setting) -> None:
    """Fit a real table of 48,842 rows by 14, with strings and missing cells."""
    if (table := _adult("adult")) is None:
        return
    y = table["income"]
    rows = table.drop(columns="income")
    measure(
        "adult in pandas: fit",
        {
            BARE: lambda: walk(table),
            PEER: lambda: of_pandas(rows).fit(rows, y),
            OURS: lambda: _fit(table, "income"),
        },
        setting.rounds,
    )


def one_row(setting: Setting) -> None:
    """Predict one row of a frame."""
    if (table := _adult("one-row")) is None:
        return
    y = table.pop("income")
    peer = of_pandas(table).fit(table, y)
    ours = _fit(table, y)
    row = table.iloc[[0]]
    measure(
        "one row of adult in pandas: predict",
        {
            BARE: lambda: walk(row),
            PEER: lambda: peer.predict_proba(row),
            OURS: lambda: ours.predict(row),
        },
        setting.rounds,
        repeat=50,
    )


def _adult(case: str) -> pd.DataFrame | None:
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        print(f"{case}: not measured: NAIVELY_DATA is not set")
        return None
    return pd.read_csv(Path(folder, "tables", "adult.csv"))


CASES: Mapping[str, Callable[[Setting], None]] = {
    **{name: partial(frame, name=name) for name in HOLDERS},
    "adult": adult,
    "one-row": one_row,
}
