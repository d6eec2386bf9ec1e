"""Strings turned into codes, numbers and times, beside PyArrow, NumPy and Python."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import numpy as np

from benchmarks.speed.beside import Row, Run, beside
from benchmarks.speed.setting import Setting
from naively.kernels import dispatch


def measure(setting: Setting) -> Sequence[Row]:
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
        lambda: dispatch.read_numbers(packed_numbers),
    )
    add(
        "read numbers of a list",
        "PyArrow's cast",
        lambda: pa.array(numbers).cast(pa.float64()),
        lambda: dispatch.read_numbers(dispatch.pack_strings(numbers)),
    )
    add(
        "read times",
        "datetime.fromisoformat",
        lambda: [dt.datetime.fromisoformat(text) for text in times],
        lambda: dispatch.read_times(packed_times),
    )
    add(
        "read times of a list",
        "NumPy's datetime64",
        lambda: np.array(times, "M8[us]"),
        lambda: dispatch.read_times(dispatch.pack_strings(times)),
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
