"""Random sequences of learning and forgetting on mixed tables, beside a list of what was learned.

Rows that were learned are always forgotten, and the model is then that of the rest. Of others it is
either said that they cannot be, and nothing changes; or no sum can tell.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from naively import Gaussian, Model, NaiveBayes, Poisson
from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from tests.fuzz import fuzz
from tests.laws import assert_same

Row = tuple[Any, ...]
COLUMNS = ["size", "count", "colour", "member", "note", "when"]
EVENTS = {"size": Gaussian(), "count": Poisson(alpha=0.5)}


@pytest.mark.slow
def test_what_was_learned_is_forgotten_and_what_can_be_seen_not_to_be_is_refused() -> None:
    fuzz(sequence, 10)


def row_of(rng: random.Random) -> Row:
    return (
        rng.choice([None, 1.5, -2.0, 1e6, rng.gauss(0, 1)]),
        rng.choice([0, 1, 2, 7]),
        rng.choice(["red", "green", None]),
        rng.choice([True, False]),
        rng.choice(["lunch at noon today", "buy cheap pills now", ""]),
        np.datetime64(rng.randint(0, 10**8), "s"),
    )


def table(rows: list[Row]) -> dict[str, Any]:
    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    columns["when"] = np.array(columns["when"], "datetime64[s]")
    return columns


def sequence(rng: random.Random) -> None:
    drawn = [(row_of(rng), rng.choice("ab")) for _ in range(rng.randint(3, 12))]
    nb = NaiveBayes({**EVENTS, "note": "text"}, weights=None).fit(*apart(drawn))
    learned = list(drawn)
    for _ in range(6):
        act = rng.choice(["learn", "forget", "forget", "other"])
        if act == "learn":
            more = [(row_of(rng), rng.choice("ab")) for _ in range(rng.randint(1, 3))]
            nb.partial_fit(*apart(more))
            learned += more
        elif act == "forget" and len(learned) > 2:
            some = [learned.pop(rng.randrange(len(learned))) for _ in range(rng.randint(1, 2))]
            nb.forget(*apart(some))
            assert_counts(nb, learned)
        elif act == "other":
            row, label = rng.choice([*learned, (row_of(rng), "c")])
            j = rng.randrange(len(COLUMNS))
            other = (*row[:j], row_of(rng)[j], *row[j + 1 :]), label
            if other in learned:
                continue
            before = nb.model_
            said = refused(nb, other)
            if said:
                assert said.startswith("Cannot forget rows that were not learned: ")
                assert nb.model_ is before
            else:
                assert_cells_were_learned(*other, learned)
                nb.partial_fit(*apart([other]))  # they are learned again
                assert_counts(nb, learned)


def refused(nb: NaiveBayes, row: tuple[Row, str]) -> str:
    """Forget a row, or return why it cannot be."""
    try:
        nb.forget(*apart([row]))
    except ValueError as error:
        return str(error)
    return ""


def apart(rows: list[tuple[Row, str]]) -> tuple[dict[str, Any], list[str]]:
    return table([row for row, _ in rows]), [label for _, label in rows]


def assert_counts(nb: NaiveBayes, learned: list[tuple[Row, str]]) -> None:
    """The model is that of these rows."""
    table, y = apart(learned)
    rows = as_rows(table)
    assert_same(nb.model_, Model.learn(rows, encode_labels(y), nb.model_.counted.schema), rows)


def assert_cells_were_learned(row: Row, label: str, learned: list[tuple[Row, str]]) -> None:
    """What was not refused has each of its cells in common with rows of its class."""
    of_class = [other for other, its in learned if its == label]
    _, count, colour, member, note, _ = row
    assert colour is None or colour in {other[2] for other in of_class}
    assert member in {other[3] for other in of_class}
    assert set(note.split()) <= {word for other in of_class for word in other[4].split()}
    assert count <= sum(other[1] for other in of_class)
    assert len(of_class) > 1 or row[0] in (None, of_class[0][0])
