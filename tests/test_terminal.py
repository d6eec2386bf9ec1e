"""Text of data on a terminal is text: no markup, no pictures, no commands; options are given once.

The command line is run in this process, as starting one for each case takes longer than the case.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from naively import NaiveBayes, messages
from naively.wings.cli import app
from naively.wings.cli import shared as output
from naively.wings.cli.options import Format
from naively.wings.mail.command import run as run_mail

HOSTILE = [
    "yes[/]", "[link=https://example.org]here[/link]", "[red]", ":smiley:", "\x1b[35mred\x1b[7m",
    "\x1b]8;;https://example.org\x07", "bell\x07", "back\b\b\b", "\x9b2J", "line\nnaively: forged",
    "tab\tand\rreturn", "\u202eesrever", "\u2028", "lost \udcff byte", "é 👩‍🔬 نامه‌ای",
]  # fmt: skip
ALL = "".join(map(chr, range(0x110000)))
pytestmark = pytest.mark.filterwarnings("ignore:'.u2028' is learned as a class")

Run = Callable[..., tuple[int, str, str]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "2000")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line on a terminal of two streams."""

    def once(*arguments: object, terminal: bool = True) -> tuple[int, str, str]:
        out, err = (Terminal(), Terminal()) if terminal else (io.StringIO(), io.StringIO())
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["naively", *map(str, arguments)])
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            if arguments[0] == "mail":
                return run_mail(sys.argv[2:]), out.getvalue(), err.getvalue()
            with pytest.raises(SystemExit) as ended:
                app.main()
        return int(ended.value.code or 0), out.getvalue(), err.getvalue()

    return once


def harmless(text: str) -> bool:
    """Whether a terminal would only show this; what is bold, dim or green is so by us."""
    ours = re.compile("\x1b\\[(0|1|2|31|32|1;32)m")
    commands = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
    return not re.search(commands, ours.sub("", text))


def test_what_is_visible_is_one_line_that_a_terminal_shows() -> None:
    shown = messages.visible(ALL)
    categories = {unicodedata.category(character) for character in shown}
    assert categories & {"Cc", "Cs", "Zl", "Zp"} == set()
    assert not {"BN"} & {unicodedata.bidirectional(c) for c in shown if ord(c) < 0xA0}
    assert not {"RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI"} & {
        unicodedata.bidirectional(c) for c in shown
    }
    assert messages.visible(shown) == shown
    assert messages.visible("é 👩‍🔬 نامه‌ای [/] :smiley:") == "é 👩‍🔬 نامه‌ای [/] :smiley:"


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("text", HOSTILE)
def test_results_on_a_terminal_are_text(form: Format, text: str) -> None:
    screen = Terminal()
    output.write(["a", text], [[1, text], [2, text]], form, screen)
    shown = screen.getvalue()
    assert harmless(shown)
    assert len(shown.splitlines()) == (2 if form is Format.json else 3)
    if form is Format.json:
        rows = [json.loads(line) for line in shown.splitlines()]
        assert rows == [{"a": 1, text: text}, {"a": 2, text: text}]
    else:
        assert shown.count(messages.visible(text).replace('"', '""')) >= 3


@pytest.mark.parametrize("text", HOSTILE)
def test_results_in_a_pipe_are_the_data(text: str) -> None:
    pipe = io.StringIO(newline="")
    output.write(["a", text], [[1, text]], None, pipe)
    assert list(csv.reader(io.StringIO(pipe.getvalue(), newline=""))) == [["a", text], ["1", text]]
    lines = io.StringIO()
    output.write(["a", text], [[1, text]], Format.json, lines)
    assert json.loads(lines.getvalue()) == {"a": 1, text: text}


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """A table whose labels, levels and column names are hostile, and the model of it."""
    labels = [text for text in HOSTILE if "\udcff" not in text] * 2
    column = "level\x1b[32m[/]:smiley:"
    data, model = tmp_path / "data.csv", tmp_path / "model"
    with data.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([column, "target"])
        writer.writerows([label[::-1], label] for label in labels)
    NaiveBayes("categorical", weights=None).fit({column: [x[::-1] for x in labels]}, labels).save(
        model
    )
    return data, model


@pytest.mark.parametrize(
    "verb", [("predict", "-p"), ("explain",), ("evaluate", "--target", "target"), ("show",)]
)
def test_every_verb_shows_the_data_as_text(
    run: Run, hostile: tuple[Path, Path], verb: tuple[str, ...]
) -> None:
    data, model = hostile
    status, shown, said = run(verb[0], model, *([] if verb[0] == "show" else [data]), *verb[1:])
    assert status == 0, said
    assert harmless(shown)
    assert harmless(said)
    assert ":smiley:" in shown
    assert "yes[/]" in shown
    assert r"\x1b[35mred\x1b[7m" in shown


