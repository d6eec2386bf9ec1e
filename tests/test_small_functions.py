"""Small inner functions: an example of what each returns."""

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import pytest

from naively.assess import curves, decay, intervals, refits
from naively.cli.demo import _as_given
from naively.data.files import arff, copies, dialects, formats, names
from naively.engines import sql_tallies
from naively.file import header, parts
from naively.mail import headers, verdict
from naively.mail.style import Sheet
from naively.options import FileOptions
from naively.pictures import axes, bins, estimates
from naively.report import scorer
from naively.report.rows import marked


def test_mail() -> None:
    sheet = Sheet("p, .x {display: none} td p {display: block} .x {color: red !important}")
    assert sheet.declared("span", {"class": "x"}) == {"display": "none", "color": "red"}
    assert sheet.declared("p", {"style": "opacity: 0"}) == {"display": "", "opacity": "0"}
    with pytest.raises(ValueError, match="Subject is no name for it: give one such as X-Junk"):
        headers.header_name("Subject")
    division = verdict.division_of(None, unsure=(0.1, 0.9))
    assert [division(p) for p in (0.05, 0.5, 0.9)] == ["ham", "unsure", "spam"]
    assert round(division.threshold, 2) == 2.2


def test_pages_and_pictures() -> None:
    html = 'A <mark class="for" style="--w:0.45">&lt;prize&gt;</mark>'
    assert marked("A <prize>", {"prize": 2.0}) == html
    assert scorer.page_json({"</script>": "\u202eé"}) == '{"\\u003c/script>":"\\u202eé"}'
    assert axes.with_names("so ✓ 🥳") == "so ✓ [face with party horn and party hat]"
    with axes.of_target("survived"):
        assert axes.class_axis("answer") == "survived: answer"
        assert axes.class_name(1) == "survived = 1"
    assert (axes.class_axis(), axes.class_name("spam")) == ("class", "spam")
    assert axes.on_lines("log odds of", "ham (nats)") == "log odds of ham (nats)"
    samples = [22.0, 38.0, 26.0], [0.5, 2.0], [0.31]
    assert [bins.grid_of(np.array(each)) for each in samples] == [1.0, 0.5, 0.0]
    assert bins.bins_of(3, 100, 1.0, 5).tolist() == [2.5, 22.5, 42.5, 62.5, 82.5, 102.5]
    assert bins.cut_of(np.array([40.0, *[1.0] * 19])) == 1.5
    assert bins.cut_of(np.exp(-np.arange(20) / 4)) is None
    assert estimates.contour_levels(np.array([[1.0, 1.0], [3.0, 5.0]])) == [1.0, 3.0, 5.0]


def test_scores() -> None:
    assert curves.check_values([1, 0.5, 1.0]) == [0.5, 1.0]
    assert decay.check_half_lives(None, 10) == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, math.inf]
    assert (decay.factor_of(1.0), decay.factor_of(math.inf)) == (0.5, 1.0)
    loss = intervals.Mean(0.1, 0.0, 0.1, 0.05, 34.5)
    assert intervals.interval_of_mean(loss, 5) == pytest.approx((0.013, 0.334), abs=5e-4)
    days = refits.Named("", ["2026-01-31", "2026-02-01"])
    assert str(days.shown(86400.0)) == "1970-01-02 00:00:00"


def test_files() -> None:
    assert _as_given(FileOptions(header=False, delimiter=";")) == " --no-header --delimiter ';'"
    assert arff._unescaped(r"it\'s 5\%") == "it's 5%"
    chunks = iter(["a\r", '\n"b\r', '\n"\r', "c\r"])
    assert "".join(copies._plain_outside_quotes(chunks)) == 'a\n"b\r\n"\nc\n'
    records = dialects.Records(["a,b\n", '1,"x\n', "2,y\n"], dialects.CsvDialect())
    assert [r.fields or r.lines for r in records] == [["a", "b"], ['1,"x\n'], ["2", "y"]]
    cells = 3.0, 1.234, True, None, dt.date(2024, 3, 4)
    assert [formats._written(cell) for cell in cells] == ["3", "1.2340", "true", "", "2024-03-04"]
    assert (formats._column_number(b"A"), formats._column_number(b"AB")) == (1, 28)
    told_apart = ["a", "b", "a (3)", "a (2)", "a (4)"]
    assert names._told_apart(["a", "b", "a", "a (2)", "a"]) == told_apart
    assert names._undivided([["x^y"], ["1^a"], ["2^b"], ["3^a"]]) == "^"
    assert names._undivided([["t"], ["1:30"], ["2:45"]]) == ""
    assert sql_tallies.total(1023, [0, 0, 2**16], 1) == Fraction(1)
    assert sql_tallies.total(1024, [0, 0, 0, 0, 2**32], 2) == Fraction(4)


def test_model_files() -> None:
    with (
        pytest.raises(ValueError, match=r"^groups\[2\]: a level is a list$"),
        header.at("groups[2]"),
    ):
        raise ValueError("a level is a list")
    with pytest.raises(ValueError, match=r"columns is 0\.5, not a whole number or a string"):
        header.read(int | str, 0.5, "columns")
    assert parts.read_classes(["2024-02-29"], "date").tolist() == [dt.date(2024, 2, 29)]
    assert parts.read_probabilities((("a", 0.25), ("b", 0.75))) == {"a": 0.25, "b": 0.75}
