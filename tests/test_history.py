"""Where a model comes from: every verb leaves a record, which files and merged models keep."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from naively import GaussianNB, NaiveBayes, load
from naively.file import store
from naively.model.model import KEPT, NAMED, History, names_of, now
from tests.commands import run
from tests.test_cli import ROWS, ok, sentence

X, Y = {"x": [1.0, 2.0, 7.0, 8.0], "c": list("uuvv")}, list("aabb")
EPOCH = "1700000000"
WHEN = "2023-11-14T22:13:20Z"


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: Any) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)


def said(nb: Any) -> list[tuple[str, float, float]]:
    return [(record.verb, record.rows, record.total) for record in nb.history_.records]


def test_each_verb_leaves_a_record() -> None:
    one = {"x": [1.0], "c": ["u"]}
    nb = NaiveBayes().fit(X, Y).partial_fit(one, ["a"], sample_weight=[2.0])
    nb.calibrate().forget(one, ["a"]).decay(0.2)
    nb.merge(NaiveBayes().fit(X, Y), NaiveBayes().fit(one, ["a"]))
    assert said(nb) == [
        ("train", 4.0, 4.0),
        ("update", 2.0, 6.0),
        ("calibrate", 5.0, 6.0),
        ("forget", 1.0, 5.0),
        ("decay", 4.0, 1.0),
        ("train", 4.0, 4.0),
        ("train", 1.0, 1.0),
        ("merge", 5.0, 6.0),
    ]
    assert {record.when for record in nb.history_.records} == {WHEN}
    assert said(nb.fit(X, Y)) == [("train", 4.0, 4.0)]


def test_the_drop_ins_do_too() -> None:
    nb = GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).partial_fit([[3.0]], ["a"])
    assert said(nb.forget([[3.0]], ["a"])) == [("train", 2, 2), ("update", 1, 3), ("forget", 1, 2)]


def test_what_fails_leaves_none() -> None:
    nb = NaiveBayes(weights=None).fit(X, Y)
    for wrong in (
        lambda: nb.forget({"x": [99.0], "c": ["u"]}, ["a"]),
        lambda: nb.decay(-1),
        lambda: nb.merge(NaiveBayes(weights=None).fit([[1.0], [2.0]], ["a", "b"])),
        lambda: nb.partial_fit({"x": ["no number"], "c": ["u"]}, ["a"]),
    ):
        with pytest.raises(ValueError):
            wrong()
    assert said(nb) == [("train", 4.0, 4.0)]


def test_files_keep_it_and_the_same_input_makes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        NaiveBayes().fit(X, Y).decay(0.5).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    again = load(tmp_path / "a").decay(0.5)
    assert said(again) == [("train", 4, 4), ("decay", 2, 2), ("decay", 1, 1)]
    assert again.history_.records[:2] == NaiveBayes().fit(X, Y).decay(0.5).history_.records


def test_it_is_bounded() -> None:
    history = History()
    for _ in range(KEPT + 7):
        history = history.add("decay", 1.0, 2.0)
    assert (len(history.records), history.earlier) == (KEPT, 7)
    both = History.merged([("a", history), ("b", history)])
    assert (len(both.records), both.earlier) == (KEPT, KEPT + 14)
    assert str(both).startswith("114 earlier changes are not listed\n")
    named = names_of([f"m{i}" for i in range(NAMED + 990)])
    assert named.endswith(f"m{NAMED - 1} and 990 more")
    assert len(history.add("update", 1, 1, "x" * 10**6).records[-1].source) == 500


def test_merged_histories_are_in_the_order_of_time(monkeypatch: Any) -> None:
    histories = []
    for epoch in (2, 1):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(epoch))
        histories.append((f"m{epoch}", History().add("train", 1, 1).of(f"{epoch}.csv")))
    records = History.merged(histories).records
    assert [(r.source, r.model) for r in records] == [("1.csv", "m1"), ("2.csv", "m2")]
    again = History.merged([("both", History(records))]).records
    assert [r.model for r in again] == ["m1", "m2"]  # where each was first


@pytest.fixture
def tokyo(monkeypatch: Any) -> Any:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone cannot be set here")
@pytest.mark.usefixtures("tokyo")
def test_the_clock_is_utc(monkeypatch: Any) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)
    assert now() == WHEN
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    assert now() > WHEN
    assert now().endswith("Z")


@pytest.mark.parametrize(
    "history",
    [
        [],
        {"earlier": -1.5},
        {"records": [{"verb": "steal", "when": WHEN, "rows": 1.0, "total": 1.0}]},
        {"records": [{"verb": "train", "when": 3, "rows": 1.0, "total": 1.0}]},
        {"records": [{"verb": "train"}]},
        {"more": 1},
    ],
    ids=str,
)
def test_a_hostile_history_is_refused(tmp_path: Path, history: object) -> None:
    path = tmp_path / "m"
    store.save(NaiveBayes().fit(X, Y).model_, path, {"history": history})
    with pytest.raises(ValueError, match=r"damaged: .*history"):
        load(path)


@pytest.mark.slow
def test_the_command_line_says_where_rows_came_from(tmp_path: Path) -> None:
    data, one = tmp_path / "all.csv", tmp_path / "one.csv"
    data.write_text(ROWS)
    one.write_text("".join(ROWS.splitlines(keepends=True)[:2]))
    a, b, c = (tmp_path / f"{name}.naively" for name in "abc")
    ok("train", data, "--target", "kind", "-o", a)
    ok("forget", a, one, "-o", b)
    ok("update", b, one)
    ok("merge", a, b, "-o", c, "--again")
    ok("decay", c, "0.5")
    ok("calibrate", c, data)
    rows = [json.loads(line) for line in ok("show", c, "--history", "-f", "json").splitlines()]
    expected = [
        ("train", 6, 6, str(data), str(a)),
        ("train", 6, 6, str(data), str(b)),
        ("forget", 1, 5, str(one), str(b)),
        ("update", 1, 6, str(one), str(b)),
        ("merge", 6, 12, f"{a}, {b}", ""),
        ("decay", 6, 6, "0.5", ""),
        ("calibrate", 6, 6, str(data), ""),
    ]
    names = ("verb", "rows", "total", "source", "model")
    assert [tuple(row[name] for name in names) for row in rows] == expected
    shown = run("show", c).stderr.decode()
    assert f"{WHEN}  forget {one}: 1 rows, 5 afterwards [{b}]" in shown
    assert f"{WHEN}  merge {a}, {b}: 6 rows, 12 afterwards" in shown
    before = c.read_bytes()
    ok("merge", a, b, "-o", c, "--again")
    ok("decay", c, "0.5")
    ok("calibrate", c, data)
    assert c.read_bytes() == before


@pytest.mark.slow
def test_the_target_stays_whichever_file_says_it(tmp_path: Path) -> None:
    data, told, silent = tmp_path / "d.csv", tmp_path / "told", tmp_path / "silent"
    data.write_text(ROWS)
    ok("train", data, "--target", "kind", "-o", told)
    store.save(load(told).model_, silent)
    for pair in ((told, silent), (silent, told)):
        ok("merge", *pair, "-o", tmp_path / "both")
        assert store.load_all(tmp_path / "both").provenance["target"] == "kind"
    other = tmp_path / "other"
    renamed = tmp_path / "renamed.csv"
    renamed.write_text(ROWS.replace("kind", "sort"))
    ok("train", renamed, "--target", "sort", "-o", other)
    message = sentence("merge", silent, told, other, "-o", tmp_path / "x")
    assert f"{told} predicts 'kind', but {other} predicts 'sort'" in message


def test_a_history_is_a_table() -> None:
    nb = NaiveBayes().fit(X, Y)
    assert json.loads(nb.history_.to_json()) == [
        {"when": WHEN, "verb": "train", "rows": 4.0, "total": 4.0, "source": "", "model": ""}
    ]
