"""What the filter takes for hidden, and for seen, is so in a real browser, pixel by pixel."""

from __future__ import annotations

import io

import matplotlib.image
import numpy as np
import pytest

from tests.hidden_text import SHOWN, TRICKS, WITHIN_WORDS

CONTRAST = 0.25  # of 1: a pixel that differs by less is not noticed
SPECKS = 10  # pixels; a letter of 1px is one or two


@pytest.fixture(scope="module")
def page(browser):
    made = browser.new_page(viewport={"width": 600, "height": 300}, java_script_enabled=False)
    yield made
    made.close()


def picture(page, body: str) -> np.ndarray:
    page.set_content(f"<!doctype html><html><body><p>cheap pills</p>{body}</body></html>")
    return matplotlib.image.imread(io.BytesIO(page.screenshot()))[:, :, :3]


def is_seen(page, piece: str) -> bool:
    """Whether it shows which text is in it."""
    one, other = (picture(page, piece.replace("TEXT", text)) for text in ("WWWW", "iiiilll"))
    return int((np.abs(one - other).max(axis=2) > CONTRAST).sum()) > SPECKS


@pytest.mark.parametrize("name", TRICKS)
def test_hidden_text_does_not_show(page, name: str) -> None:
    assert not is_seen(page, TRICKS[name])


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_no_trick_shows(page, name: str) -> None:
    assert is_seen(page, SHOWN[name])


@pytest.mark.parametrize("piece", WITHIN_WORDS, ids=ascii)
def test_what_is_within_words_does_not_show(page, piece: str) -> None:
    assert (picture(page, f"pi{piece}lls") == picture(page, "pills")).all()
