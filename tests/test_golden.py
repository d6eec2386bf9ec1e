"""Golden files: models that were written once are read, and say what they said then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from naively import load
from naively.file import store
from naively.schema.schema import Missing
from naively.terms.functions import Above, Line, Step, There
from naively.wings.mail.layout import FORMAT as MAIL_FORMAT
from naively.wings.mail.score import Verdict, words_of
from naively.wings.mail.table import open_table as table_of_mail
from tests.golden.make import FOLDER, SAMPLED, models

FILES = sorted(FOLDER.glob("[0-9]*/*.naively"))
MAIL = sorted(FOLDER.glob("mail-*/*.naively"))


def said_by(path: Path) -> dict:
    said: dict = json.loads(path.with_suffix(".json").read_text())
    return said


def by_format(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def test_there_is_a_golden_file_of_every_kind_in_the_present_format() -> None:
    assert {path.stem for path in FILES if path.parent.name == str(store.FORMAT)} == set(models())


@pytest.mark.parametrize("path", FILES, ids=by_format)
def test_a_golden_file_says_what_it_said(path: Path, tmp_path: Path) -> None:
    said, nb = said_by(path), load(path)
    assert nb.classes_.tolist() == said["classes"]
    p = nb.predict_proba(said["rows"])
    np.testing.assert_allclose(p, said["posterior"], rtol=0, atol=1e-9)
    assert (nb.weights_ is None) == (path.stem in PURE)
    nb.save(tmp_path / "again.naively")
    again = load(tmp_path / "again.naively")
    np.testing.assert_array_equal(again.predict_proba(said["rows"]), p)
    assert again.schema_ == nb.schema_
    assert again.weights_ == nb.weights_
    more = load(path).merge(again)
    assert more.class_count_.tolist() == (2 * nb.class_count_).tolist()


PURE = ("joint", "mixed-pure", "numbers", "priors")


@pytest.mark.parametrize("path", FILES, ids=by_format)
def test_a_golden_file_merges_with_what_counts_alike_today(path: Path) -> None:
    """Rows that are learned today join the counts: blocks are known by their settings."""
    said, nb = said_by(path), load(path)
    before = len(nb.tally_.blocks)
    labels = np.resize(nb.classes_, len(np.asarray(said["posterior"])))
    nb.partial_fit(said["rows"], labels)
    assert len(nb.tally_.blocks) == before


@pytest.mark.parametrize("path", FILES, ids=by_format)
def test_bands_of_words_are_numbered_from_the_rarest(path: Path) -> None:
    """So that weights of words merge with those of today, band by band."""
    weights = load(path).weights_
    bands: dict = {}
    for part in weights.of if weights is not None else ():
        if part.band is not None:
            bands.setdefault(part.group, []).append(part.band)
    assert all(of == [*range(len(of))] for of in bands.values())
    banded = ("mixed", "mixed-decayed", SAMPLED, "texts", "texts-decayed", "words")
    assert bool(bands) == (path.stem in banded)


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in FILES if p.stem == SAMPLED], ids=by_format)
def test_a_golden_sample_fits_the_weights_that_were_fitted(path: Path) -> None:
    nb, said = load(path), said_by(path)
    assert nb.assess().rows == nb.class_count_.sum()
    p = nb.calibrate().predict_proba(said["rows"])
    np.testing.assert_allclose(p, said["posterior"], rtol=0, atol=1e-4)


def test_the_golden_linear_parts_hold_terms_products_and_rules() -> None:
    for path in FILES:
        if path.stem == "linear":
            nb = load(path)
            terms = {type(term.function) for term in nb.weights_.linear.of}
            assert terms == {Line, Step, Above, There}
            assert nb.weights_.linear.products
            assert Missing("level") in {part.column for part in nb.weights_.of}


@pytest.mark.parametrize("path", MAIL, ids=by_format)
def test_a_golden_mail_filter_says_what_it_said(path: Path) -> None:
    table = table_of_mail(str(path))
    assert table.temperature != 1.0  # it was fitted
    for said in json.loads(path.with_suffix(".json").read_text()):
        verdict = Verdict(table, words_of(said["row"]))
        assert verdict.probability == pytest.approx(said["spam"], abs=1e-12)


def test_there_is_a_golden_mail_filter_of_the_present_format() -> None:
    assert f"mail-{MAIL_FORMAT}" in {path.parent.name for path in MAIL}
