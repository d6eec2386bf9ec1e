"""Write the golden files: small models of every kind in the present format, and what they say.

A later commit must read them and say the same. ``python -m tests.golden.make`` writes them: anew
where the format changes, which has the number 1 until something is released.
"""

from __future__ import annotations

import json
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Complement,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    Histogram,
    JointTable,
    KernelDensity,
    LogNormal,
    Multinomial,
    NaiveBayes,
    Normal,
    NormalInverseGamma,
    Patterns,
    Poisson,
    Text,
)
from naively.file import store
from naively.wings.mail.layout import FORMAT as MAIL_FORMAT
from naively.wings.mail.learn import learn
from naively.wings.mail.message import read_message
from naively.wings.mail.score import Verdict, words_of
from naively.wings.mail.table import open_table

FOLDER = Path(__file__).parent
SAMPLED = "mixed-sampled"  # the model that is saved with the sample of its rows
WORDS = "buy cheap pills now lunch at noon with Ann see you on friday the report is late".split()  # noqa: SIM905


def mixed(n: int = 60) -> tuple[dict[str, list[Any]], list[str]]:
    """Return a table of every kind of column, with missing cells, and labels of three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    days = np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 10**8, n).astype("timedelta64[s]")
    texts = [" ".join(rng.choice(WORDS[4 * c : 4 * c + 6], 6)) for c in y.tolist()]
    table: dict[str, list[Any]] = {
        "number": np.round(rng.normal(y, 1.0), 3).tolist(),
        "count": rng.poisson(1 + 2 * y).tolist(),
        "flag": (rng.random(n) < 0.2 + 0.3 * y).tolist(),
        "level": [["red", "green", "blue"][i] for i in (y + (rng.random(n) < 0.3)) % 3],
        "when": [f"{day}Z" for day in days],
        "note": [f"{text} {i}" for i, text in enumerate(texts)],
    }
    for j, column in enumerate(table.values()):
        for i in range(j, n, 11):
            column[i] = None
    return table, ["abc"[c] for c in y]


def numbers(n: int = 40) -> tuple[dict[str, list[float]], list[int]]:
    """Return columns of numbers above 0, and labels of two classes."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    columns = [
        *(rng.gamma(2.0, 1.0 + y).round(3) for _ in range(5)),
        *(rng.poisson(2 + y) for _ in range(3)),
    ]
    return {name: columns[j].tolist() for j, name in enumerate("abcdefgh")}, y.tolist()


def dependent(n: int = 400) -> tuple[dict[str, list[Any]], list[str]]:
    """Return two columns that tell the label only together, and one that does alone."""
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, n), rng.normal(0, 1, n).round(3)
    y = (a == (b > 0)) ^ (rng.random(n) < 0.05)
    table = {"a": ["yes" if i else "no" for i in a], "b": b.tolist()}
    return table | {"c": (y + rng.normal(0, 1, n)).round(3).tolist()}, [
        "in" if i else "out" for i in y
    ]


def alike(n: int = 240) -> tuple[dict[str, list[Any]], list[str]]:
    """Return columns that say much alike, two that tell only together, and cells that are missing.

    Labels are of three classes; only in the first are cells missing.
    """
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, n)
    first, u = rng.normal(y, 1.0), rng.normal(0, 1, n)
    together = np.sign(u) * np.where((y == 1) ^ (rng.random(n) < 0.1), 1, -1)
    table: dict[str, list[Any]] = {
        "first": first.round(3).tolist(),
        "second": (first + rng.normal(0, 0.5, n)).round(3).tolist(),
        "u": u.round(3).tolist(),
        "v": (np.abs(rng.normal(0, 1, n)) * together).round(3).tolist(),
        "level": [["red", "green", "blue"][i] for i in (y + (rng.random(n) < 0.3)) % 3],
        "flag": (rng.random(n) < 0.2 + 0.3 * y).tolist(),
    }
    for name, share in (("second", 0.3), ("level", 0.2)):
        gone = (y == 0) & (rng.random(n) < share)
        table[name] = [None if g else x for g, x in zip(gone, table[name], strict=True)]
    return table, ["abc"[c] for c in y]


