"""The benchmark of speed: each part at tiny sizes, how it is measured, and the page of it."""

import gzip
import json
import socket
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pandas")

from benchmarks import timing
from benchmarks.process import Cost
from benchmarks.speed import __main__ as benchmark
from benchmarks.speed import beside, curves, drop_ins, growth, page, texts
from benchmarks.speed.beside import OURS, PARTS
from benchmarks.speed.page import PICTURES

from naively.kernels import dispatch

ROOT = Path(__file__).parent.parent
TEXTS = ("newsgroups20_train", "newsgroups20_test", "enron_spam", "sms_spam", "onion_headlines")
TABLES = {"letter": "class", "adult": "income", "digits8x8": "target", "iris": "class"}
OTHER_MACHINE = {
    "processor": "P", "cores": 3, "memory": "1 GiB", "system": "S", "kernels": "k",
    "versions": {"Python": "3"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _threads():
    """Count on as many threads as before."""
    yield
    dispatch.set_threads(dispatch.default_threads())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a folder of made-up data under the names of the real ones."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    (folder / "text").mkdir()
    vocabulary = np.array([f"word{i}" for i in range(200)])
    for name in TEXTS:
        with gzip.open(folder / "text" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            for i in range(60):
                text = " ".join(vocabulary[rng.integers(0, 150, 12) + i % 2 * 50])
                lines.write(json.dumps({"label": ["ham", "spam"][i % 2], "text": text}) + "\n")
    (folder / "tables").mkdir()
    for name, target in TABLES.items():
        y = np.arange(80) % 2
        table = {
            "a": rng.normal(y, 1.0),
            "b": rng.integers(0, 9, 80),
            target: np.array(["n", "y"])[y],
        }
        if name == "adult":
            table["c"] = np.where(rng.random(80) < 0.2, None, np.array(["u", "v"])[y])
        pd.DataFrame(table).to_csv(folder / "tables" / f"{name}.csv", index=False)
    return folder


def run(*arguments, tmp_path):
    """Measure tiny sizes, and return the results and the page."""
    results, made = tmp_path / "results" / "speed.json", tmp_path / "speed.md"
    benchmark.main(["--small", *arguments, "--save", str(results), "--page", str(made)])
    return json.loads(results.read_text("utf-8"))["parts"], made.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PARTS if name not in PICTURES])
def test_each_part_runs(name, data, tmp_path, monkeypatch):
    monkeypatch.setenv("NAIVELY_DATA", str(data))
    for module in (texts, drop_ins):  # one part shows that memory is measured
        monkeypatch.setattr(
            module, "memory", lambda name, *_: beside.Row(name, "p", [1.0], [2.0], unit="MB")
        )
    parts, made = run(name, tmp_path=tmp_path)
    (rows,) = (part["rows"] for part in parts.values())
    assert f"## {PARTS[name].title}\n" in made
    for row in rows:
        measured = row["ours"] and (row["theirs"] or not row["peer"])
        assert measured or row["note"].startswith("not measured: "), row
        assert ("ratio" in row) == bool(row["ours"] and row["theirs"]), row
        assert row["name"] in made
        assert row["peer"] in made
    assert any(row["ours"] for row in rows)


@pytest.mark.slow
def test_curves_are_measured_drawn_and_shown(tmp_path):
    parts, made = run("curves", tmp_path=tmp_path)
    found = parts["curves"]["rows"]
    axes = [(one.name, axis) for one in curves.SUBJECTS for axis in one.axes]
    assert [(one["subject"], one["axis"]) for one in found] == axes
    for one in found:
        for work in ("fit", "predict"):
            assert {*one[work]} == {"naively", "scikit-learn"}
            assert all(len(y) == len(one["x"]) for y in one[work].values())
            assert min(min(y) for y in one[work].values()) > 0
    assert f"(static/{PICTURES['curves']})" in made
    assert (tmp_path / "static" / PICTURES["curves"]).read_text("utf-8").startswith("<?xml")


@pytest.mark.slow
def test_growth_is_measured_drawn_and_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "alone", lambda *command: Cost(1.0, 2.0, 30.0 + len(command)))
    parts, made = run("growth", tmp_path=tmp_path)
    assert [one["axis"] for one in parts["growth"]["rows"]] == [*growth.AXES]
    assert parts["growth"]["rows"][0]["peak"] == {OURS: [38.0] * 2, growth.READER: [33.0] * 2}
    assert f"(static/{PICTURES['growth']})" in made
    assert (tmp_path / "static" / PICTURES["growth"]).read_text("utf-8").startswith("<?xml")


def test_without_data_the_parts_on_data_are_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("NAIVELY_DATA", raising=False)
    parts, made = run("texts", "elsewhere", tmp_path=tmp_path)
    assert [*parts] == ["elsewhere"]
    assert "texts: Other texts" in capsys.readouterr().out
    assert "Not measured: 20 Newsgroups, Other texts, " in made


