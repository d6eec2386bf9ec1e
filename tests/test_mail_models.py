"""A model of mail is a model: shown, judged, merged, decayed, compared, and written as text."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from hashlib import sha1
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logit
from selectolax.lexbor import LexborHTMLParser
from sklearn.metrics import log_loss

from naively.wings.mail.about import Judged, guaranteed, judged_by_leaving_out, upper_bound
from naively.wings.mail.exchange import dump, parse_backup, parse_dump
from naively.wings.mail.layout import BINS
from naively.wings.mail.learn import learn
from naively.wings.mail.message import read_message
from naively.wings.mail.score import BIN_WIDTH, Verdict, prior_log_odds, words_of
from naively.wings.mail.table import MailTable, open_table
from tests.commands import run

SPAM = b"From: a@shop.example\nSubject: Cheap pills\nMessage-ID: <s%d>\n\nBuy now, offer %d\n"
HAM = b"From: ann@example.org\nSubject: Lunch\nMessage-ID: <h%d>\n\nMeet at noon, room %d\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for label, raw in (("spam", SPAM), ("ham", HAM)):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for i in range(30):
            (tmp_path / "mail" / label / f"{i}.eml").write_bytes(raw % (i, i))
    return tmp_path / "mail"


@pytest.fixture
def model(folder: Path) -> Path:
    path = folder.parent / "mail.naively"
    assert run("mail", "learn", path, folder).returncode == 0
    return path


# Bounds, and what is said of mail of known classes


@given(st.integers(1, 5000), st.data())
def test_the_bound_is_that_of_clopper_and_pearson(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n - 1))
    assert upper_bound(k, n) == pytest.approx(stats.beta.ppf(0.95, k + 1, n - k), rel=1e-6)


def test_a_threshold_keeps_its_promise() -> None:
    histogram = [0] * (2 * BINS)
    middle = BINS // 2
    histogram[middle - 40] = 2900
    histogram[middle + 20] = 100  # of ham that looks like spam
    histogram[BINS + middle + 40] = 500
    table = MailTable.empty().add({}, (3000, 500)).add_histogram(histogram)
    assert 0.5 < guaranteed(table, 0.001) < guaranteed(table, 0.001 - 1e-6) + 1e-12
    assert guaranteed(table, 0.05) < 0.5  # above the many, below the hundred
    above = stats.beta.ppf(0.95, 101, 2900)
    assert guaranteed(table, above * 1.0001) < guaranteed(table, above * 0.9999)
    with pytest.raises(ValueError, match=r"takes leave-one-out scores of 29,956 good mails"):
        guaranteed(table, 0.0001)


def test_judgements_are_those_of_others() -> None:
    chance = random.Random(0)
    found = [(p, int(chance.random() < p), f"m{i}") for i in range(500) if (p := chance.random())]
    judged = Judged(found)
    p, c = [each[0] for each in found], [each[1] for each in found]
    assert judged.log_loss == pytest.approx(log_loss(c, p))
    assert judged.at(0.7) == (
        sum(a > 0.7 and b == 0 for a, b in zip(p, c, strict=True)),
        sum(a <= 0.7 and b == 1 for a, b in zip(p, c, strict=True)),
    )
    assert len(judged.errors(0.7)) == sum(judged.at(0.7))
    assert judged.calibration_error < 0.06 < Judged([(1 - a, b, m) for a, b, m in found]).log_loss


def test_evaluate_names_the_errors(model: Path, folder: Path) -> None:
    wrong = folder / "spam" / "wrong.eml"
    wrong.write_bytes(HAM % (99, 99))
    done = run("mail", "evaluate", model, folder, "--json")
    said = json.loads(done.stdout)
    assert (said["messages"], said["ham"], said["spam"]) == (61, 30, 31)
    assert [(e["class"], e["message"]) for e in said["errors"]] == [("spam", "<h99>")]
    assert said["thresholds"][0] == {
        "threshold": 0.5, "ham_taken_for_spam": 0, "spam_missed": 1,
    }  # fmt: skip
    assert b"has learned 60 messages of these" in done.stderr
    text = run("mail", "evaluate", model, folder, "--threshold", "0.4").stdout
    assert b"Wrong at 0.4: 1, of which 0 of ham." in text
    assert b"<h99>" in text
    done = run("mail", "evaluate", folder / "none", folder)
    assert (done.returncode, b"There is no model" in done.stderr) == (3, True)


def test_report_says_what_evaluate_and_show_say(model: Path, folder: Path, tmp_path: Path) -> None:
    wrong = folder / "spam" / "wrong.eml"
    name = b"<b onclick='x'>99</b>"
    wrong.write_bytes((HAM % (99, 99)).replace(b"<h99>", name))
    page = tmp_path / "page.html"
    assert run("report", model, folder, "-o", page).returncode == 0
    found = LexborHTMLParser(page.read_text())
    said = json.loads(run("mail", "evaluate", model, folder, "--json").stdout)
    tables = {
        part: [[cell.text().strip() for cell in row.css("td")] for row in found.css(f"#{part} tr")]
        for part in ("good", "errors")
    }
    of = {row[0]: row[1:] for row in tables["good"] if row}
    assert of["messages of spam"] == ["31", "30"]
    assert float(of["log loss (nats per message)"][0]) == pytest.approx(said["log_loss"], rel=5e-3)
    assert [row[2] for row in tables["errors"] if row] == [name.decode()]
    assert found.css_first("#errors b") is None
    assert "has learned 60 of the 61" in found.css_first("#warnings").text()
    words = [each.text() for each in found.css("#words .bars td:first-child")]
    shown = run("show", model, "--top", "20", "--format", "json").stdout.splitlines()
    assert words == [json.loads(line)["word"] for line in shown]
    assert not found.css("figure")
    assert re.findall(r'(?:href|src)="([^"#][^"]*)"', page.read_text()) == []
    # Without mail, each learned message is judged by all others; without these, nothing is known.
    assert run("report", model, "-o", page).returncode == 0
    assert LexborHTMLParser(page.read_text()).css_first("#calibration") is not None
    assert run("report", model, folder / "ham", "-o", page).returncode == 2


def test_leave_one_out_judgement_is_the_histogram(model: Path) -> None:
    table = open_table(str(model))
    judged = judged_by_leaving_out(table)
    assert (judged.ham, judged.spam) == table.messages
    for threshold in (0.2, 0.5, 0.9):
        lost, _ = judged.at(threshold)
        least = (logit(threshold) - prior_log_odds(table.messages)) / table.temperature
        centres = ((i - BINS // 2) * BIN_WIDTH for i in range(BINS))
        ham = zip(centres, table.histogram, strict=False)
        assert lost == sum(count for score, count in ham if score > least)


def test_filter_at_most(model: Path) -> None:
    spam = SPAM % (200, 200)
    done = run("mail", "filter", model, "--at-most", "0.2", stdin=spam)
    assert b"X-Naively-Class: spam" in done.stdout
    done = run("mail", "filter", model, "--at-most", "0.001", stdin=spam)
    assert done.stdout == spam
    assert b"scores of 2,995 good mails, and the model has those of 30" in done.stderr
    assert run("mail", "filter", model, "--at-most", "0", stdin=spam).returncode == 3


def test_contacts_that_the_model_did_not_learn_are_said(model: Path, tmp_path: Path) -> None:
    book = tmp_path / "book"
    book.write_text("ann@example.org")
    done = run("mail", "filter", model, "--contacts", book, stdin=HAM % (1, 1))
    assert b"X-Naively-Note: the model was learned without --contacts" in done.stdout
    learnt = run("mail", "learn", model, "--as", "ham", "--contacts", book, stdin=HAM % (77, 7))
    assert b"Note: the model was learned without --contacts" in learnt.stderr
    done = run("mail", "filter", model, stdin=HAM % (1, 1))
    assert b"X-Naively-Note: the model was learned with --contacts, and none" in done.stdout


# The general verbs


def test_show_and_diff(model: Path) -> None:
    done = run("show", model, "--top", "3")
    assert b"has learned 30 good mails and 30 of spam" in done.stderr
    assert b"It remembers 60 messages" in done.stderr
    rows = done.stdout.decode().splitlines()
    assert rows[0] == "class,word,ham,spam,weight"
    assert [row.split(",")[0] for row in rows[1:]] == ["spam"] * 3 + ["ham"] * 3
    other = model.with_name("other")
    other.write_bytes(model.read_bytes())
    assert run("mail", "learn", other, "--as", "spam", stdin=HAM % (77, 78)).returncode == 0
    done = run("diff", model, other, "--top", "50")
    assert b"+0 good mails, +1 of spam, +2 words" in done.stderr
    changed = {row.split(",")[0]: row.split(",")[1:5] for row in done.stdout.decode().split()}
    assert changed["noon"] == ["30.0", "0.0", "30.0", "1.0"]
    assert run("show", model, "--parameters").returncode == 2


def test_merge_and_decay(model: Path, folder: Path) -> None:
    half, rest, whole = (model.with_name(name) for name in ("half", "rest", "whole"))
    for path, keep in ((half, 15), (rest, -15)):
        for label in ("ham", "spam"):
            files = sorted((folder / label).iterdir())
            chosen = files[:keep] if keep > 0 else files[keep:]
            assert run("mail", "learn", path, "--as", label, *chosen).returncode == 0
    assert run("merge", half, rest, "-o", whole).returncode == 0
    merged, learned = open_table(str(whole)), open_table(str(model))
    assert dict(merged.items()) == dict(learned.items())
    assert merged.known() == learned.known()
    assert run("decay", whole, "0.5", "-o", half).returncode == 0
    assert open_table(str(half)).messages == (15, 15)
    assert run("decay", whole, "0.5").returncode == 0
    assert whole.read_bytes() == half.read_bytes()
    table = model.with_name("table.naively")
    data = model.with_name("t.csv")
    data.write_text("a,y\n1,x\n2,y\n" * 10)
    assert run("train", data, "--target", "y", "-o", table).returncode == 0
    done = run("merge", whole, table, "-o", half)
    assert (done.returncode, b"is the model of a mail filter, and" in done.stderr) == (2, True)


# Counts as text


def test_a_dump_is_read_back(model: Path) -> None:
    table = open_table(str(model))
    found = parse_dump(dump(table))
    assert found.counts == dict(table.items())
    assert found.messages == table.messages
    assert found.days == dict(table.days())
    again = model.with_name("again")
    assert run("mail", "import", again, stdin=run("mail", "export", model).stdout).returncode == 0
    raw = SPAM % (100, 100)
    words = words_of(read_message(raw))
    once, twice = (
        Verdict(open_table(str(path)).with_temperature(1.0), words).probability
        for path in (model, again)
    )
    assert once == twice


@pytest.mark.skipif(shutil.which("bogoutil") is None, reason="bogofilter is not installed")
def test_bogofilter_reads_a_dump(model: Path, tmp_path: Path) -> None:
    lists = tmp_path / "bogo"
    lists.mkdir()
    text = run("mail", "export", model).stdout
    load = ["bogoutil", "-l", lists / "wordlist.db"]
    subprocess.run(load, input=text, check=True, timeout=60)
    shown = subprocess.run(
        ["bogoutil", "-d", lists / "wordlist.db"], capture_output=True, check=True, timeout=60
    )
    dumped = parse_dump(shown.stdout.decode().splitlines())
    table = open_table(str(model))
    assert dumped.counts == dict(table.items())
    assert dumped.messages == table.messages


def test_what_bogofilter_writes_apart_is_one_word() -> None:
    found = parse_dump(
        ["Free 2 0 20260101", ".MSG_COUNT 3 4 20260101", "FREE 2 1 20260301", "head:x 1 0 0"]
    )
    assert (found.counts, found.messages, found.unknown) == ({"free": (1, 3)}, (4, 3), 1)
    with pytest.raises(ValueError, match="Line 2 is not from a dump"):
        parse_dump([".MSG_COUNT 3 4 20260101", "free of charge"])
    with pytest.raises(ValueError, match="does not say how many messages"):
        parse_dump(["free 3 4 20260101"])


def test_hashes_of_spamassassin_are_found_among_words() -> None:
    def line(word: str, spam: int, ham: int) -> str:
        digest = sha1(word.encode(), usedforsecurity=False).hexdigest()
        return f"t\t{spam}\t{ham}\t{86_400 * 20_000}\t{digest[-10:]}"

    lines = ["v\t3\tdb_version # x", "v\t9\tnum_spam", "v\t8\tnum_nonspam"]
    lines += [line("pills", 2, 1), line("PILLS", 3, 0), line("other", 1, 1)]
    found = parse_backup(lines, ["pills", "lunch"])
    assert (found.counts, found.messages, found.unknown) == ({"pills": (1, 5)}, (8, 9), 1)
    assert found.days == {"pills": 20_000}


def test_what_is_no_dump_changes_nothing(model: Path) -> None:
    before = model.read_bytes()
    for content, said in (
        (b"a,b\n1,2\n", b"Line 1 is not from a dump"),
        (b"v\t3\tdb_version\n", b"--words-of MAIL"),
        (b"", b"does not say how many messages"),
    ):
        done = run("mail", "import", model, stdin=content)
        assert (done.returncode, said in done.stderr) == (3, True), done.stderr
        assert model.read_bytes() == before


def test_expire_keeps_what_is_recent(model: Path) -> None:
    before = model.read_bytes()
    assert run("mail", "expire", model, "--days", "30").returncode == 0
    assert model.read_bytes() == before
    assert run("mail", "expire", model, "--days", "0").returncode == 3
    table = open_table(str(model))
    kept = table.without_words_before(table.last_day + 1)
    assert (len(kept), kept.known(), kept.messages) == (0, {}, table.messages)
    model.write_bytes(kept.to_bytes())
    learn(str(model), [(read_message(HAM % (1, 1)), "ham")])
    done = run("show", model)
    assert b"were dropped" in done.stderr


def test_a_forwarded_message_is_learned_as_itself(model: Path) -> None:
    inner = SPAM % (500, 500) + b"X" * 200 + b"\n"
    wrapped = (
        b'From: me@here.example\nSubject: Fwd\nContent-Type: multipart/mixed; boundary="b"\n\n'
        b"--b\n\nlook\n--b\nContent-Type: message/rfc822\n\n" + inner + b"\n--b--\n"
    )
    plain = model.with_name("plain")
    plain.write_bytes(model.read_bytes())
    assert run("mail", "learn", plain, "--as", "spam", stdin=inner).returncode == 0
    done = run("mail", "learn", model, "--as", "spam", "--forwarded", stdin=wrapped)
    assert (done.returncode, done.stderr) == (0, b"")
    assert model.read_bytes() == plain.read_bytes()
    done = run("mail", "learn", model, "--as", "spam", "--forwarded", stdin=inner)
    assert (done.returncode, b"no other attached" in done.stderr) == (3, True)


def test_lists_of_senders_decide(model: Path, tmp_path: Path) -> None:
    friends, foes = tmp_path / "friends", tmp_path / "foes"
    friends.write_text("# of mine\nann@example.org\n")
    foes.write_text("example.org\nshop.example # all of it\n")
    lists = ("--allow", friends, "--block", foes)
    for sender, label, entry in (
        (b"a@shop.example", b"spam", b"blocked: @shop.example"),
        (b"Ann <ANN@example.org>", b"ham", b"allowed: ann@example.org"),
        (b"bob@mail.example.org", b"spam", b"blocked: @example.org"),
        (b"eve@mail.shop.example, ann@example.org", b"spam", b"blocked: @shop.example"),
    ):
        for words in (SPAM % (1, 1), HAM % (1, 1)):
            raw = b"From: " + sender + b"\n" + words.split(b"\n", 1)[1]
            done = run("mail", "filter", model, *lists, stdin=raw)
            assert b"X-Naively-Class: " + label in done.stdout
            assert b"X-Naively-List: " + entry in done.stdout
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "1.eml").write_bytes(b"From: bob@mail.example.org\n\nLunch at noon\n")
    said = json.loads(run("mail", "filter", model, folder, *lists).stdout)
    assert (said["class"], said["list"]) == ("spam", "blocked: @example.org")
    plain = run("mail", "filter", model, stdin=HAM % (1, 1)).stdout
    foes.write_text("else.example")
    assert run("mail", "filter", model, "--block", foes, stdin=HAM % (1, 1)).stdout == plain
    foes.write_text("fine.example\nno sender at all\n")
    done = run("mail", "filter", model, "--block", foes, stdin=HAM % (1, 1))
    assert done.stdout == HAM % (1, 1)
    assert b"line 2: 'no sender at all' is neither an address" in done.stderr
