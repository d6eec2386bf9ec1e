"""Every scorecard is what its JSON Schema says, and the schema, the types and the page agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from naively import NaiveBayes
from naively.inspect.scorecard import VERSION, schema
from tests.cases import CASES, Case
from tests.laws import samples
from tests.test_export import PAGES
from tests.test_scorecard import models, read, table

ROOT = Path(__file__).parent.parent
VALIDATOR = Draft202012Validator(schema())


def test_it_is_a_schema_of_the_version_that_is_written() -> None:
    Draft202012Validator.check_schema(schema())
    assert schema()["properties"]["version"] == {"const": VERSION}


@pytest.mark.slow
def test_scorecards_of_all_event_models_are_valid() -> None:
    seen = 0

    @settings(max_examples=2, phases=[Phase.generate], database=None)
    @given(data=st.data())
    def validate(case: Case, data: Any) -> None:
        nonlocal seen
        try:
            card = read(data.draw(samples(case, least=2)).model)
        except ValueError:
            return
        VALIDATOR.validate(card)
        seen += 1

    for case in CASES:
        validate(case)
    assert seen > 50


def test_scorecards_of_mixed_tables_are_valid_and_have_all_that_the_schema_knows() -> None:
    positive = NaiveBayes("lognormal").fit({"size": [1.0, 2.0, 4.0]}, [0, 1, 1])
    cards = [read(nb.model_) for nb in [*models(), positive]]
    for card in cards:
        VALIDATOR.validate(card)
    written = {name for card in cards for name in keys(card)}
    assert fields() - written == {"sets", "coverage", "probability"}  # of models that were assessed


def test_a_sample_gives_sets_which_are_valid() -> None:
    x = np.random.default_rng(0).normal(size=(80, 1))
    nb = NaiveBayes().fit(x, (x[:, 0] > 0).astype(int))
    card = read(nb._calibrated())
    assert card["sets"]
    VALIDATOR.validate(card)


def test_what_is_no_scorecard_is_not_valid() -> None:
    card = read(NaiveBayes().fit(*table(40, 3)).model_)
    first = card["terms"][0]
    wrong = [
        {**card, "version": 2},
        {**card, "extra": 1},
        {name: of for name, of in card.items() if name != "unicode"},
        {**card, "terms": [{**first, "extra": 1}]},
        {**card, "terms": [{**first, "kind": "numbers"}]},
        {**card, "terms": [{**first, "term": "other"}]},
        *({**card, "terms": [{n: of for n, of in first.items() if n != name}]} for name in first),
        {**card, "start": ["infinity"]},
    ]
    VALIDATOR.validate(card)
    for one in wrong:
        with pytest.raises(ValidationError):
            VALIDATOR.validate(one)


def test_the_pages_and_the_types_name_each_field() -> None:
    page = "".join(path.read_text("utf-8") for path in PAGES)
    types = (ROOT / "packages/js/scorer.d.mts").read_text("utf-8")
    assert fields() <= set(re.findall(r"`(\w+)`", page))
    assert fields() <= set(re.findall(r"readonly (\w+)\??:", types))


def fields() -> set[str]:
    """All names of properties in the schema."""

    def named(of: Any) -> Iterator[str]:
        if isinstance(of, dict):
            for key, inner in of.items():
                if key == "properties":
                    yield from (name for name, said in inner.items() if said is not True)
                yield from named(inner)
        elif isinstance(of, list):
            for inner in of:
                yield from named(inner)

    return set(named({name: of for name, of in schema().items() if name != "if"}))


def keys(of: Any) -> Iterator[str]:
    if isinstance(of, dict):
        yield from of
        of = list(of.values())
    if isinstance(of, list):
        for inner in of:
            yield from keys(inner)
