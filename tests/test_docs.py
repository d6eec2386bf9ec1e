"""The pages: each command that they show is run, and shows what they say; every page is found.

The examples in Python are doctests of the pages themselves. A page is run here from top to bottom
in a folder of its own, Python and commands in turn, so that a command finds the files that the
Python above it has written. What readers need not see is in an HTML comment.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.commands import run

ROOT = Path(__file__).parent.parent
MADE = ROOT / "docs" / "reference" / "verbs"  # by make docs, from the command line's help
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent != MADE),
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
OURS = ("$ naively ", "$ python -m naively ")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MEASURED = re.compile(r"(?<=last on )[\d-]+|[\d-]+T[\d:]+Z|[\d.]+(?= s, wrote)")  # by each run
WIDEST = 90  # characters of a line of code that are seen without scrolling
ELSEWHERE = {"docs/how-to/spark.md"}  # its Python needs Spark, Dask or Ray (tests/spark)


@dataclass(frozen=True)
class Command:
    """A command of a page, and what the page says that a terminal shows."""

    line: int
    source: str
    shown: str


def commands(text: str) -> list[Command]:
    """Return the commands of the blocks that begin with one of ours."""
    found = []
    for fence in FENCE.finditer(text):
        if fence[1] != "console" or not fence[2].startswith(OURS):
            continue
        line = text.count("\n", 0, fence.start(2))
        for part in re.split(r"^\$ ", fence[2], flags=re.MULTILINE)[1:]:
            source = re.match(r"(?:[^\n]*\\\n)*[^\n]*\n", part)
            assert source
            found.append(Command(line, source[0], part[source.end() :].rstrip("\n")))
            line += part.count("\n")
    return found


def on_terminal(command: str) -> tuple[int, str]:
    """Run a command of the shell on a terminal of 90 columns; return its status and what it shows.

    A terminal shows tables where a pipe would get CSV.
    """
    terminal, of_command = pty.openpty()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "90", "TERM": "dumb", "NO_COLOR": "1"}
    with subprocess.Popen(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=of_command,
        stderr=of_command,
        env=environment,
    ) as running:
        os.close(of_command)
        shown = b""
        with contextlib.suppress(OSError):  # how the end of a terminal is told on Linux
            while part := os.read(terminal, 1 << 16):
                shown += part
        os.close(terminal)
    return running.returncode, shown.decode().replace("\r\n", "\n")


def python(example: doctest.Example, names: dict[str, Any]) -> None:
    """Run an example for what it does; what it shows is compared by the page's doctest."""
    expected = (Exception,) if example.exc_msg else ()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(*expected):
        exec(compile(example.source, "page", "single"), names)  # noqa: S102


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in reversed(PAGES) if commands(page.read_text(encoding="utf-8"))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_commands_show_what_the_page_says(page, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    steps: dict[int, Command | doctest.Example] = {one.line: one for one in commands(text)}
    steps |= {one.lineno: one for one in doctest.DocTestParser().get_examples(text)}
    same, names = doctest.OutputChecker().check_output, {"__name__": "page"}
    for _, step in sorted(steps.items()):
        if isinstance(step, doctest.Example):
            python(step, names)
            continue
        status, shown = on_terminal(step.source)
        where = f"{page.name}, line {step.line + 1}: $ {step.source}"
        assert status == 0 or step.shown.startswith("naively: "), f"{where}{shown}"
        said, done = (MEASURED.sub("", text) for text in (f"{step.shown}\n", shown))
        assert not step.shown or same(said, done, FLAGS), f"{where}shows\n{shown}"


def test_commands_are_found_with_what_they_show() -> None:
    block = "```console\n$ naively show a \\\n    --top 1\nx\n\ny\n$ naively demo\n```\n"
    other = "```console\n$ pip install naively\n$ naively demo\n```\n"
    assert commands(f"# Page\n\n{block}\n{other}") == [
        Command(3, "naively show a \\\n    --top 1\n", "x\n\ny"),
        Command(8, "naively demo\n", ""),
    ]


# Those with packages that are no dependency run in test_other_tokenizers.
OTHERS = ("import jieba", "import fugashi", "import spacy")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_on_pages_is_an_example_that_runs(page) -> None:
    if page.relative_to(ROOT).as_posix() in ELSEWHERE:
        pytest.skip("its Python runs on a cluster")
    blocks = [fence[2] for fence in FENCE.finditer(page.read_text("utf-8")) if fence[1] == "python"]
    blocks = [block for block in blocks if not block.startswith(OTHERS)]
    assert [block for block in blocks if not block.startswith(">>> ")] == []
    # Without an empty line at the end, the fence would be taken for what the example shows.
    assert [block for block in blocks if not block.endswith("\n\n")] == []


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_readers_would_copy_fits_the_page(page) -> None:
    if page.relative_to(ROOT).as_posix() in ELSEWHERE:
        pytest.skip("its Python runs on a cluster")
    lines = HIDDEN.sub("", page.read_text(encoding="utf-8")).splitlines()
    assert not [of for of in lines if len(of) > WIDEST and of.startswith((">>> ", "... ", "$ "))]


def test_extras_that_are_named_can_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sources = [*PAGES, *(ROOT / "src").rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    named = {name for text in texts for name in re.findall(r"'(?:naively|\.)\[(\w+)\]'", text)}
    listed = re.search(r"pip install \. .* extras: '\.\[plots\]'; or ([\w, ]+)", texts[0])
    assert listed
    assert {"plots", *listed[1].split(", ")} == {*project["optional-dependencies"]}
    assert named - {*project["optional-dependencies"]} == set()


def test_each_event_model_has_a_page_with_a_picture() -> None:
    import naively

    kinds = [
        of for of in (getattr(naively, name) for name in naively.__all__) if isinstance(of, type)
    ]
    events = {of.name for of in kinds if issubclass(of, naively.EventModel) and hasattr(of, "name")}
    folder = ROOT / "docs" / "event-models"
    listed = (folder / "index.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\| `(\w+)` \|$", listed, re.MULTILINE))
    assert named == {*events, "text"}
    pages = {path.name for path in folder.glob("*.md")} - {"index.md"}
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", listed)) == pages
    pictures = (folder / "pictures.py").read_text(encoding="utf-8")
    for page in pages:
        drawn = re.findall(r"pictures\.py (\w+)$", (folder / page).read_text("utf-8"), re.MULTILINE)
        assert drawn
        assert all(f"\ndef {name}() -> Axes:" in pictures for name in drawn)


@pytest.fixture(scope="module")
def generated() -> Any:
    """Return the module that makes parts of pages."""
    return module_in(ROOT / "docs" / "extensions" / "generated.py")


def module_in(path: Path) -> Any:
    """Return the module in a file that is of no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_part_that_a_page_asks_for_can_be_made(generated) -> None:
    asked = [name for page in PAGES for name in generated.LINE.findall(page.read_text("utf-8"))]
    assert sorted(asked) == sorted(generated.MAKE)


def test_the_command_lines_page_has_all_verbs_and_options(generated) -> None:
    from naively.wings.mail.command import VERBS

    page, sections = generated.verbs(), generated.pages_of_verbs()
    assert {"train", "predict", "show", "mail"} < {*sections}
    assert [verb for verb in VERBS if f"mail-{verb}" not in sections] == []
    assert [
        verb
        for verb in sections
        if f"* [{verb}](verbs/{verb}.md): " not in page
        and f"({verb}.md)" not in sections[verb.partition("-")[0]]
    ] == []
    shown = run("train", "--help").stdout.decode()
    options = {*re.findall(r"^ +(?:-\w, )?(--[a-z][\w-]*)", shown, re.MULTILINE)} - {"--help"}
    assert len(options) > 30
    assert [name for name in options if f"{name} " not in sections["train"]] == []


@pytest.fixture(scope="module")
def manual() -> Any:
    """Return the module that writes the manual pages."""
    return module_in(ROOT / "tools" / "man_pages.py")


@pytest.fixture(scope="module")
def pages(manual) -> dict[str, str]:
    """Return the manual pages by name."""
    found: dict[str, str] = manual.man_pages()
    return found


def plain(page: str) -> str:
    return page.replace("\\-", "-").replace("\\&", "")


def test_each_verb_has_a_manual_page_of_what_its_help_says(pages) -> None:
    listed = run("--help").stdout.decode()
    _, below = re.split(r"\b(?:Commands|Verbs)\b", listed, maxsplit=1)
    verbs = re.findall(r"^\W* (\w+)  ", below, re.MULTILINE)
    assert len(verbs) > 15
    assert {*pages} == {"naively", *(f"naively-{verb}" for verb in verbs)}
    for verb in verbs:
        assert f".BR naively-{verb} (1)" in plain(pages["naively"])
        if verb == "mail":
            continue
        asked = [[verb], *([verb, of] for of in ("learning", "smoothing", "decay"))]
        for words in asked if verb == "curve" else asked[:1]:
            said = run(*words, "--help", COLUMNS="200").stdout.decode()
            options = re.findall(r"(?<![\w-])--[a-z][\w-]*", said)
            page = plain(pages[f"naively-{verb}"])
            assert len(options) > 1 or words == ["curve"]
            assert [name for name in options if not re.search(rf"{name}\b", page)] == []


def test_the_manual_page_of_a_verb_is_whole(pages) -> None:
    page = plain(pages["naively-predict"])
    assert page.startswith('.TH NAIVELY-PREDICT 1 "" "naively ')
    assert "\n.B naively predict\n[OPTIONS] MODEL DATA\n" in page
    assert ".TP\n.B MODEL\nA model file.\n" in page
    assert ".SS How to read DATA, if the guess is wrong\n.TP\n.B --no-header\n" in page
    assert "it needs \\fBtrain --keep-rows\\fR." in page
    assert re.search(r"\.TP\n\.B -f, --format .table\|csv\|json.\n", page)
    assert plain(pages["naively-evaluate"]).count("MODEL [DATA]\n") == 1
    assert page.endswith(".SH SEE ALSO\n.BR naively (1)\n")


def test_the_manual_page_of_the_mail_filter_has_all_verbs_options_and_statuses(
    manual, pages
) -> None:
    from naively.wings.mail.command import STATUSES, VERBS

    page = plain(pages["naively-mail"])
    of = dict(re.findall(r"^\.SS (\w+)\n(.*?)(?=^\.S)", page, re.MULTILINE | re.DOTALL))
    assert [*of] == [*VERBS]
    for verb, text in of.items():
        actions = manual.parser_of(verb)._actions
        names = [name for action in actions for name in action.option_strings or [action.metavar]]
        assert [
            name for name in names if not re.search(rf"^\.B .*{name}\b", text, re.MULTILINE)
        ] == []
    statuses = page[page.index(".SH EXIT STATUS") :]
    assert list(map(int, re.findall(r"^\.B (\d+)$", statuses, re.MULTILINE))) == [*STATUSES]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_pages_can_be_shown(pages) -> None:
    command = ["groff", "-man", "-ww", "-Tutf8", "-K", "utf8"]
    shown = {}
    for name, page in pages.items():
        done = subprocess.run(command, input=page.encode(), capture_output=True, check=True)
        assert done.stderr == b"", name
        shown[name] = re.sub("\x1b[^m]*m|.\x08", "", done.stdout.decode())
    assert "--unsure LOW HIGH" in shown["naively-mail"]
    assert "95 %" in shown["naively-mail"]
    assert "naively predict [OPTIONS] MODEL DATA" in shown["naively-predict"]
    assert ".csv, .jsonl" in " ".join(shown["naively-predict"].split())


def test_nothing_in_a_help_text_is_obeyed_in_a_manual_page(manual) -> None:
    assert manual._roff(".so /etc/passwd") == r"\&.so /etc/passwd"
    assert manual._roff(r"a\n `b-c`") == r"a\en \fBb\-c\fR"


def test_the_measurements_page_has_the_means_of_its_file(generated) -> None:
    page = generated.accuracy_of_tables()
    found = json.loads((ROOT / "benchmarks/results/accuracy-tables.json").read_text("utf-8"))
    of_ours = [
        trial["means"]["log_loss"]
        for one in found["results"]
        for trial in one["trials"]
        if trial["contender"] == "naively"
    ]
    mean, median = (f"{of(of_ours):.3f}"[1:] for of in (np.mean, np.median))
    assert f"| naively | {mean} ({median}) |" in page
    assert f"Means over {len(of_ours)} data sets" in page
    assert found["machine"] in page


def test_the_reference_has_every_public_name_once() -> None:
    import naively
    from naively import NaiveBayes
    from tests.structure import own_methods

    verbs = [
        name for name in own_methods(NaiveBayes) if not name.endswith(("_request", "_routing"))
    ]
    doors = [
        f"{door}.{name}"
        for door in ("inspect", "curve", "export")
        for name in vars(getattr(NaiveBayes, door))
        if not name.startswith("_")
    ]
    listed = [name for names in in_reference().values() for name in names]
    ours = [name for name in listed if re.fullmatch(r"\w+|NaiveBayes\.[\w.]+", name)]
    methods = [f"NaiveBayes.{name}" for name in verbs + doors]
    assert sorted(ours) == sorted([*naively.__all__, *methods, *DATA_AND_EXERCISES])


DATA_AND_EXERCISES = (
    "approval", "breast_cancer", "check", "digits", "draw_lines", "hint", "iris", "mails",
    "penguins", "play_tennis", "side_by_side", "sms", "wine",
)  # fmt: skip


def in_reference() -> dict[str, list[str]]:
    """Return the names that each page of the reference lists, which have pages of their own."""
    return {
        page.stem: re.findall(r"^   ([\w.~]+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        for page in (ROOT / "docs" / "reference").glob("*.md")
    }


def test_the_reference_has_every_attribute_of_a_naive_bayes_once() -> None:
    from naively import NaiveBayes

    page = (ROOT / "docs" / "reference" / "attributes.md").read_text(encoding="utf-8")
    held = [
        name
        for name in dir(NaiveBayes)
        if not name.startswith("_") and isinstance(getattr(NaiveBayes, name), property)
    ]
    assert sorted(re.findall(r"autoproperty:: NaiveBayes\.(\w+)$", page, re.MULTILINE)) == held


def test_the_readmes_table_has_calls_and_verbs_that_there_are() -> None:
    import click

    import naively
    from naively.wings.cli.app import app

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| you want to |") : text.index("`print(nb.inspect)`")]
    calls = re.findall(r"`nb((?:\.\w+)+)\(", table)
    assert len(calls) > 20
    for call in calls:
        assert attrgetter(call[1:])(naively.NaiveBayes), call
    assert all(hasattr(naively, name) for name in re.findall(r"naively\.(\w+)\(", table))
    context = click.Context(app)
    verbs = app.list_commands(context)
    assert set(re.findall(r"`naively (\w+)", table)) == {*verbs} - {"calibrate", "demo"}
    commands = [app.get_command(context, verb) for verb in verbs]
    options = {name for one in commands for of in one.params for name in of.opts}
    assert set(re.findall(r"(--[a-z][\w-]*)", table)) <= options


def test_the_readmes_accuracy_is_that_of_the_committed_results(generated) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for file in generated.IN_README:
        assert generated.in_readme(file) in text  # python docs/extensions/generated.py prints it


@pytest.mark.slow
def test_the_readmes_picture_is_drawn_by_its_command(tmp_path) -> None:
    drawn = tmp_path / "naively.png"
    subprocess.run([sys.executable, ROOT / "docs" / "picture.py", drawn], check=True)
    committed = ROOT / "docs" / "static" / "naively.png"
    size = slice(16, 24)  # width and height of a PNG
    assert drawn.read_bytes()[size] == committed.read_bytes()[size]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/static/naively.png)" in text


def test_the_measurements_page_has_each_way_of_splitting(generated, tmp_path, monkeypatch) -> None:
    results = [
        {
            "name": "table",
            "split": split,
            "rows": 100,
            "fit_seconds": {},
            "trials": [
                {"contender": name, "means": dict.fromkeys(generated.MEASURES, of)}
                for name, of in (("naively", loss), ("EBM", 0.3))
            ],
        }
        for split, loss in (("2-fold", 0.25), ("80/20", 0.5))
    ]
    found = {"command": "make", "machine": "one", "versions": {}, "results": results}
    (tmp_path / "accuracy-tables.json").write_text(json.dumps(found), encoding="utf-8")
    monkeypatch.setattr(generated, "RESULTS", tmp_path)
    _, halves, fifths = re.split("^Split into ", generated.accuracy_of_tables(), flags=re.MULTILINE)
    assert halves.startswith("halves")
    assert "| table | 100 | .250 | .300 |" in halves
    assert "| EBM | .300 (.300) | .300 (.300) | .300 (.300) | 1 of 1 |" in halves
    assert fifths.startswith("four fifths")
    assert "| table | 100 | .500 | .300 |" in fifths
    assert "| EBM | .300 (.300) | .300 (.300) | .300 (.300) | 0 of 1 |" in fifths
