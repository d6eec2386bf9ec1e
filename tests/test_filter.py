"""The mail filter: byte for byte, exit codes, exact correction, two at once, killed at any time."""

from __future__ import annotations

import email
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from email.header import decode_header, make_header
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from naively.wings.mail.headers import mark
from naively.wings.mail.learn import learn
from naively.wings.mail.mailbox import read_labelled
from naively.wings.mail.message import read_message
from naively.wings.mail.score import (
    Verdict,
    fit_temperature,
    leave_one_out_histogram,
    logistic,
    weight_of_evidence,
    words_of,
)
from naively.wings.mail.table import MailTable, open_table
from tests.commands import run
from tests.test_imports import modules_loaded

SPAM = b"From: x@shop.example\nSubject: Cheap pills\n\nBuy cheap pills now!\n"
HAM = b"From: ann@example.org\nSubject: Lunch\n\nLunch at noon on Friday?\n"


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "naively", *map(str, arguments)]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "mail.naively"
    learn(str(path), [(read_message(SPAM), "spam"), (read_message(HAM), "ham")])
    return path


# The table


def test_of_a_message_that_two_tables_remember_the_weights_add_up_and_the_newer_day_stays() -> None:
    about = [{b"a" * 16: (5, 1.0), b"b" * 16: (9, 0.5)}, {b"a" * 16: (8, 0.25), b"b" * 16: (2, 2)}]
    one, other = (MailTable.empty(remembers=True).with_known(known) for known in about)
    for merged in (one.merged(other), other.merged(one)):
        assert merged.known() == {b"a" * 16: (8, 1.25), b"b" * 16: (9, 2.5)}


words = st.dictionaries(st.text(max_size=6), st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(st.lists(words, max_size=4))
def test_table_is_a_dictionary_of_counts(batches: list[dict[str, tuple[int, int]]]) -> None:
    table, expected = MailTable.empty(), {}
    for batch in batches:
        table = table.add(batch, (3, 3))
        for word, (ham, spam) in batch.items():
            before = expected.get(word, (0, 0))
            expected[word] = (before[0] + ham, before[1] + spam)
    assert dict(table.items()) == {word: count for word, count in expected.items() if any(count)}
    assert all(table[word] == count for word, count in expected.items())
    assert table["no such word"] == (0, 0)
    again = MailTable.from_bytes(table.to_bytes())
    assert again.to_bytes() == table.to_bytes()
    for batch in reversed(batches):
        again = again.add({word: (-h, -s) for word, (h, s) in batch.items()}, (-3, -3))
    assert again.to_bytes() == MailTable.empty().to_bytes()


def test_words_of_one_hash_are_told_apart() -> None:
    # crc32 of both is 0x4DDB0C25
    table = MailTable.empty().add({"plumless": (1, 0), "buckeroo": (0, 2), "other": (1, 1)}, (1, 2))
    assert table["plumless"] == (1, 0)
    assert table["buckeroo"] == (0, 2)
    table = table.add({"plumless": (-1, 0)}, (0, 0))
    assert table["plumless"] == (0, 0)
    assert table["buckeroo"] == (0, 2)


def test_other_programs_can_read_the_file(model: Path) -> None:
    from safetensors import safe_open

    with safe_open(model, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(file.metadata()["naively"])
    assert header["classes"] == ["ham", "spam"]
    assert arrays["messages"].tolist() == [1, 1]
    assert arrays["counts"].shape == (len(arrays["ends"]), 2)
    ends = arrays["ends"].tolist()
    text = arrays["words"].tobytes()
    found = {text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)}
    assert {"pills", "subject:lunch", "noon"} <= found


@pytest.mark.parametrize("keep", [0, 5, 100, 700, -1])
def test_a_damaged_file_is_one_sentence(model: Path, keep: int) -> None:
    model.write_bytes(model.read_bytes()[:keep])
    with pytest.raises(ValueError, match=re.escape(f"{model} cannot be used: ")):
        open_table(str(model))


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8))
def test_a_file_with_other_bytes_is_read_or_refused(place: int, noise: bytes) -> None:
    content = bytearray(MailTable.empty().add({"a": (1, 2), "b": (0, 1)}, (3, 3)).to_bytes())
    place %= len(content)
    content[place : place + len(noise)] = noise
    try:
        verdict = Verdict(MailTable.from_bytes(bytes(content)), ["a", "b", "c"])
    except (ValueError, RecursionError):
        return
    assert 0 <= verdict.probability <= 1


def test_a_model_of_something_else(tmp_path: Path) -> None:
    from naively import NaiveBayes

    path = tmp_path / "table.naively"
    NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(path)
    with pytest.raises(ValueError, match="not of mail"):
        open_table(str(path))


