"""What objects show at a prompt and in a notebook: what they print, and no dump of their fields."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

from naively import Categorical, Gaussian, MultinomialNB, NaiveBayes

TABLE = {
    "<b>size</b>": [1.0, 2.0, 7.0, 8.0, None, 1.5],
    "a & b": ["x", "y", "y", "x", "<i>", None],
    "text": ["one < two", "two & three", "three", "four words are here", "one more", "x > y"],
}
LABELS = ["<small>", "<small>", "large", "large", "large", "<small>"]
OBJECTS = [
    "schema", "explanation", "explanation of a row", "assessment", "tally", "tally of a block",
    "weights", "model", "linear view",
]  # fmt: skip


@pytest.fixture(scope="module")
def objects():
    nb = NaiveBayes().fit(TABLE, LABELS)
    explanation = nb.explain(TABLE)
    colours = NaiveBayes(Categorical(), weights=None).fit({"a & b": TABLE["a & b"]}, LABELS)
    shown = [
        nb.schema_, explanation, explanation[0], nb.assess(), nb.tally_,
        next(iter(nb.tally_.blocks.values())), nb.weights_, nb.model_, colours.inspect.linear(),
    ]  # fmt: skip
    return dict(zip(OBJECTS, shown, strict=True))


class Page(HTMLParser):
    """The text and the elements of a page."""

    def __init__(self, page):
        super().__init__()
        self.text, self.elements = "", set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.elements.add(tag)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", OBJECTS)
def test_prompt_shows_what_is_printed(objects, name):
    shown = objects[name]
    assert repr(shown) == str(shown)
    assert f"{type(shown).__name__}(" not in repr(shown)
    assert "array(" not in repr(shown)
    assert "np." not in repr(shown)  # labels are plain Python values


@pytest.mark.parametrize("name", OBJECTS)
def test_notebook_shows_the_same_text_and_runs_no_markup_of_the_data(objects, name):
    page = Page(objects[name]._repr_html_())
    assert page.text == str(objects[name])
    assert page.elements == {"pre"}


def test_tally_says_rows_by_class_and_what_was_counted():
    X = {"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, None, 2.0, 1.0]}
    nb = NaiveBayes(Gaussian()).fit(X, ["u", "v", "v", "v"], sample_weight=[1, 0.5, 1, 2000])
    first, block = str(nb.tally_).splitlines()
    assert first == "2,002.5 rows: 1 of 'u', 2,001.5 of 'v'"
    # 3 sums of 2 columns in 2 classes, each a pair of numbers of 8 bytes
    counted = "2 columns × 2 classes: present, value, square (192 bytes)"
    assert block.endswith(counted)
    assert str(next(iter(nb.tally_.blocks.values()))) == counted


def test_tally_of_many_classes_is_a_line():
    nb = NaiveBayes(Gaussian(), weights=None).fit(np.arange(400.0)[:, None], np.arange(400) // 4)
    first, *_ = str(nb.tally_).splitlines()
    assert first.startswith("400 rows: 4 of 0, 4 of 1, ")
    assert first.endswith(", 4 of 9, 90 classes more")


def test_weights_say_the_mean_and_the_range_of_each_column():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = {"told": y + rng.normal(size=300), "noise": rng.normal(size=300)}
    weights = NaiveBayes(Gaussian()).fit(X, y).weights_
    head, *lines = str(weights).splitlines()
    assert "300 rows" in head
    for line, (name, by_class) in zip(lines[:2], weights.by_name.items(), strict=True):
        least, greatest = min(by_class.values()), max(by_class.values())
        mean = sum(by_class.values()) / len(by_class)
        assert line == f"  {mean:.3f} ({least:.3f} to {greatest:.3f})  {name}"


def test_linear_view_lists_the_features_of_greatest_weight():
    X = np.eye(30)
    nb = MultinomialNB().fit(X[[0, 0, 0, 1, 2, 3]], ["a", "a", "a", "b", "b", "b"])
    lines = str(nb.inspect.linear()).splitlines()
    assert lines[0] == "log odds of 'b' against 'a'"
    assert lines[1] == "  +0.000  (intercept)"
    assert len(lines) == 13
    assert lines[-1] == "  and 20 features of less weight"
    # In class a word 0 came 3 times and 33 words were counted, pretend ones among them.
    assert lines[2] == f"  {np.log(1 / 33) - np.log(4 / 33):+.3f}  x0"
    assert lines[3] == f"  {np.log(2 / 33) - np.log(1 / 33):+.3f}  x1"
    three = MultinomialNB().fit(X[[0, 1, 2]], ["a", "b", "c"]).inspect.linear()
    heads = [line for line in str(three).splitlines() if not line.startswith(" ")]
    assert heads == ["'a'", "'b'", "'c'"]


def test_model_says_its_size_and_its_columns():
    nb = NaiveBayes().fit(TABLE, LABELS)
    head, *columns = str(nb.model_).splitlines()
    assert head == "6 rows, 2 classes, 3 columns"
    assert columns == str(nb.model_.described()).splitlines()
