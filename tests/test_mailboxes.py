"""What a folder of mail may hold beside mail: it is refused by name, or passed over with a note."""

from __future__ import annotations

import json
import mailbox
import os
from pathlib import Path

import pytest

from naively import NaiveBayes
from naively.wings.mail.learn import learn
from naively.wings.mail.limits import BYTES
from naively.wings.mail.mailbox import read_labelled, read_messages
from naively.wings.mail.message import read_message
from tests.commands import run

RAW = b"From: ann@example.org\nSubject: Lunch\n\nAt noon?\n"
NONE = {
    "table.csv": b"label,text\nspam,cheap pills\n",
    "times.csv": b"time:utc,text\n12:00,lunch\n",
    "program": b"\x7fELF\x02\x01\x01\0" + bytes(100),
    "script": b"#!/bin/sh\nfrom: here\n",
    "page.html": b"<!DOCTYPE html>\n<html>",
    "rows.jsonl": b'{"from": "ann"}\n',
    "outlook.msg": bytes.fromhex("d0cf11e0a1b11ae1") + bytes(100),
    "program.eml": b"\x7fELF\x02\x01\x01\0" + bytes(100),
    "links": b"http://example.org\nhttps://example.net\n",
    "text": b"From here on, it is a story.\n\nFrom there as well.\n",
    "notes": b"Remember: the milk\n",
    "zip": b"PK\x03\x04" + bytes(50),
}
MAIL = [
    RAW, b"From ann@example.org Mon Jan  1 00:00:00 2024\n" + RAW,
    b">From ann@example.org Mon Jan  1 00:00:00 2024\r\n" + RAW.replace(b"\n", b"\r\n"),
    b"\xef\xbb\xbf" + RAW, b"\n\n" + RAW, b"Return-Path: <x>\nfrom:\n\n",
    b"X-Odd: 1\n folded\n\tagain\nstrange thing\n", b"Odd: 1\nX-Other : 2\n\n\0\0",
    b"Subject: cut off", RAW.replace(b"\n", b"\r"), b"",
]  # fmt: skip


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_mail_is_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(RAW)
    (tmp_path / name).write_bytes(NONE[name])
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(ValueError, match=f"{name} is no mail"):
            list(read_messages(path))


def test_models_among_mail_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "1.eml").write_bytes(RAW)
    for name in ("filter.naively", "table.naively"):
        if name == "filter.naively":
            learn(str(folder / name), [({"body": "lunch"}, "ham")])
        else:
            NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(folder / name)
        with pytest.raises(ValueError, match=f"{name} is no mail"):
            list(read_messages(folder))
        (folder / name).unlink()
    assert list(read_messages(folder)) == [RAW]