def test_a_model_of_a_newer_version_says_what_to_do(model: Path) -> None:
    content, changed = re.subn(rb'(\\"format\\": ?)\d', rb"\g<1>9", model.read_bytes())
    assert changed == 1
    model.write_bytes(content)
    with pytest.raises(ValueError, match=r"a newer version of naively made it: upgrade naively\."):
        open_table(str(model))


def test_other_verbs_say_what_the_file_is(model: Path) -> None:
    done = run("explain", model, model)
    assert done.returncode == 2
    assert b"the model of a mail filter" in done.stderr


# Evidence


def test_probability_is_that_of_exact_arithmetic() -> None:
    counts = {"cheap": (1, 7), "lunch": (9, 1), "now": (5, 5), "new": (0, 2)}
    table = MailTable.empty().add(counts, (10, 8))
    verdict = Verdict(table, [*counts, "unknown"])
    tenth = Fraction(1, 10)
    ratios = {
        word: ((s + tenth) / (8 + 2 * tenth)) / ((h + tenth) / (10 + 2 * tenth))
        for word, (h, s) in counts.items()
    }
    log_odds = math.log(Fraction(8, 10)) + sum(map(math.log, ratios.values())) / math.sqrt(4)
    assert verdict.probability == pytest.approx(1 / (1 + math.exp(-log_odds)), rel=1e-12)
    assert next(word for word, _ in verdict.contributions) == max(
        ratios, key=lambda word: abs(math.log(ratios[word]))
    )


def test_one_class_alone_says_nothing() -> None:
    assert Verdict(MailTable.empty().add({"word": (3, 0)}, (3, 0)), ["word"]).probability == 0.5
    assert Verdict(MailTable.empty(), []).probability == 0.5


def test_temperature_is_that_of_leaving_each_message_out() -> None:
    chance = random.Random(3)
    vocabulary = [f"w{i}" for i in range(40)]
    sample = []
    for i in range(60):
        c = i % 2
        favourite = vocabulary[:20] if c else vocabulary[20:]
        sample.append((sorted({*chance.sample(vocabulary, 8), *chance.sample(favourite, 2)}), c))

    def counted(messages):
        counts = {}
        for words, c in messages:
            for word in words:
                ham, spam = counts.get(word, (0, 0))
                counts[word] = (ham + 1 - c, spam + c)
        return MailTable.empty().add(
            counts, (sum(c == 0 for _, c in messages), sum(c for _, c in messages))
        )

    refitted = [counted(sample[:i] + sample[i + 1 :]) for i in range(len(sample))]

    def loss(log_temperature):
        total = log_temperature**2 / 2
        for table, (words, c) in zip(refitted, sample, strict=True):
            p = Verdict(table.with_temperature(math.exp(log_temperature)), words).probability
            total -= math.log(p if c else 1 - p)
        return total

    best = minimize_scalar(loss, bounds=(-2.5, 2.5), method="bounded", options={"xatol": 1e-8})
    table = counted(sample)
    fitted = fit_temperature(leave_one_out_histogram(table, sample), table.messages)
    # Evidence is counted in bins.
    assert fitted == pytest.approx(math.exp(best.x), rel=1e-2)


def test_weight_is_antisymmetric() -> None:
    assert weight_of_evidence((2, 5), (9, 9)) == pytest.approx(-weight_of_evidence((5, 2), (9, 9)))
    assert logistic(3.0) + logistic(-3.0) == 1.0


@pytest.mark.slow
def test_real_mail(spamassassin: Path) -> None:
    mails = [
        (words_of(read_message(raw)), label == "spam") for raw, label in read_labelled(spamassassin)
    ]
    random.Random(0).shuffle(mails)
    train, test = mails[:2000], mails[2000:]
    counts: dict[str, list[int]] = {}
    for words, c in train:
        for word in words:
            counts.setdefault(word, [0, 0])[c] += 1
    table = MailTable.empty().add(counts, (sum(not c for _, c in train), sum(c for _, c in train)))
    table = table.with_temperature(
        fit_temperature(leave_one_out_histogram(table, train[:500]), table.messages)
    )
    found = [(Verdict(table, words).probability, c) for words, c in test]
    assert sum((p > 0.5) == c for p, c in found) >= 0.985 * len(test)
    assert -sum(math.log(max(p if c else 1 - p, 1e-15)) for p, c in found) <= 0.06 * len(test)


# Headers


