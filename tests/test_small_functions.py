"""Small inner functions: an example of what each returns."""

from __future__ import annotations

import datetime as dt
import io
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from naively import Bernoulli, Beta
from naively.assess import curves, decay, intervals, refits
from naively.cli.demo import _as_given
from naively.data.files import arff, copies, dialects, formats, names, plain, reader, source
from naively.engines import databases, sql_tallies
from naively.file import header, parts
from naively.mail import about, bulk, forwarded, headers, lazily, lists, serve, verdict
from naively.mail.mailbox import Found
from naively.mail.score import Verdict
from naively.mail.style import Sheet
from naively.mail.table import MailTable
from naively.options import FileOptions
from naively.pictures import axes, bins, estimates
from naively.report import scorer
from naively.report.rows import marked
from naively.serve.metrics import Metrics


def test_mail() -> None:
    assert about.date_of(20_000) == "2024-10-04"
    message = b"Content-Type: message/rfc822\n\nSubject: pills\n\nBuy now\n"
    assert forwarded.forwarded(message) == [b"Subject: pills\n\nBuy now\n"]
    found = Found(Path("a.eml"), lambda: b"Message-ID: <1@x>\n\nhi")
    said = '{"path": "a.eml", "message_id": "<1@x>", "class": "ham", "probability": 0.5}\n'
    assert bulk.Bulk(MailTable.empty(), verdict.division_of(None))(found) == said
    sheet = Sheet("p, .x {display: none} td p {display: block} .x {color: red !important}")
    assert sheet.declared("span", {"class": "x"}) == {"display": "none", "color": "red"}
    assert sheet.declared("p", {"style": "opacity: 0"}) == {"display": "", "opacity": "0"}


def test_headers_of_mail() -> None:
    assert headers.header_name("X-Bogosity") == "X-Bogosity"
    with pytest.raises(ValueError, match="Subject is no name for it: give one such as X-Junk"):
        headers.header_name("Subject")
    assert headers.header_text(" Yes, spam") == "Yes, spam"
    division = verdict.division_of(None, unsure=(0.1, 0.9))
    assert [division(p) for p in (0.05, 0.5, 0.9)] == ["ham", "unsure", "spam"]
    assert round(division.threshold, 2) == 2.2
    unknown = Verdict(MailTable.empty(), [])
    junk = {"X-Junk": "No", "X-Naively-Header": "X-Junk", "X-Naively-Probability": "0.500000"}
    assert verdict.headers_of("ham", unknown, {}, ("X-Junk", ("Yes", "No", "?"))) == junk
    status = {"X-Spam-Status": "No, score=-0.1 required=0.0"}
    assert verdict.spam_headers("ham", unknown, 0.0) == status


def test_senders_that_decide() -> None:
    text = "Ann@Example.org\n@shop.example  # and all below it\n"
    assert lists.read_list(text, "list") == {"@shop.example", "ann@example.org"}
    ann, shop = frozenset({"ann@example.org"}), frozenset({"@example.org", "@shop.example"})
    allowed, blocked = ("ham", "allowed: ann@example.org"), ("spam", "blocked: @shop.example")
    assert lists.decided("Ann <ann@example.org>", ann, shop) == allowed
    assert lists.decided("a@mail.shop.example, ann@example.org", ann, shop) == blocked
    assert lists.decided("eve@notexample.org, ann@example.org", ann, shop) is None


def test_users_of_the_daemon() -> None:
    assert serve.Models("/").path_of("ann@example.org").name == "ann@example.org.naively"
    with pytest.raises(serve.RefusedError, match=r"No user can have the name '\.\./etc/passwd'"):
        serve.Models("/").path_of("../etc/passwd")


