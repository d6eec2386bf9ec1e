"""The command line, run as people run it: with pipes, files, bad input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import naively
from tests.commands import run

ROWS = """size,colour,note,kind
1.5,red,a small red thing I like,good
1.0,red,,good
,blue,what a lovely little thing,good
9.0,green,it is far too large for me,bad
8.5,,large and ugly and too heavy,bad
8.0,green,so very large and so heavy,bad
"""


def ok(*arguments: object, stdin: bytes | None = None) -> str:
    done = run(*arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def sentence(*arguments: object, stdin: bytes | None = None) -> str:
    """Run what must fail: exit status 2 and one sentence."""
    done = run(*arguments, stdin=stdin)
    message = done.stderr.decode()
    assert done.returncode == 2, message
    assert done.stdout == b""
    assert message.startswith("naively: ")
    assert message.count("\n") == 1, message
    return message


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "things.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def model(data: Path) -> Path:
    path = data.parent / "things.naively"
    ok("train", data, "--target", "kind", "-o", path)
    return path


def test_train_says_what_it_learned(data: Path) -> None:
    done = run("train", data, "--target", "kind", "-o", data.parent / "m")
    assert b"Learned 6 rows of 2 classes (bad 3, good 3)" in done.stderr
    assert b"size    histogram               numbers" in done.stderr
    assert b"note    multinomial(alpha=0.5)  texts: " in done.stderr
    scores = {row["score"]: row["value"] for row in table(done.stdout.decode())}
    assert float(scores["accuracy"]) == 1


@pytest.mark.slow
def test_predict(model: Path, data: Path) -> None:
    rows = table(ok("predict", model, data))
    assert [row["prediction"] for row in rows] == ["good"] * 3 + ["bad"] * 3
    assert all(0.5 <= float(row["probability"]) <= 1 for row in rows)
    rows = table(ok("predict", model, data, "--probabilities"))
    assert all(abs(float(r["p(good)"]) + float(r["p(bad)"]) - 1) < 1e-12 for r in rows)
    lines = ok("predict", model, data, "--format", "json").splitlines()
    assert [json.loads(line)["prediction"] for line in lines] == [r["prediction"] for r in rows]


@pytest.mark.slow
def test_input_may_be_json_lines_parquet_gzip_or_a_pipe(model: Path, data: Path) -> None:
    import pandas as pd

    expected = ok("predict", model, data)
    frame = pd.read_csv(data)
    frame.to_parquet(data.parent / "things.parquet")
    frame.to_json(data.parent / "things.jsonl", orient="records", lines=True)
    (data.parent / "things.csv.gz").write_bytes(gzip.compress(data.read_bytes()))
    for name in ("things.parquet", "things.jsonl", "things.csv.gz"):
        assert ok("predict", model, data.parent / name) == expected, name
    assert ok("predict", model, "-", stdin=data.read_bytes()) == expected
    assert ok("predict", model, "-", stdin=(data.parent / "things.jsonl").read_bytes()) == expected


@pytest.mark.slow
def test_columns_and_ignore(data: Path) -> None:
    out = data.parent / "m"
    ok("train", data, "--target", "kind", "--columns", "colour,size", "-o", out)
    assert {row["column"] for row in table(ok("show", out))} == {"colour", "size"}
    ok("train", data, "--target", "kind", "--ignore", "note", "-o", out)
    assert {row["column"] for row in table(ok("show", out))} == {"colour", "size"}
    done = run("predict", out, data)
    assert done.returncode == 0
    assert done.stderr == b""


@pytest.mark.slow
def test_event_models_and_class_prior(data: Path) -> None:
    out = data.parent / "m"
    done = run(
        "train", data, "-t", "kind", "-o", out, "--event-models", "size=categorical,note=bernoulli",
        "--class-prior", "good=0.9,bad=0.1",
    )  # fmt: skip
    assert done.returncode == 0
    assert b"size    categorical  5 levels; given" in done.stderr
    assert b"note    bernoulli    texts: 5.6 words on average; given" in done.stderr
    assert "good=" in sentence("train", data, "-t", "kind", "-o", out, "--class-prior", "good=x")
    assert "sum to 1" in sentence(
        "train", data, "-t", "kind", "-o", out, "--class-prior", "good=1,bad=1"
    )
    assert "no event model 'normal'" in sentence(
        "train", data, "-t", "kind", "--event-models", "normal"
    )


def test_evaluate(model: Path, data: Path) -> None:
    rows = table(ok("evaluate", model, data))
    scores = {(row["score"], row["class"]): float(row["value"]) for row in rows}
    assert scores["accuracy", ""] == 1.0
    assert scores["rows", ""] == 6
    assert scores["recall", "good"] == 1.0
    assert scores["accuracy of the majority class", "bad"] == 0.5


@pytest.mark.slow
def test_rows_held_out_are_scored_later(data: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.csv"
    many.write_text("x,y\n" + "".join(f"{i % 7},{'a' if i % 7 < 3 else 'b'}\n" for i in range(200)))
    out = tmp_path / "m"
    now = ok("train", many, "-t", "y", "-o", out, "--hold-out", "0.25", "--seed", "3")
    assert table(now)[0]["value"] == "50"
    assert ok("evaluate", out, many, "--held-out") == now
    assert "trained on a file of 200" in sentence("evaluate", out, data, "-t", "kind", "--held-out")
    assert b"than new ones; --held-out" in run("evaluate", out, many).stderr
    ok("train", many, "-t", "y", "-o", out)
    assert "was trained on all rows" in sentence("evaluate", out, many, "--held-out")


def test_explain(model: Path, data: Path) -> None:
    rows = table(ok("explain", model, data, "--row", "5", "--top", "4"))
    assert len(rows) == 5
    assert {row["prediction"] for row in rows} == {"bad"}
    assert {row["against"] for row in rows} == {"good"}
    weights = [float(row["weight"]) for row in rows]
    assert [*map(abs, weights[:4])] == sorted(map(abs, weights[:4]), reverse=True)
    assert rows[-1]["column"] == "(11 others)"  # with which the weights are the log odds
    p = float(rows[0]["probability"])
    assert sum(weights) == pytest.approx(math.log(p / (1 - p)))
    assert "has rows 0 to 5" in sentence("explain", model, data, "--row", "6")


def test_show(model: Path) -> None:
    rows = table(ok("show", model, "--top", "2"))
    assert [row["class"] for row in rows] == ["bad", "bad", "good", "good"]


def test_a_folder_of_texts(tmp_path: Path) -> None:
    mail = {"ham": ["lunch at noon", "see you"], "spam": ["cheap pills", "buy pills"]}
    for kind, texts in mail.items():
        (tmp_path / "mail" / kind).mkdir(parents=True)
        for i, text in enumerate(texts):
            (tmp_path / "mail" / kind / f"{i}.txt").write_text(text)
    out = tmp_path / "m"
    ok("train", tmp_path / "mail", "-o", out)
    found = [row["prediction"] for row in table(ok("predict", out, tmp_path / "mail"))]
    assert found == ["ham"] * 2 + ["spam"] * 2


def test_codes_that_were_text_in_training_are_text_in_prediction(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("code,y\n" + 4 * "1,u\n2,v\nA,u\n")
    (tmp_path / "b.csv").write_text("code\n1\n2\n")
    ok("train", tmp_path / "a.csv", "-t", "y", "-o", tmp_path / "m")
    found = table(ok("predict", tmp_path / "m", tmp_path / "b.csv"))
    assert [row["prediction"] for row in found] == ["u", "v"]


@pytest.mark.slow
def test_on_a_terminal_it_is_a_table(model: Path) -> None:
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    lead, follow = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "naively", "show", str(model), "--top", "1"],
        stdout=follow, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        process.wait()
        shown = os.read(lead, 10_000).decode()
    os.close(follow)
    os.close(lead)
    assert "class" in shown
    assert "," not in shown


def test_help_names_the_verbs() -> None:
    text = ok("--help")
    for verb in ("train", "predict", "evaluate", "explain", "show", "demo"):
        assert verb in text
    assert "kernels" in ok("--version")


# Bad input, one by one.


def test_a_target_that_is_not_there(data: Path) -> None:
    message = sentence("train", data, "--target", "knd")
    assert "'kind', 'size', 'colour', 'note'" in message
    assert "Say --target COLUMN" in sentence("train", data)


def test_files_that_are_not_there(data: Path) -> None:
    assert "thing.csv" in sentence("train", data.parent / "thing.csv", "-t", "kind")
    assert "There is no model file" in sentence("predict", data.parent / "m", data)


def test_no_rows_missing_labels_and_a_broken_quote(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for text, said in (
        ("a,y\n", "no rows to learn from"),
        ("a,y\n1,u\n2,\n", "Row 1 has no label"),
        ('a,y\n1,u\n"2,v\n3,u\n', "Line 3"),
    ):
        path.write_text(text)
        assert said in sentence("train", path, "-t", "y", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_text_that_is_not_utf8_is_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,y\ncaf\xe9,u\ntea,v\n")
    done = run("train", path, "-t", "y", "-o", tmp_path / "m")
    assert done.returncode == 0
    assert b"is not UTF-8: it was read as windows-1252" in done.stderr


@pytest.mark.slow
def test_a_long_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,y\n" + "word " * 10_000_000 + ",u\nshort text of four words,v\n")
    ok("train", path, "-t", "y", "-o", tmp_path / "m", "--event-models", "text")


def test_a_column_whose_type_changed(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "changed.csv"
    path.write_text(ROWS.replace("1.5", "large"))
    done = run("predict", model, path)
    assert done.returncode == 0
    said = done.stderr.decode()
    assert "'large' in line 2, where a number is expected" in said
    assert 'Column "size"' in said


def test_infinite_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,y\n1,u\ninf,v\n")
    done = run("train", path, "-t", "y", "-o", tmp_path / "m")
    assert b"a  histogram  numbers; some are infinite" in done.stderr
    assert "Column 'a' holds infinite values" in sentence(
        "train", path, "-t", "y", "-o", tmp_path / "m", "--event-models", "gaussian"
    )


def test_a_model_cut_in_half(model: Path, data: Path) -> None:
    content = model.read_bytes()
    model.write_bytes(content[: len(content) // 2])
    assert "is damaged" in sentence("predict", model, data)
    assert "not a model file" in sentence("show", data)


def test_an_unwritable_output_leaves_the_old_file(data: Path, model: Path) -> None:
    before = model.read_bytes()
    assert "Cannot write" in sentence("train", data, "-t", "kind", "-o", data.parent / "no" / "m")
    assert "Cannot write" in sentence("train", data, "-t", "kind", "-o", data.parent)
    assert model.read_bytes() == before


def test_an_unknown_option_is_exit_status_two() -> None:
    assert run("train", "--no-such-option").returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        "predict {model} {data}", "predict {model} {data} -f csv -o /dev/stdout", "--help",
        "evaluate {model} {data}", "show {model} --history", "train --help", "--version",
        "mail --help", "train {data} -t kind -o /dev/stdout",
    ],
)  # fmt: skip
def test_a_pipe_that_is_closed_ends_it_quietly(model: Path, data: Path, asked: str) -> None:
    command = f"({sys.executable} -m naively -q {asked}; echo $? >&2) | head -c 0"
    command = command.replace("-q mail", "mail").format(model=model, data=data)
    done = subprocess.run(command, shell=True, capture_output=True, check=False)  # noqa: S602
    assert done.stderr.split() == [b"75" if "mail" in asked else b"0"]


@pytest.mark.slow
def test_that_nobody_reads_its_messages_does_not_stop_it(data: Path, tmp_path: Path) -> None:
    asked = f"train {data} -t kind -o {tmp_path / 'm'}"
    command = f"{sys.executable} -m naively {asked} 2>&1 >/dev/null | head -c 0"
    subprocess.run(command, shell=True, check=False)  # noqa: S602
    assert (tmp_path / "m").exists()


def test_a_pattern_that_the_shell_has_spread_is_hinted_at(model: Path, data: Path) -> None:
    for asked in (["columns", data, data], ["predict", model, data, model]):
        assert "put it between quotes, as in 'data/*.csv'" in sentence(*asked)
    assert "unexpected extra argument (no)" in sentence("columns", data, "no")


@pytest.mark.parametrize("asked", [["{data}"], [], ["{data}", "--folds", "2"]])
def test_evaluate_says_what_answers_cost(data: Path, tmp_path: Path, asked: list[str]) -> None:
    model = tmp_path / "m"
    assert run("train", data, "-t", "kind", "-o", model, "--keep-rows").returncode == 0
    labels = naively.load(model).classes_.tolist()
    asked = ["evaluate", str(model), *(of.format(data=data) for of in asked), "--cost"]
    done = run(*asked, f"{labels[0]}:{labels[1]}=9")
    assert b"cost per row of one answer" in done.stdout
    assert "the classes are" in sentence(*asked, "nobody:x=9")


def test_real_texts(data_folder: Path, tmp_path: Path) -> None:
    sms = data_folder / "text" / "sms_spam.jsonl.gz"
    scores = table(ok("train", sms, "-t", "label", "-o", tmp_path / "m", "--hold-out", "0.2"))
    accuracy = next(float(row["value"]) for row in scores if row["score"] == "accuracy")
    assert accuracy >= 0.98


def test_labels_that_are_numbers(tmp_path: Path) -> None:
    data, model = tmp_path / "rows.csv", tmp_path / "model.naively"
    data.write_text("x,y\n1,0\n2,1\n1.5,0\n3,1\n")
    ok("train", data, "-t", "y", "-o", model, "--class-prior", "0=1,1=0")
    assert {row["prediction"] for row in table(ok("predict", model, data))} == {"0"}
    data.write_text("x,y\n1,0\n2,\n")
    assert "Row 1 has no label" in sentence("evaluate", model, data)


@pytest.mark.slow
def test_times_of_a_file_keep_their_type(tmp_path: Path) -> None:
    rows = [
        f"2026-01-{1 + i // 24:02} {i % 24:02}:00:00,{i % 5},{'night' if i % 24 < 6 else 'day'}"
        for i in range(240)
    ]
    (tmp_path / "a.csv").write_text("when,size,kind\n" + "\n".join(rows) + "\n")
    (tmp_path / "b.csv").write_text("size,when\n2,2026-02-01T03:30\n2,\n")
    (tmp_path / "c.csv").write_text("when,size\n2026-02-01,2\nsoon,2\n")
    done = run("train", tmp_path / "a.csv", "-t", "kind", "-o", tmp_path / "m")
    assert b"when (hour)  categorical  24 levels" in done.stderr
    done = run("explain", tmp_path / "m", tmp_path / "b.csv", "--row", "0", "--format", "json")
    lines = list(map(json.loads, done.stdout.splitlines()))
    assert (lines[0]["prediction"], lines[0]["column"], lines[0]["value"]) == (
        "night",
        "when (hour)",
        "03",
    )
    assert {"when": "2026-02-01 03:30:00"}.items() <= {
        line["column"]: line["value"] for line in lines
    }.items()
    predicted = run("predict", tmp_path / "m", tmp_path / "b.csv").stdout.splitlines()
    assert predicted[2].startswith((b"day,0.8", b"day,0.9"))
    assert b'"when" of ' in (failed := run("predict", tmp_path / "m", tmp_path / "c.csv")).stderr
    assert b"has 'soon' in line 3, where a date or time is expected" in failed.stderr
    assert b"2026-01-0" in run("show", tmp_path / "m").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_verbs_and_options_are_completed(shell: str) -> None:
    def completed(line: str) -> str:
        words = line.split(" ")
        asked = {
            "_NAIVELY_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
        }
        return run(**asked).stdout.decode()

    assert "predict" in completed("naively pre")
    assert "evaluate" not in completed("naively pre")
    assert "--coverage" in completed("naively predict --cov")
    script = ok("--completion", shell)
    assert "_NAIVELY_COMPLETE" in script
    assert f"{shell}_complete" in script


def test_notes_may_be_left_out_and_messages_be_json(data: Path, tmp_path: Path) -> None:
    train = "train", data, "--target", "kind", "-o", tmp_path / "m"
    assert run("--quiet", *train).stderr == b""
    assert b"no file" in run("--quiet", "predict", tmp_path / "m", tmp_path / "no.csv").stderr
    told = run("--log-format", "json", *train).stderr.decode().splitlines()
    notes = [json.loads(line) for line in told]
    assert {note["level"] for note in notes} == {"note"}
    assert notes[0]["message"].startswith("Learned 6 rows of 2 classes")
    failed = run("--log-format", "json", "predict", tmp_path / "m", tmp_path / "no.csv")
    (error,) = map(json.loads, failed.stderr.decode().splitlines())
    assert (failed.returncode, error["level"]) == (2, "error")
    assert error["message"].startswith(f"There is no file {tmp_path / 'no.csv'}.")


SAID = [  # in Python, and on the command line
    ("give day_first= for the others", "give --day-first for the others"),
    ("say header=False.", "say --no-header."),
    ("groups='copies' leaves them out", "--groups copies leaves them out"),
    ("or learn with weights=None.", "or learn with --weights none."),
    ("half_life must be a number", "--half-life must be a number"),
    ("delimiter=';', and quote='none'", "--delimiter ';', and --quote none"),
    ("save(path, keep_rows=True) does", "--keep-rows does"),
    ("kept by semi_supervised=True (as here)", "kept by --semi-supervised (as here)"),
    ('NaiveBayes(weights=None) and sample_weight= of "time=3"', None),
    ("column 'time=3' and x_time=4; times=2", None),
]


@pytest.mark.parametrize(("said", "shown"), SAID)
def test_messages_name_options_as_they_are_written_where_they_are_read(
    said: str, shown: str | None
) -> None:
    from naively.wings.cli.app import app
    from naively.wings.cli.options import as_options

    with app.make_context("naively", ["train", "--help"], resilient_parsing=True) as root:
        for verb in ("train", "update"):
            context = click.Context(app.get_command(root, verb), parent=root)
            found = as_options(context, said).replace("`train --", "--").replace("`", "")
            assert found == (shown or said)
    assert "--" not in said