def test_byte_for_byte(model: Path) -> None:
    for raw in (
        SPAM,
        HAM.replace(b"\n", b"\r\n"),
        b"From x\n" + SPAM,
        SPAM[:-1],
        SPAM + b"\0\xff\r",
    ):
        done = run("mail", "filter", model, stdin=raw)
        assert done.returncode == 0, done.stderr
        added = rb"X-Naively-Class: (spam|ham)\r?\nX-Naively-Probability: [01]\.\d{6}\r?\n"
        added += rb"(X-Naively-Note: charset guessed: [-\w]+\r?\n)?"
        assert re.sub(added, b"", done.stdout, count=1) == raw
        assert len(done.stdout) > len(raw)


ends = st.sampled_from([b"\n", b"\r\n"])
fields = st.sampled_from(
    [b"Subject: hi", b"Received: a", b" folded", b"X-Other:", b"junk", b"\rX: y"]
)
body = st.binary(max_size=30)


@given(st.lists(fields, max_size=5), ends, body)
def test_marks_are_all_that_is_added(head: list[bytes], end: bytes, rest: bytes) -> None:
    raw = b"Subject: first" + end + b"".join(line + end for line in head) + end + rest
    marked = mark(raw, {"X-Naively-Class": "spam"})
    assert marked.replace(b"X-Naively-Class: spam" + end, b"") == raw


@given(st.binary())
def test_any_bytes_are_kept(raw: bytes) -> None:
    marked = mark(raw, {"X-Naively-Class": "spam"})
    assert email.message_from_bytes(marked)["X-Naively-Class"] == "spam"
    for part in raw.splitlines():
        assert part in marked


@pytest.mark.parametrize(
    "forged",
    [
        b"X-Naively-Class: ham\n",
        b"x-NAIVELY-class : ham\n",
        b"X-Naively-Class: ham\n folded\n\tmore\n",
        b"X-Naively-Class: ham\nX-Naively-Probability: 0\n",
        b"X-Naively-Anything:\n",
    ],
)
def test_forged_headers_are_removed(forged: bytes) -> None:
    ours = {"X-Naively-Class": "spam"}
    marked = b"Subject: hi\nTo: x\nX-Naively-Class: spam\n\nX-Naively-Class: body\n"
    body = b"\nX-Naively-Class: body\n"
    assert mark(forged + b"Subject: hi\nTo: x\n" + body, ours) == marked
    assert mark(b"Subject: hi\n" + forged + b"To: x\n" + body, ours) == marked
    assert mark(b"Subject: hi\nTo: x\n" + forged + body, ours) == marked
    crlf = mark((b"Subject: hi\nTo: x\n" + forged + body).replace(b"\n", b"\r\n"), ours)
    assert crlf == marked.replace(b"\n", b"\r\n")
    hidden = mark(b"Subject: hi\r" + forged + b"To: x\n" + body, ours)
    assert hidden == marked
    after_junk = mark(b"Subject: hi\nthis is no header\n" + forged + body, ours)
    assert after_junk == b"Subject: hi\nX-Naively-Class: spam\nthis is no header\n" + body


def test_what_is_no_ascii_is_escaped_in_a_header() -> None:
    assert mark(b"A: b\n\n", {"X-Naively-List": "é"}) == b"A: b\nX-Naively-List: \\xe9\n\n"


def test_headers_of_spamassassin_replace_all_of_theirs(model: Path) -> None:
    raw = b"x-spam-flag: NO\nSubject: pills\nX-Spam-Level: *\n\t**\nX-Spammer: no\n\nbuy pills\n"
    kept = run("mail", "filter", model, stdin=raw).stdout
    assert kept.count(b"-spam-") + kept.count(b"-Spam-") == 2
    marked = run("mail", "filter", model, "--spam-headers", stdin=raw).stdout
    read = email.message_from_bytes(marked)
    spam = read["X-Naively-Class"] == "spam"
    assert [name for name in read if name.lower().startswith("x-spam-")] == (
        ["X-Spam-Flag"] * spam + ["X-Spam-Status"]
    )
    assert read["X-Spam-Status"].startswith("Yes, score=" if spam else "No, score=")
    assert read["X-Spammer"] == "no"
    # What a message is marked with says nothing about it when it is learned.
    without = raw.replace(b"x-spam-flag: NO\n", b"").replace(b"X-Spam-Level: *\n\t**\n", b"")
    assert words_of(read_message(marked)) == words_of(read_message(without))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_headers_that_are_cut_off_are_followed_by_ours(end: bytes) -> None:
    head = b"From: ann@example.org" + end + b"Subject: lunch"
    marked = mark(head, {"X-Naively-Class": "ham"})
    assert marked == head + end + b"X-Naively-Class: ham" + end