def test_what_is_imported_lazily_works(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("email.utils", "selectolax.lexbor"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    lazily.import_email()
    lazily.import_lexbor()
    utils, lexbor = sys.modules["email.utils"], sys.modules["selectolax.lexbor"]
    assert utils.decode_rfc2231("utf-8''%C3%A9") == ["utf-8", "", "%C3%A9"]
    assert lexbor.LexborHTMLParser("<p>noon").text() == "noon"


def test_pages_and_pictures() -> None:
    html = 'A <mark class="for" style="--w:0.45">&lt;prize&gt;</mark>'
    assert marked("A <prize>", {"prize": 2.0}) == html
    assert scorer.page_json({"</script>": "\u202eé"}) == '{"\\u003c/script>":"\\u202eé"}'
    assert axes.with_names("so ✓ 🥳") == "so ✓ [face with party horn and party hat]"
    assert (axes.class_axis(), axes.class_axis("answer")) == ("class", "answer")
    with axes.of_target("survived"):
        assert axes.class_axis("answer") == "survived: answer"
        assert axes.class_name(1) == "survived = 1"
    assert (axes.class_name("spam"), axes.class_name(1)) == ("spam", "class 1")
    assert axes.on_lines("log odds of", "ham (nats)") == "log odds of ham (nats)"
    assert "\n" in axes.on_lines("log odds of", "not_delivered = yes (nats)")
    samples = [22.0, 38.0, 26.0], [0.5, 2.0], [0.31]
    assert [bins.grid_of(np.array(each)) for each in samples] == [1.0, 0.5, 0.0]
    assert bins.bins_of(3, 100, 1.0, 5).tolist() == [2.5, 22.5, 42.5, 62.5, 82.5, 102.5]
    assert bins.bins_of(0, 1, 0.0, 5).round(1).tolist() == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert bins.cut_of(np.array([40.0, *[1.0] * 19])) == 1.5
    assert bins.cut_of(np.exp(-np.arange(20) / 4)) is None
    assert estimates.contour_levels(np.array([[1.0, 1.0], [3.0, 5.0]])) == [1.0, 3.0, 5.0]


def test_metrics() -> None:
    metrics = Metrics()
    metrics.observe("/predict", 200, 0.004, rows=3)
    assert 'naively_requests_total{route="/predict",status="200"} 1\n' in metrics.text
    assert "# TYPE naively_rows_total counter\nnaively_rows_total 3\n" in metrics.text


def test_scores() -> None:
    assert curves.check_values([1, 0.5, 1.0]) == [0.5, 1.0]
    assert str(curves.smoothed(Bernoulli(prior=Beta(2, 2)), 0.5)) == "bernoulli(alpha=0.5)"
    assert decay.check_half_lives(None, 10) == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, math.inf]
    assert decay.check_half_lives([3, 0.5], 10) == [0.5, 3.0, math.inf]
    assert (decay.factor_of(1.0), decay.factor_of(math.inf)) == (0.5, 1.0)
    loss = intervals.Mean(0.1, 0.0, 0.1, 0.05, 34.5)
    assert intervals.interval_of_mean(loss, 5) == pytest.approx((0.013, 0.334), abs=5e-4)
    area = intervals.Area(1.0, ((1.0, 2.0, 3.0),), 0.0)
    assert intervals.interval_of_area(area) == pytest.approx((0.44, 1.0), abs=5e-3)
    assert refits.Named("", ["x", "z", "x"]).codes(3).tolist() == [0, 1, 0]
    days = refits.Named("", ["2026-01-31", "2026-02-01"])
    assert float(np.ptp(days.moments(2))) == 24 * 3600
    assert str(days.shown(86400.0)) == "1970-01-02 00:00:00"


def test_files_of_tables(tmp_path: Path) -> None:
    assert _as_given(FileOptions(header=False, delimiter=";")) == " --no-header --delimiter ';'"
    text = b"@attribute x real\n@attribute y {no,yes}\n@data\n1.5,yes\n{0 2}\n?,'no'\n"
    attributes, rows = arff.read_arff(io.BytesIO(text), "t.arff")
    assert [(each.name, each.content) for each in attributes] == [("x", "number"), ("y", "levels")]
    assert [cells for cells, _ in rows] == [[1.5, "yes"], [2.0, "no"], [None, "no"]]
    assert arff._unescaped(r"it\'s 5\%") == "it's 5%"
    chunks = iter(["a\r", '\n"b\r', '\n"\r', "c\r"])
    assert "".join(copies._plain_outside_quotes(chunks)) == 'a\n"b\r\n"\nc\n'
    lines = ["a,b\n", '1,"x\n', "2,y\n"]
    records = [
        (r.line, r.fields or r.lines) for r in dialects.Records(lines, dialects.CsvDialect())
    ]
    assert records == [(1, ["a", "b"]), (2, ['1,"x\n']), (3, ["2", "y"])]
    dialect, rows = dialects.csv_dialect(["# by hand\n", "a;b\n", "1;2\n"], FileOptions())
    assert dialect == dialects.CsvDialect(";", comment="#", above=1)
    assert rows == [["a", "b"], ["1", "2"]]
    assert source.plain_extension(Path("t.CSV.gz")) == ".csv"
    (tmp_path / "year=2026").mkdir()
    (tmp_path / "year=2026" / "a.csv").write_text("b\n1\n")
    assert reader.files_at(tmp_path) == [tmp_path / "year=2026" / "a.csv"]
    said = {"year": "2026", "month": "11"}
    assert reader.partition_of(Path("data/year=2026/month=11/a.parquet"), Path("data")) == said


def test_what_a_file_is(tmp_path: Path) -> None:
    path = tmp_path / "export.xls"
    path.write_text("a;b\n1;2\n")
    kind, notes = formats.recognised(path, ".xls")
    assert kind == "csv"
    assert notes[0].endswith(" is not a workbook but text, and is read as CSV.")
    path = tmp_path / "coins.csv"
    path.write_text("metal,grams\nsilver,7.5\n")
    found = plain.plain_rows(source.Source(path, "coins.csv", "csv").surveyed())
    assert found is not None
    assert (found[0].names, found[1]) == (["metal", "grams"], [["silver", "7.5"]])
    path.write_text("metal,grams\n'silver'\n")
    assert plain.plain_rows(source.Source(path, "coins.csv", "csv").surveyed()) is None


def test_cells_and_names() -> None:
    cells = 3.0, 1.234, True, None, dt.date(2024, 3, 4)
    assert [formats._written(cell) for cell in cells] == ["3", "1.2340", "true", "", "2024-03-04"]
    numbers = [formats.number(x) for x in (3.0, 0.1 + 0.2, -1.234, 1e300)]
    assert numbers == ["3", "0.30000000000000004", "-1.2340", "1e+300"]
    assert (formats._column_number(b"A"), formats._column_number(b"AB")) == (1, 28)
    told_apart = ["a", "b", "a (3)", "a (2)", "a (4)"]
    assert names._told_apart(["a", "b", "a", "a (2)", "a"]) == told_apart
    assert names._undivided([["x^y"], ["1^a"], ["2^b"], ["3^a"]]) == "^"
    assert names._undivided([["t"], ["1:30"], ["2:45"]]) == ""


def test_databases() -> None:
    duckdb, sqlite, postgres = map(databases.dialect_of, ("duckdb", "sqlite", "postgres"))
    assert sqlite.identifier('the "best", select') == '"the ""best"", select"'
    assert (duckdb.table("a.b"), duckdb.table(("a", "b"))) == ('"a.b"', '"a"."b"')
    assert duckdb.string("it's; --") == "'it''s; --'"
    assert (duckdb.number(0.1), sqlite.number(0.75)) == ("1e-1", "(3 * 1.0 / 4)")
    assert postgres.number(-2.0) == "CAST('-2.0' AS DOUBLE PRECISION)"
    assert sql_tallies.total(1023, [0, 0, 2**16], 1) == Fraction(1)
    assert sql_tallies.total(1024, [0, 0, 0, 0, 2**32], 2) == Fraction(4)


def test_model_files() -> None:
    with (
        pytest.raises(ValueError, match=r"^groups\[2\]: a level is a list$"),
        header.at("groups[2]"),
    ):
        raise ValueError("a level is a list")
    assert header.read(tuple[int, ...], [1, 2], "columns") == (1, 2)
    with pytest.raises(ValueError, match=r"columns is 0\.5, not a whole number or a string"):
        header.read(int | str, 0.5, "columns")
    days = {"labels": ["2024-02-29"], "dtype": "date"}
    assert parts.write_classes(np.array([dt.date(2024, 2, 29)])) == days
    assert parts.read_classes(["2024-02-29"], "date").tolist() == [dt.date(2024, 2, 29)]
    assert parts.read_probabilities((("a", 0.25), ("b", 0.75))) == {"a": 0.25, "b": 0.75}