@pytest.mark.parametrize("raw", MAIL)
def test_what_may_be_mail_is_read(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(raw)
    assert len(list(read_messages(tmp_path))) == 1


def test_no_real_mail_is_refused(spamassassin: Path, tmp_path: Path) -> None:
    for i, file in enumerate(sorted((spamassassin / "spam").iterdir())[:300]):
        os.link(file, tmp_path / str(i))
    assert len(list(read_messages(tmp_path))) == 300


def test_a_message_by_name_may_be_anything_but_binary(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(b"no header")
    (tmp_path / "b.eml").write_bytes(b"\0\1\2")
    labels = tmp_path / "labels.csv"
    labels.write_text("a.eml,ham\n")
    assert list(read_labelled(tmp_path, labels)) == [(b"no header", "ham")]
    labels.write_text("b.eml,ham\n")
    with pytest.raises(ValueError, match=r"b\.eml is no mail"):
        list(read_labelled(tmp_path, labels))


@pytest.mark.skipif(os.name != "posix", reason="FIFOs as POSIX has them")
@pytest.mark.parametrize("is_maildir", [False, True])
def test_a_fifo_is_passed_over_with_a_note(is_maildir: bool, tmp_path: Path) -> None:
    folder = tmp_path / "mail"
    place = folder / "new" if is_maildir else folder
    if is_maildir:
        mailbox.Maildir(folder)
    place.mkdir(exist_ok=True)
    os.mkfifo(place / "fifo")
    (place / "gone").symlink_to("nowhere")
    (place / "1").write_bytes(RAW)
    with pytest.warns(UserWarning, match="is no file") as told:
        assert list(read_messages(folder)) == [RAW]
    assert [str(note.message).split(" is ")[0] for note in told] == [
        str(place / "fifo"), str(place / "gone"),
    ]  # fmt: skip
    done = run("mail", "learn", tmp_path / "m", "--as", "ham", folder)
    assert (done.returncode, done.stderr.count(b"is no file: it is passed over.\n")) == (0, 2)
    assert done.stderr.count(b"\n") == 2


def test_folders_that_lead_back_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1").write_bytes(RAW)
    (tmp_path / "a" / "back").symlink_to(tmp_path, target_is_directory=True)
    assert list(read_messages(tmp_path)) == [RAW]


def test_of_a_large_file_the_beginning_is_read(tmp_path: Path) -> None:
    large = RAW + b"x" * (2 * BYTES)
    (tmp_path / "1.eml").write_bytes(large)
    (tmp_path / "2").write_bytes(b"From x\n" + large + b"\n\nFrom y\n" + RAW)
    assert [len(raw) for raw in read_messages(tmp_path)] == [BYTES, BYTES, len(RAW)]


def test_a_message_of_a_maildir_is_one_though_it_begins_as_an_mbox(tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "box")
    raw = b"From x\n" + RAW + b"\nFrom here on\n\nFrom there on\n"
    (tmp_path / "box" / "new" / "1").write_bytes(raw)
    box.close()
    assert list(read_messages(tmp_path / "box")) == [raw]


def test_a_csv_among_mail_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "spam").mkdir()
    (tmp_path / "spam" / "1.eml").write_bytes(RAW)
    (tmp_path / "spam" / "labels.csv").write_text(json.dumps(["a", "b"]))
    done = run("mail", "learn", tmp_path / "m", tmp_path)
    assert (done.returncode, (tmp_path / "m").exists()) == (3, False)
    assert b"labels.csv is no mail" in done.stderr


# --- Many messages are filtered at once ---------------------------------------------------------


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.naively"
    rows = [(read_message(b"Subject: pills\n\nbuy"), "spam"), (read_message(b"\n\nlunch"), "ham")]
    learn(str(path), rows)
    return path


def test_each_of_many_messages_is_told_what_it_is_alone(model: Path, tmp_path: Path) -> None:
    (tmp_path / "mail").mkdir()
    box = mailbox.mbox(tmp_path / "mail" / "a.mbox")
    texts = [f"Message-ID: <{i}@x>\n\n{'buy pills' if i % 3 else 'lunch'} {i}\n" for i in range(20)]
    for text in texts[:8]:
        box.add(text)
    box.close()
    for i in range(8, 20):
        (tmp_path / "mail" / f"{i:02}.eml").write_text(texts[i])
    (tmp_path / "mail" / "table.csv").write_text("a,b\n1,2\n")
    maildir = mailbox.Maildir(tmp_path / "Maildir")
    maildir.add("Subject: pills\n\nbuy\n")
    outputs = []
    for jobs in (1, 3):
        done = run("mail", "filter", model, tmp_path / "mail", tmp_path / "Maildir", "--jobs", jobs)
        assert (done.returncode, done.stderr) == (3, b"")  # one cannot be read
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    said = [json.loads(line) for line in outputs[0].splitlines()]
    assert len(said) == 22
    failed = [each for each in said if "error" in each]
    assert [Path(each["path"]).name for each in failed] == ["table.csv"]
    of_mbox = [each for each in said if each["path"].endswith("mbox")]
    assert [each["number"] for each in of_mbox] == [*range(1, 9)]
    for each in said:
        if message_id := each.get("message_id"):
            text = texts[int(message_id[1:-3])]
            alone = run("mail", "filter", model, stdin=text.encode()).stdout.decode()
            assert f"X-Naively-Class: {each['class']}\n" in alone
            assert f"X-Naively-Probability: {each['probability']:.6f}\n" in alone
    assert said[-1]["class"] == "spam"


def test_options_of_one_message_are_not_of_many(model: Path, tmp_path: Path) -> None:
    for wrong in (["--exit-code", tmp_path], ["--spam-headers", tmp_path], [tmp_path / "none"]):
        done = run("mail", "filter", model, *wrong)
        assert done.returncode == 3
        assert done.stdout == b""
    done = run("mail", "filter", model, model.parent, "--explain", "--jobs", "1")
    assert b'"error": ' in done.stdout  # the model is no mail
    assert done.returncode == 3