def test_the_header_of_the_class_may_have_another_name_and_texts(model: Path) -> None:
    forged = b"x-junk : No\n folded\n"
    mail = forged + SPAM.replace(b"\n\n", b"\nX-Junk-Mail: kept\n" + forged + b"\n")
    chosen = "--header", "X-Junk", "--texts", "Yes, junk", "No", "?"
    marked = run("mail", "filter", model, *chosen, stdin=mail).stdout
    found = email.message_from_bytes(marked)
    assert found.get_all("X-Junk") == ["Yes, junk"]
    assert "X-Naively-Class" not in found
    assert found["X-Junk-Mail"] == "kept"
    unsure = run("mail", "filter", model, *chosen, "--unsure", "0", "1", stdin=mail).stdout
    assert email.message_from_bytes(unsure)["X-Junk"] == "?"
    # What is learned after delivery is the message that came.
    came = SPAM.replace(b"\n\n", b"\nX-Junk-Mail: kept\n\n")
    assert read_message(marked) == read_message(came)
    # Only what begins with X- can be kept from the filter so.
    hidden = read_message(b"X-Naively-Header: from\n" + SPAM)
    assert hidden["sender"] == "x@shop.example"


@pytest.mark.parametrize(
    "wrong",
    [
        ("--header", "Subject"),
        ("--header", "X-"),
        ("--header", "X-A: b"),
        ("--header", "X-Naively-Probability"),
        ("--header", "X-Spam-Status"),
        ("--texts", "Yes", "No"),
        ("--texts", "a\nb", "No", "?"),
        ("--texts", "", "No", "?"),
    ],
)
def test_a_header_that_others_need_is_refused(model: Path, wrong: tuple[str, ...]) -> None:
    done = run("mail", "filter", model, *wrong, stdin=SPAM)
    assert (done.stdout, done.returncode, done.stderr.count(b"\n")) == (SPAM, 3, 1)


def test_explanation_is_a_header_of_telling_words(model: Path) -> None:
    raw = "Subject: pills für dich\n\ncheap schön noon\n".encode()
    learn(str(model), [(read_message("\n\nschön\n".encode()), "spam")])
    done = run("mail", "filter", model, "--explain", stdin=raw)
    text = str(
        make_header(decode_header(email.message_from_bytes(done.stdout)["X-Naively-Evidence"]))
    )
    assert {item.split()[0] for item in text.split(", ")} == {
        "subject:pills", "headers:subject", "cheap", "schön", "noon",
    }  # fmt: skip
    assert re.search(r"noon -\d\.\d\d", text)
    assert all(len(line) <= 78 for line in done.stdout.split(b"\n"))
    assert done.stdout.isascii() is False
    assert re.search(rb"X-Naively-Evidence: [\x00-\x7f]*?\n\n", done.stdout)


# The command line


def test_exit_codes(model: Path, tmp_path: Path) -> None:
    assert run("mail", "filter", "--exit-code", model, stdin=SPAM).returncode == 0
    assert run("mail", "filter", "--exit-code", model, stdin=HAM).returncode == 1
    done = run(
        "mail",
        "filter",
        "--exit-code",
        "--unsure",
        "0.4",
        "0.6",
        model,
        stdin=b"Subject: new\n\nwho",
    )
    assert done.returncode == 2
    assert b"X-Naively-Class: unsure" in done.stdout
    assert run("mail", "filter", model, stdin=HAM).returncode == 0
    for broken in (tmp_path / "none", tmp_path):
        done = run("mail", "filter", "--exit-code", broken, stdin=HAM)
        assert (done.returncode, done.stdout) == (3, HAM)
        assert done.stderr.startswith(b"naively: ")
    model.write_bytes(b"x" * 100)
    assert run("mail", "filter", model, stdin=SPAM).stdout == SPAM
    for wrong in (["--no-such-option"], ["--unsure", "0.9", "0.1"], ["--costs", "0", "1"]):
        done = run("mail", "filter", *wrong, model, stdin=SPAM)
        assert (done.returncode, done.stdout) == (3, SPAM), wrong


def test_help_names_the_verbs() -> None:
    text = run("--help").stdout.decode()
    for verb in ("filter", "learn", "unlearn"):
        assert verb in text
        done = run("mail", verb, "--help")
        assert (done.returncode, f"naively mail {verb}" in done.stdout.decode()) == (0, True)


def test_costs_move_the_threshold(model: Path) -> None:
    raw = b"Subject: pills\n\nnoon pills\n"
    answer = lambda *options: run("mail", "filter", *options, model, stdin=raw).stdout  # noqa: E731
    assert b"X-Naively-Class: spam" in answer()
    assert b"X-Naively-Class: ham" in answer("--costs", "1000", "1")
    assert b"X-Naively-Class: spam" in answer("--costs", "1", "1000")