def test_training_and_errors_show_the_data_as_text(run: Run, hostile: tuple[Path, Path]) -> None:
    data, model = hostile
    for arguments, expected in (
        (("train", data, "-t", "target", "-o", model), 0),
        (("train", data, "-t", "\x1b[35m", "-o", model), 2),
        (("train", f"{data}\x1b[35m", "-t", "target"), 2),
        (("train", data, "\x1b[35m"), 2),
        (("\x1b[35m",), 2),
        (("mail", "learn", model, "\x1b[35m"), 3),
        (("mail", "learn", model, "--as", "\x1b[35m"), 3),
        (("mail", "learn", model, "a", "--\x1b[35m"), 3),
    ):
        # without the bar of progress, which moves about the terminal
        status, shown, said = run(*arguments, terminal=arguments[0] != "mail")
        assert status == expected, said
        assert harmless(shown + said)
        assert said
        if expected:
            assert said.count("\n") == 1
            assert said.startswith("naively: ")
            assert not shown


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is UTF-8")
def test_a_name_that_is_no_text_is_shown_and_comes_out_as_it_is(tmp_path: Path) -> None:
    texts, model = tmp_path / "texts", tmp_path / "model"
    for name in (b"caf\xe9", b"tea"):
        folder = texts / os.fsdecode(name)
        folder.mkdir(parents=True)
        for i in range(3):
            (folder / str(i)).write_bytes(name[:1] * (i + 3))
    for command in (["train", texts, "-o", model], ["predict", model, texts]):
        done = subprocess.run(
            [sys.executable, "-m", "naively", *map(str, command)], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert b"caf\xe9" in done.stdout


def test_a_demonstration_shows_the_data_as_text(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    rows = [(":smiley: \x1b[1m", "yes[/]\x07"), ("[b]\x9b", "no\x1b[2J")] * 40
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("what\x1b[3m", "kind"), *rows])
    status, shown, said = run("demo", path, "--target", "kind")
    assert status == 0, said
    assert harmless(shown)
    assert r"what\x1b[3m" in shown
    assert ":smiley:" in shown
    assert r"yes[/]\x07" in shown


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["train", "DATA", "-t", "target", "--target", "other"], "--target"),
        (["train", "DATA", "-t", "a", "-t", "a"], "--target"),
        (["train", "DATA", "--class-prior", "uniform", "--class-prior=data"], "--class-prior"),
        (["train", "DATA", "--semi-supervised", "--semi-supervised"], "--semi-supervised"),
        (["predict", "MODEL", "DATA", "-f", "csv", "--format", "json"], "--format"),
        (["show", "MODEL", "--top", "3", "--top=3"], "--top"),
        (["train", "DATA", "-t", "target", "--class-prior", "a=0.3,a=0.7"], "'a'"),
        (["train", "DATA", "-t", "target", "--event-models", "a=text,a=poisson"], "'a'"),
        (["train", "DATA", "-t", "target", "--columns", "a,b,a"], "'a'"),
        (["train", "DATA", "-t", "target", "--ignore", "a,a"], "'a'"),
        (["train", "DATA", "-t", "target", "--columns", "a,b", "--ignore", "b"], "'b'"),
        (["train", "DATA", "-t", "target", "--ignore", "target"], "'target'"),
        (["train", "DATA", "-t", "target", "--columns", "target"], "'target'"),
        (["demo", "--target", "kind"], "--target kind"),
    ],
)
def test_an_option_that_repeats_or_contradicts_another_is_refused(
    run: Run, hostile: tuple[Path, Path], arguments: list[str], named: str
) -> None:
    places: dict[str, Any] = dict(zip(("DATA", "MODEL"), hostile, strict=True))
    before = hostile[1].read_bytes()
    status, shown, said = run(*(places.get(argument, argument) for argument in arguments))
    assert (status, shown) == (2, "")
    assert named in said
    assert said.count("\n") == 1
    assert hostile[1].read_bytes() == before


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--as", "spam", "--as", "ham"], "--as: give it once"),
        (["--as", "spam", "--labels", "labels"], "not allowed with"),
        (["--labels", "a", "--labels", "b"], "--labels: give it once"),
        (["--as", "spam", "--contacts", "a", "--contacts", "b"], "--contacts: give it once"),
    ],
)
def test_an_option_of_the_filter_is_given_once(
    run: Run, tmp_path: Path, options: list[str], named: str
) -> None:
    assert run("mail", "learn", tmp_path / "m", tmp_path, *options)[2].count(named) == 1
    assert not (tmp_path / "m").exists()


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_labels_name_files_in_the_folder_only(run: Run, tmp_path: Path) -> None:
    folder, outside = tmp_path / "mail", tmp_path / "secret"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "1").write_bytes(b"Subject: a\n\nb\n")
    outside.write_bytes(b"Subject: a\n\nsecret\n")
    (folder / "link").symlink_to(outside)
    labels = tmp_path / "labels.csv"
    for name, inside in (
        ("in/1", True),
        ("in/../in/1", True),
        ("../secret", False),
        (str(outside), False),
        ("link", False),
    ):
        labels.write_text(f"{name},spam\n")
        status, _, said = run("mail", "learn", tmp_path / "m", folder, "--labels", labels)
        assert (status == 0) is inside, said
        if not inside:
            assert f"naively: {labels} names {name}, which leads out of {folder}.\n" in said
