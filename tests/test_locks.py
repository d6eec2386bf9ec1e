"""Several processes that change a model at once, or are stopped: nothing is lost or left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from naively import NaiveBayes, load, saving
from naively.file import store
from naively.wings.cli import learn
from tests.commands import run
from tests.test_cli import ROWS, ok, sentence

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files as POSIX has them")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    nb = NaiveBayes(weights=None).fit(
        {"size": [1.0, 2.0, 8.0], "colour": ["red", "blue", "red"]}, ["good", "good", "bad"]
    )
    store.save(nb.model_, path, {"target": "kind"})
    return path


@pytest.mark.slow
def test_three_that_update_at_once_all_count(data: Path, model: Path) -> None:
    command = [sys.executable, "-m", "naively", "update", str(model), str(data), "--again"]
    with saving.locked(model):  # all are there before any begins
        several = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
        said = [process.stderr.readline() for process in several if process.stderr]
    waiting = f"naively: waiting for another process, which is changing {model}.\n"
    assert said == [waiting.encode()] * 3
    for process in several:
        process.communicate(timeout=300)
    assert [process.returncode for process in several] == [0, 0, 0]
    assert load(model).class_count_.tolist() == [1 + 3 * 3, 2 + 3 * 3]
    assert {path.name for path in model.parent.iterdir()} == {"data.csv", "model", ".model.lock"}


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["update", "forget", "decay", "calibrate", "merge"])
def test_every_verb_that_changes_a_model_holds_its_lock(
    verb: str, data: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []

    def look(path: str) -> object:
        return (held.append(path), locked(path))[1]

    locked = learn.locked
    monkeypatch.setattr(learn, "locked", look)
    save = store.save

    def saved(*arguments: object) -> None:
        assert held == [str(model)]
        with pytest.raises(TimeoutError):
            saving.locked(model, 2.1)
        save(*arguments)

    monkeypatch.setattr(store, "save", saved)
    monkeypatch.setattr(saving, "NOTICE", 0.1)
    more = {"decay": [0.5], "forget": [data.parent / "own.csv"]}
    (data.parent / "own.csv").write_text("size,colour,kind\n1.0,red,good\n")
    if verb == "merge":
        ok("merge", model, model, "-o", model, "--again")
    else:
        ok(verb, model, *more.get(verb, [data]))
    assert held == [str(model)]
    with saving.locked(model, 2.1):
        pass


@pytest.mark.parametrize("verb", ["update", "forget", "calibrate"])
def test_a_model_is_not_written_over_the_rows_it_learns(verb: str, data: Path, model: Path) -> None:
    hard = data.with_name("hard.csv")
    os.link(data, hard)
    for output in (data, hard):
        assert "would destroy what is read from" in sentence(verb, model, data, "-o", output)
    assert data.read_text() == ROWS
    assert "would destroy what is read from" in sentence(verb, model, model)


def test_training_does_not_write_over_its_rows_or_into_nowhere(data: Path) -> None:
    link = data.with_name("link")
    link.symlink_to(data)
    for output, said in (
        (link, b"would destroy what is read from"),
        (data.parent / "nowhere" / "model", b"There is no folder"),
        (data.parent, b"It is a folder"),
    ):
        done = run("train", data, "-t", "kind", "-o", output)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count(b"\n") == 1
    assert data.read_text() == ROWS


def test_a_model_on_standard_output_has_its_scores_elsewhere(data: Path) -> None:
    if not Path("/dev/stdout").exists():
        pytest.skip("there is no /dev/stdout")
    done = run("train", data, "-t", "kind", "-o", "/dev/stdout")
    assert done.returncode == 0
    assert b"log loss" in done.stderr
    path = data.with_name("piped")
    path.write_bytes(done.stdout)
    assert load(path).class_count_.tolist() == [3, 3]


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["SIGTERM", "SIGINT"])
def test_what_is_stopped_while_it_writes_leaves_nothing(stop: str, model: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from naively.__main__ import main\n"
        f"os.fsync = lambda _: os.kill(os.getpid(), signal.{stop})\n"
        "main()"
    )
    before = model.read_bytes()
    command = [sys.executable, "-c", code, "decay", str(model), "0.5"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    assert done.returncode == {"SIGTERM": 143, "SIGINT": 130}[stop]
    assert done.stderr == b""
    assert model.read_bytes() == before
    assert {path.name for path in model.parent.iterdir()} == {"model", ".model.lock"}


def test_the_mail_it_learns_is_not_the_model(tmp_path: Path) -> None:
    mail = tmp_path / "mail"
    mail.write_bytes(b"Subject: a\n\nb\n")
    done = run("mail", "learn", mail, mail, "--as", "spam")
    assert done.returncode == 3
    assert b"would destroy what is read from" in done.stderr
    assert mail.read_bytes() == b"Subject: a\n\nb\n"


def test_no_lock_is_left_where_there_is_no_model(tmp_path: Path, data: Path) -> None:
    no = tmp_path / "no"
    assert "There is no model file" in sentence("update", no, data)
    message = sentence("merge", no, no, "-o", tmp_path / "nowhere" / "model")
    assert "Cannot write" in message
    assert "There is no folder" in message
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv"}
