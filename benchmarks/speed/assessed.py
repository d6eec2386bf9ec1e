"""How many times as long as a fit assess() takes, on headlines, SMS and adult."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.speed.beside import Row, beside
from benchmarks.speed.setting import Setting
from naively import NaiveBayes


def measure(setting: Setting) -> Sequence[Row]:
    rows: list[Row] = []
    for name, (X, y) in (
        ("onion_headlines", setting.texts("onion_headlines")),
        ("SMS", setting.texts("sms_spam")),
        ("adult", setting.table("adult", "income")),
    ):
        nb = NaiveBayes().fit(X, y)
        rows += beside(
            f"{name}: assess()",
            nb.assess,
            {"its fit": lambda X=X, y=y: NaiveBayes().fit(X, y)},
            rounds=setting.rounds,
            multiple=True,
        )
    return rows
