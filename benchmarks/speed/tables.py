"""Speed on tables: the defaults, numbers, assessing, and reading what tables are made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

from benchmarks.accuracy.peers import BOOSTING, LIGHT, LOGISTIC, Contender
from benchmarks.speed.beside import Row, Run, Setting, beside, numbers
from benchmarks.timing import Result, compare
from naively import NaiveBayes
from naively.kernels import dispatch

# --- NaiveBayes with its defaults on a table from CSV, against encoding and calibrating ----------


def adult(path: Path, rounds: int = 3) -> Result:
    """Fit adult.csv (48,842 x 14), missing cells and strings included."""
    table = pd.read_csv(path)
    y = table.pop("income").to_numpy()
    return compare(
        f"table fit ({path.name}, calibrated)",
        lambda: calibrated(table).fit(table, y),
        lambda: NaiveBayes().fit(table, y),
        rounds,
    )


def calibrated(table: pd.DataFrame) -> Any:
    """Encode every cell as a level, and calibrate CategoricalNB by cross-validation."""
    # Every value is a level; 0 stands for a missing one.
    encode = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
    )
    levels = table.nunique().to_numpy() + 1
    nb = CalibratedClassifierCV(CategoricalNB(min_categories=levels), cv=5)
    return make_pipeline(encode, FunctionTransformer(lambda X: X + 1), nb)


# --- Tables --------------------------------------------------------------------------------------
#
# Tables with the defaults, beside boosted trees, logistic regression and calibrated naive Bayes.
#
# The peers and their encoders are those of ``benchmarks/accuracy``.


PEERS = (LOGISTIC, LIGHT, BOOSTING)
CALIBRATED = "CategoricalNB, calibrated"


def measure_tables(setting: Setting) -> Sequence[Row]:
    rows: list[Row] = []
    for name, target, both in (
        ("letter", "class", True),
        ("adult", "income", True),
        ("digits8x8", "target", False),
        ("iris", "class", False),
    ):
        X, y = setting.table(name, target)
        what = f"{name} ({X.shape[0]:,} x {X.shape[1]}, {len(np.unique(y))} classes)"
        more = {CALIBRATED: calibrated} if name == "adult" else {}
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
        calibrated(X).fit(X, y)

    return beside(
        "adult.csv: read and fit",
        ours,
        {f"pandas, {CALIBRATED}": theirs},
        rounds=min(3, setting.rounds),
    )


# --- Half a million rows of 50 numbers, with the defaults ----------------------------------------


def measure_numbers(setting: Setting) -> Sequence[Row]:
    n = setting.size(500_000, 400)
    d, k = setting.size(50, 5), setting.size(10, 3)
    X, y = numbers(n, d, k)
    name = f"{n:,} x {d}, {k} classes"
    slow = setting.large or setting.small
    if slow:
        return side_by_side(name, X, y, setting, (LOGISTIC, LIGHT, BOOSTING))
    rows = side_by_side(name, X, y, setting, (LOGISTIC,))
    minutes = "takes minutes, see --large"
    return [
        *rows,
        *(
            Row(f"{name}: {work}", one.name, note=f"not measured: {minutes}")
            for one in (LIGHT, BOOSTING)
            for work in ("fit", "predict_proba")
        ),
    ]


# --- How many times as long as a fit it takes to assess too, on headlines, SMS and adult ---------


def measure_assessing(setting: Setting) -> Sequence[Row]:
    rows: list[Row] = []
    for name, (X, y) in (
        ("onion_headlines", setting.texts("onion_headlines")),
        ("SMS", setting.texts("sms_spam")),
        ("adult", setting.table("adult", "income")),
    ):
        rows += beside(
            f"{name}: fit and assess()",
            lambda X=X, y=y: NaiveBayes().fit(X, y).assess(),
            {"its fit": lambda X=X, y=y: NaiveBayes().fit(X, y)},
            rounds=setting.rounds,
            multiple=True,
        )
    return rows


# --- Strings turned into codes, numbers and times, beside PyArrow, NumPy and Python --------------


def measure_strings(setting: Setting) -> Sequence[Row]:
    try:
        import pyarrow as pa
    except ImportError:
        return [Row("strings", "PyArrow", note="not measured: pyarrow is not installed")]
    n, rounds = setting.size(1_000_000, 1_200), min(3, setting.rounds)
    rng = np.random.default_rng(0)
    rows: list[Row] = []

    def add(name: str, peer: str, theirs: Run, ours: Run) -> None:
        rows.extend(beside(name, ours, {peer: theirs}, rounds=rounds))

    for levels in (10, 1000, n):
        texts = _texts(rng, n, levels)
        arrow, packed = pa.array(texts), dispatch.pack_strings(texts)
        add(
            f"encode {n:,} strings of {levels:,} levels",
            "PyArrow's dictionary_encode",
            arrow.dictionary_encode,
            lambda packed=packed: dispatch.encode_strings(packed),
        )
    views = arrow.cast(pa.string_view())
    _, at, *data = views.buffers()
    cells = np.frombuffer(at, np.uint8)[: 16 * n].reshape(n, 16)
    buffers = [np.frombuffer(one, np.uint8) for one in data]
    order = rng.permutation(n)
    latin = pa.array([text + "\xe9" for text in texts])
    accented = dispatch.pack_strings(latin.to_pylist())
    numbers, times = _numbers_and_times(rng, n)
    packed_numbers, packed_times = map(dispatch.pack_strings, (numbers, times))
    add(
        "pack a list",
        "PyArrow's array",
        lambda: pa.array(texts),
        lambda: dispatch.pack_strings(texts),
    )
    add(
        "pack views",
        "PyArrow's cast",
        lambda: views.cast(pa.large_string()),
        lambda: dispatch.pack_views(cells, buffers),
    )
    add(
        "take in any order",
        "PyArrow's take",
        lambda: arrow.take(order),
        lambda: dispatch.take_strings(packed, order),
    )
    add(
        "check UTF-8",
        "PyArrow's validate",
        lambda: latin.validate(full=True),
        lambda: dispatch.repair_utf8(accented),
    )
    add(
        "read numbers",
        "float",
        lambda: [float(text) for text in numbers],
        lambda: dispatch.read_forms(packed_numbers),
    )
    add(
        "read numbers of a list",
        "PyArrow's cast",
        lambda: pa.array(numbers).cast(pa.float64()),
        lambda: dispatch.read_forms(dispatch.pack_strings(numbers)),
    )
    add(
        "read times",
        "datetime.fromisoformat",
        lambda: [dt.datetime.fromisoformat(text) for text in times],
        lambda: dispatch.read_forms(packed_times),
    )
    add(
        "read times of a list",
        "NumPy's datetime64",
        lambda: np.array(times, "M8[us]"),
        lambda: dispatch.read_forms(dispatch.pack_strings(times)),
    )
    return rows


def _texts(rng: np.random.Generator, n: int, levels: int) -> list[str]:
    """Strings of 5 to 20 letters, of so many levels, each an object of its own."""
    letters = rng.integers(97, 123, (levels, 20), np.uint8)
    length = rng.integers(5, 21, levels)
    which = rng.integers(0, levels, n).tolist() if levels < n else range(n)
    return [letters[i, : length[i]].tobytes().decode() for i in which]


def _numbers_and_times(rng: np.random.Generator, n: int) -> tuple[list[str], list[str]]:
    numbers = [f"{x:.2f}" for x in rng.normal(100.0, 50.0, n).tolist()]
    return numbers, rng.integers(0, 2**31, n).astype("M8[s]").astype(str).tolist()
