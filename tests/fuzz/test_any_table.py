"""Any table that can be learned from: its model is saved, loaded, and predicts the same."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes, load
from tests.fuzz import fuzz

NAMES: list[Any] = [
    "a", "", " ", "é", "\0", "a × b", "x0", "text", "\ud800", '{"checksum": "', "a" * 300,
]  # fmt: skip
CELLS: list[list[Any]] = [
    [0.0, -0.0, 1.5, -3.0, 1e150, 1e-300, None, np.inf],
    [0, 1, 2**40, -5, None],
    [10**17, 10**18 + 1, None],
    [True, False, None],
    ["", "a", "b", "a\0", "\ud800", "1", None, '{"checksum": "00000000'],
    [dt.date(2020, 1, 1), dt.date(1, 1, 1), None],
    [dt.datetime(2020, 1, 1, 5), dt.datetime(2021, 7, 1), None],  # noqa: DTZ001
    [dt.timedelta(1), dt.timedelta(0), None],
    [Decimal("0.1"), 2, None],
    ["one two three four five", "six seven eight nine ten", "one ten", None],
    [["one", "two"], [], None],
    [b"x", (1, 2), object(), {}, 1j],
]
LABELS: list[list[Any]] = [
    ["u", "v"], [0, 1, 2], [0.5, 1.5], [True, False], [dt.date(2024, 2, 29), dt.date(1, 1, 1)],
]  # fmt: skip


def through(nb: Any, path: Path) -> Any:
    nb.save(path)
    return load(path)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_what_fits_predicts_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "model.naively"

    def check(rng: random.Random) -> None:
        n = rng.choice([1, 2, 7, 30])
        names = rng.sample(NAMES, rng.randint(1, 4))
        table = {
            name: [rng.choice(cells) for _ in range(n)]
            for name in names
            for cells in [rng.choice(CELLS)]
        }
        y = rng.choices(rng.choice(LABELS), k=n)
        weight = [rng.choice([1.0, 0.1, 1e-30, 1e10]) for _ in y] if rng.random() < 0.3 else None
        settings = {
            "weights": rng.choice(["loo", "temperature", None]),
            "smoothing": rng.choice(["auto", 0.5]),
        }
        if rng.random() < 0.5:
            settings["event_models"] = rng.choice(
                ["categorical", "joint", "gaussian", "multinomial", "density"]
            )
        try:
            nb = NaiveBayes(**settings).fit(table, y, weight)
        except (ValueError, TypeError) as error:
            assert str(error)  # noqa: PT017
            return
        loaded = through(nb, path)
        assert loaded.predict_proba(table).tobytes() == nb.predict_proba(table).tobytes()
        assert loaded.schema_ == nb.schema_
        through(loaded, path.with_name("again"))
        assert path.with_name("again").read_bytes() == path.read_bytes()

    fuzz(check, 25)