def test_learn_and_unlearn_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "m"
    assert run("mail", "learn", path, "--as", "ham", stdin=HAM).returncode == 0
    before = path.read_bytes()
    assert run("mail", "learn", path, "--as", "spam", stdin=SPAM).returncode == 0
    assert path.read_bytes() != before
    marked = run("mail", "filter", "--explain", path, stdin=SPAM).stdout
    assert run("mail", "unlearn", path, "--as", "spam", stdin=marked).returncode == 0
    assert path.read_bytes() == before
    done = run("mail", "unlearn", path, "--as", "spam", stdin=SPAM)
    assert done.returncode == 3
    assert b"not learned as spam" in done.stderr
    assert path.read_bytes() == before


def test_learn_folders_and_contacts(tmp_path: Path) -> None:
    for label, raw in (("spam", SPAM), ("ham", HAM)):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for i in range(25):
            (tmp_path / "mail" / label / f"{i}.eml").write_bytes(raw + b"number%d" % i)
    (tmp_path / "contacts").write_text("ann@example.org")
    options = ("--contacts", tmp_path / "contacts")
    assert run("mail", "learn", tmp_path / "m", tmp_path / "mail", *options).returncode == 0
    table = open_table(str(tmp_path / "m"))
    assert table.messages == (25, 25)
    assert table["sender_in_contacts:yes"] == (25, 0)
    assert table.temperature != 1.0
    done = run("mail", "filter", tmp_path / "m", *options, "--explain", stdin=HAM)
    assert b"sender_in_contacts" in done.stdout
    done = run("mail", "learn", tmp_path / "m", "--as", "spam", tmp_path / "no")
    assert (done.returncode, b"no mail at" in done.stderr) == (3, True)
    (tmp_path / "mail" / "ham").rename(tmp_path / "mail" / "good")
    done = run("mail", "learn", tmp_path / "m", tmp_path / "mail")
    assert b"there is mail of 'good'" in done.stderr


def test_a_new_model_is_private_and_keeps_its_mode(model: Path) -> None:
    if os.name != "posix":
        pytest.skip("modes are those of POSIX")
    assert model.stat().st_mode & 0o777 == 0o600
    model.chmod(0o640)
    learn(str(model), [(read_message(SPAM), "spam")])
    assert model.stat().st_mode & 0o777 == 0o640


def test_two_at_once_lose_nothing(model: Path) -> None:
    several = [
        subprocess.Popen(command("mail", "learn", model, "--as", label), stdin=subprocess.PIPE)
        for label in ["spam", "ham"] * 4
    ]
    for i, process in enumerate(several):
        process.communicate(b"Subject: one of many\n\nword%d\n" % i)
    assert [process.returncode for process in several] == [0] * 8
    table = open_table(str(model))
    assert table.messages == (5, 5)
    assert table["subject:many"] == (4, 4)
    assert [sum(table[f"word{i}"]) for i in range(8)] == [1] * 8


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
def test_killed_at_any_time_the_model_is_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    # Learns without end, so that a kill hits any step of learning.
    code = (
        "import sys\nfrom naively.wings.mail.learn import learn\n"
        "row = {'body': ' '.join(f'w{i}' for i in range(20000))}\n"
        "learn(sys.argv[1], [(row, 'spam')], remember=False)\nprint(flush=True)\n"
        "while True: learn(sys.argv[1], [(row, 'spam')])\n"
    )
    chance = random.Random(0)
    learned = 0.0
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", code, path], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
        table = open_table(path)
        assert len(table) == 20000
        assert table.messages[1] > learned
        learned = table.messages[1]
        assert {count for _, count in table.items()} == {(0.0, learned)}


def test_the_filter_imports_no_numbers_and_no_framework(model: Path) -> None:
    # A fresh message of every kind: headers, HTML, explanation.
    code = (
        "import io, sys; sys.stdin = io.TextIOWrapper(io.BytesIO("
        "b'Subject: =?utf-8?q?hi?=\\nContent-Type: text/html\\n\\n<p>pills'));"
        "from naively.wings.mail.command import run\n"
        f"sys.exit(run(['filter', '--explain', {str(model)!r}]))"
    )
    loaded = modules_loaded("-c", code)
    assert "selectolax" in loaded
    assert loaded & {"numpy", "scipy", "click", "rich", "safetensors", "sklearn"} == set()
    assert "logging" not in loaded  # it takes as long to import as a message to filter