def models() -> dict[str, tuple[NaiveBayes, Any]]:
    """Return a fitted model of every kind, and rows for it to predict."""
    table, y = mixed()
    columns, z = numbers()
    texts = [note or "" for note in table["note"]]
    of_numbers = {
        "a": Gaussian(), "b": Gaussian(variance="shared"), "c": LogNormal(), "d": Exponential(),
        "e": KernelDensity(), "f": Poisson(), "g": Geometric(), "h": Histogram(bins=4),
    }  # fmt: skip
    with_priors = {
        "a": Gaussian(prior=NormalInverseGamma(1, 2, 3, 4)),
        "b": Gaussian(variance=2.0, prior=Normal(1, 2)),
        "c": Gaussian(prior=NormalInverseGamma(1, 2, 3, 4), estimate="predictive"),
        "d": Exponential(prior=Gamma(2, 3), estimate="predictive"),
        "f": Poisson(prior=Gamma(2, 1), estimate="map"),
        "g": Geometric(prior=Beta(2, 3)),
        "h": Bernoulli(prior=Beta(2, 5), threshold=2.5),
    }
    X = np.array([columns[name] for name in "fgh"], float).T
    levels = {name: table[name] for name in ("flag", "level")}
    pair, in_or_out = dependent()
    several, one_of_three = alike()
    made = {
        "mixed": (NaiveBayes().fit(table, y), table),
        "mixed-pure": (NaiveBayes(weights=None).fit(table, y), table),
        "temperature": (NaiveBayes(weights="temperature").fit(table, y), table),
        "numbers": (NaiveBayes(of_numbers, weights=None).fit(columns, z), columns),
        "priors": (
            NaiveBayes(with_priors, class_prior=Beta(2, 3), weights=None).fit(columns, z),
            columns,
        ),
        "levels": (
            NaiveBayes(
                {"level": Categorical(prior=Dirichlet(2)), "flag": Bernoulli(m=1.0)},
                class_prior={"a": 0.2, "b": 0.3, "c": 0.5},
            ).fit(levels, y),
            levels,
        ),
        "joint": (NaiveBayes(JointTable(), weights=None).fit(levels, y), levels),
        "interactions": (NaiveBayes(interactions="auto").fit(pair, in_or_out), pair),
        "linear": (NaiveBayes(interactions="auto").fit(several, one_of_three), several),
        "matrix": (NaiveBayes().fit(X, z), X.tolist()),
        "texts": (NaiveBayes().fit(texts, y), texts),
        "words": (NaiveBayes(text="words").fit(texts, y), texts),
        "bernoulli-text": (NaiveBayes(Text(event=Bernoulli())).fit(texts, y), texts),
        "hashed": (NaiveBayes(Text(features=64, event=Multinomial())).fit(texts, y), texts),
        "patterns": (NaiveBayes(Patterns(event=Complement())).fit(texts, y), texts),
        "selected": (NaiveBayes(Text(min_df=2, max_features=9)).fit(texts, y), texts),
    }
    for name, event in (("sparse", Multinomial()), ("complement", Complement(norm=True))):
        made[name] = (NaiveBayes(event).fit(sparse.csr_array(X), z), X.tolist())
    for name in ("mixed", "texts"):
        nb, rows = made[name]
        made[f"{name}-decayed"] = (copy(nb).decay(0.7), rows)
    made[SAMPLED] = made["mixed"]
    return made


def mail() -> list[tuple[dict[str, Any], str]]:
    """Return messages and their classes, enough of them for a temperature."""
    rng = np.random.default_rng(3)
    found = []
    for i in range(50):
        spam = i % 2
        words = rng.choice(WORDS[:6] if spam else WORDS[3:], 8)
        head = f"From: {rng.choice(['ann', 'shop'])}@example.org\nSubject: {words[0]}\n\n"
        found.append((f"{head}{' '.join(words)}\n", "spam" if spam else "ham"))
    return [(read_message(text.encode()), label) for text, label in found]


def write_mail(folder: Path) -> None:
    """Write a model of the mail filter beside what it says of its messages."""
    folder.mkdir(exist_ok=True)
    (folder / "mail.naively").unlink(missing_ok=True)
    messages = mail()
    learn(str(folder / "mail.naively"), messages)
    (folder / ".mail.naively.lock").unlink(missing_ok=True)
    table = open_table(str(folder / "mail.naively"))
    said = [{"row": row, "spam": Verdict(table, words_of(row)).probability} for row, _ in messages]
    (folder / "mail.json").write_text(json.dumps(said[:12]) + "\n")


def main() -> None:
    """Write every model beside what it says of its rows."""
    write_mail(FOLDER / f"mail-{MAIL_FORMAT}")
    folder = FOLDER / str(store.FORMAT)
    folder.mkdir(exist_ok=True)
    for name, (nb, rows) in models().items():
        some = (
            {key: column[:12] for key, column in rows.items()}
            if isinstance(rows, dict)
            else rows[:12]
        )
        nb.save(folder / f"{name}.naively", keep_rows=name == SAMPLED)
        said = {
            "rows": some,
            "classes": nb.classes_.tolist(),
            "posterior": nb.predict_proba(some).tolist(),
        }
        (folder / f"{name}.json").write_text(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
