"""Half a million rows of 50 numbers, with the defaults."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.accuracy.peers import BOOSTING, LIGHT, LOGISTIC
from benchmarks.speed.beside import Row
from benchmarks.speed.setting import Setting, numbers
from benchmarks.speed.tables import side_by_side


def measure(setting: Setting) -> Sequence[Row]:
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
