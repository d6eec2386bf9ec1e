"""Small inner functions: an example of what each returns."""

import datetime as dt
import math

import numpy as np
import pytest

from naively.assess.decay import check_half_lives
from naively.cli.demo import _as_given
from naively.data.files import arff, dialects, formats
from naively.inspect.divergence import holm
from naively.mail import headers
from naively.options import FileOptions
from naively.pictures import axes, bins, estimates
from naively.report import scorer
from naively.report.rows import marked


def test_headers_of_mail() -> None:
    with pytest.raises(ValueError, match="Subject is no name for it: give one such as X-Junk"):
        headers.header_name("Subject")


def test_pages_and_pictures() -> None:
    html = 'A <mark class="for" style="--w:0.45">&lt;prize&gt;</mark>'
    assert marked("A <prize>", {"prize": 2.0}) == html
    assert scorer.page_json({"</script>": "\u202eé"}) == '{"\\u003c/script>":"\\u202eé"}'
    assert axes.with_names("so ✓ 🥳") == "so ✓ [face with party horn and party hat]"
    with axes.of_target("survived"):
        assert axes.class_axis("answer") == "survived: answer"
        assert axes.class_name(1) == "survived = 1"
    assert (axes.class_axis(), axes.class_name("spam")) == ("class", "spam")
    samples = [22.0, 38.0, 26.0], [0.5, 2.0], [0.31]
    assert [bins.grid_of(np.array(each)) for each in samples] == [1.0, 0.5, 0.0]
    assert bins.bins_of(3, 100, 1.0, 5).tolist() == [2.5, 22.5, 42.5, 62.5, 82.5, 102.5]
    assert bins.cut_of(np.array([40.0, *[1.0] * 19])) == 1.5
    assert bins.cut_of(np.exp(-np.arange(20) / 4)) is None
    assert holm(np.array([0.04, 0.01, 0.5])).tolist() == [0.08, 0.03, 0.5]
    assert estimates.contour_levels(np.array([[1.0, 1.0], [3.0, 5.0]])) == [1.0, 3.0, 5.0]


def test_files_and_half_lives() -> None:
    assert check_half_lives(None, 10) == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, math.inf]
    assert _as_given(FileOptions(header=False, delimiter=";")) == " --no-header --delimiter ';'"
    assert arff._unescaped(r"it\'s 5\%") == "it's 5%"
    cells = 3.0, 1.234, True, None, dt.date(2024, 3, 4)
    assert [formats._written(cell) for cell in cells] == ["3", "1.2340", "true", "", "2024-03-04"]
    assert (formats._column_number(b"A"), formats._column_number(b"AB")) == (1, 28)
    told_apart = ["a", "b", "a (3)", "a (2)", "a (4)"]
    assert dialects._told_apart(["a", "b", "a", "a (2)", "a"]) == told_apart
    assert dialects._undivided([["x^y"], ["1^a"], ["2^b"], ["3^a"]]) == "^"
    assert dialects._undivided([["t"], ["1:30"], ["2:45"]]) == ""