def test_what_was_measured_before_stays_and_nothing_tells_of_this_computer(tmp_path, monkeypatch):
    monkeypatch.delenv("NAIVELY_DATA", raising=False)
    monkeypatch.setattr(benchmark, "_machine", lambda: OTHER_MACHINE)
    run("elsewhere", tmp_path=tmp_path)
    monkeypatch.undo()
    parts, made = run("bandwidth", tmp_path=tmp_path)
    assert {*parts} == {"elsewhere", "bandwidth"}
    assert made.count("Measured on ") == 2  # each part says where, since they differ
    assert "Measured on P, 3 cores, 1 GiB of memory, S; kernels k; Python 3." in made
    written = json.dumps(parts) + made
    for secret in (str(ROOT), str(tmp_path), str(Path.home()) + "/", socket.gethostname()):
        assert secret not in written


def test_the_committed_page_is_that_of_the_committed_results():
    found = page.read(page.RESULTS)
    drawn = [name for name in PICTURES.values() if (page.PAGE.parent / "static" / name).exists()]
    assert page.text(found, drawn) == page.PAGE.read_text("utf-8")


def test_tiny_sizes_do_not_replace_the_committed_results(capsys):
    with pytest.raises(SystemExit):
        benchmark.main(["--small", "--save", str(page.RESULTS)])
    assert "say nothing of speed" in capsys.readouterr().err


# Measuring ---------------------------------------------------------------------------------------


class Clock:
    """Time that passes only while a side runs."""

    def __init__(self):
        self.now, self.turns = 0.0, []

    def side(self, name, *seconds):
        left = list(seconds)

        def run():
            self.turns.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return run

    def __call__(self):
        return self.now


def test_sides_take_turns_and_the_first_round_does_not_count():
    clock = Clock()
    sides = {"a": clock.side("a", 0.5, 0.1, 0.2), "b": clock.side("b", 0.3)}
    found = timing.take_turns(sides, rounds=2, clock=clock)
    assert clock.turns == ["a", "b"] * 3
    assert found == {"a": pytest.approx([0.1, 0.2]), "b": pytest.approx([0.3, 0.3])}


def test_what_is_slow_runs_less_often():
    clock = Clock()
    sides = {"a": clock.side("a", 2.0), "b": clock.side("b", 9.0), "c": clock.side("c", 0.1)}
    found = timing.take_turns(sides, rounds=3, clock=clock)
    assert [len(found[side]) for side in "abc"] == [3, 1, 3]
    assert [clock.turns.count(side) for side in "abc"] == [3, 1, 4]


def test_ratios_are_the_other_side_by_ours_or_of_multiples_ours_by_it():
    row = beside.Row("w", "p", ours=[1.0, 2.0, 4.0], theirs=[4.0, 4.0, 4.0])
    found = row.to_dict()
    assert (found["ratio"], found["range"]) == (2, [1, 4])
    of_multiple = beside.Row("w", "p", [1.0, 2.0, 4.0], [4.0], multiple=True).to_dict()
    assert (of_multiple["ratio"], of_multiple["range"]) == (0.5, [0.25, 1])
    assert "ratio" not in beside.Row("w", "p", [1.0], []).to_dict()


def test_what_is_not_installed_is_not_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(drop_ins, "find_spec", lambda _: None)
    parts, made = run("elsewhere", tmp_path=tmp_path)
    expected = {"not measured: river is not installed", "not measured: wnb is not installed"}
    assert {row["note"] for row in parts["elsewhere"]["rows"]} == expected
    assert "| river, not measured: river is not installed |" in made


def test_a_table_says_medians_ranges_and_each_work_once():
    rows = [
        beside.Row("work", "p", [0.001, 0.002, 0.003], [0.2, 0.2, 0.6]).to_dict(),
        beside.Row("work", "q", [0.001, 0.002, 0.003], [1.0]).to_dict(),
        beside.Row("work", "p", [8.0], [4.0], clock="wall", threads=2).to_dict(),
        beside.Row("memory", "p", [1500.0], [3000.0], unit="MB").to_dict(),
    ]
    made = page.text({"parts": {"tables": {"on": OTHER_MACHINE, "rows": rows}}})
    assert made.split("| ---: |\n")[1].splitlines()[:4] == [
        "| work | 2 ms | p | 200 ms | 200 | 100 to 200 |",
        "|  |  | q | 1 s | 500 | 333 to 1,000 |",
        "| work, 2 threads | 8 s | p | 4 s | 0.5 |  |",
        "| memory | 1,500 MB | p | 3,000 MB | 2 |  |",
    ]


# Data --------------------------------------------------------------------------------------------
