"""What was learned can be taken back: the state before, to the byte, for batches too."""

from __future__ import annotations

import os
import random
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.wings.mail import learn as learning
from naively.wings.mail.learn import SAMPLE, MailBatch, changed, digest_of, learn
from naively.wings.mail.message import read_message
from naively.wings.mail.score import ENOUGH, Verdict, words_of
from naively.wings.mail.table import MailTable, open_table
from tests.commands import run

WORDS = [f"word{i}" for i in range(30)]


def mails(chance: random.Random, n: int, *, mixed: bool = True) -> list[tuple[dict, str]]:
    """Return messages of which spam has other words than ham, somewhat."""
    found = []
    for _ in range(n):
        label = chance.choice(["ham", "spam"]) if mixed else "spam"
        some = WORDS[:20] if label == "spam" else WORDS[10:]
        row = {"body": " ".join(chance.choices(some, k=8)), "message_id": f"<{chance.random()}>"}
        found.append((row, label))
    return found


def corrected(
    table: MailTable, batch: list[tuple[dict, str]], *, forget: bool = False
) -> MailTable:
    counted = MailBatch(table.known() if table.remembers else None, forget=forget)
    for row, label in batch:
        counted.add(row, label)
    return learning.corrected(table, counted)


def enough_of_both(batch: list[tuple[dict, str]]) -> bool:
    """Return whether a temperature is fitted on a batch of messages, which is by chance uneven."""
    n_spam = sum(label == "spam" for _, label in batch)
    return min(n_spam, len(batch) - n_spam) >= ENOUGH


@given(st.integers(0, 2**32), st.booleans())
def test_taking_back_leaves_the_state_before(seed: int, remembers: bool) -> None:
    chance = random.Random(seed)
    table, before = MailTable.empty(remembers=remembers), []
    batches = [
        mails(chance, chance.choice([1, 5, 60, 200]), mixed=chance.random() < 0.8) for _ in range(4)
    ]
    for batch in batches:
        before.append(table.to_bytes())
        table = corrected(table, batch)
        table.check()
    for batch in reversed(batches):
        after = table.to_bytes()
        forgotten = corrected(table, chance.sample(batch, len(batch)), forget=True)
        assert forgotten.to_bytes() == before.pop()
        if any(forgotten.messages):
            assert corrected(forgotten, batch).to_bytes() == after
        table = forgotten
    assert table.to_bytes() == MailTable.empty(remembers=remembers).to_bytes()


@given(st.integers(0, 2**32))
def test_in_any_order_the_counts_are_those_of_what_is_left(seed: int) -> None:
    chance = random.Random(seed)
    batches = [mails(chance, 60) for _ in range(3)]
    table = MailTable.empty()
    for batch in batches:
        table = corrected(table, batch)
    gone = chance.randrange(3)
    table = corrected(table, batches[gone], forget=True)
    left = MailTable.empty()
    for i, batch in enumerate(batches):
        left = left if i == gone else corrected(left, batch)
    assert (dict(table.items()), table.messages) == (dict(left.items()), left.messages)
    scored = [len(b) for i, b in enumerate(batches) if i != gone and enough_of_both(b)]
    assert sum(table.histogram) == sum(left.histogram) == sum(scored)
    for i, batch in enumerate(batches):
        table = table if i == gone else corrected(table, batch, forget=True)
    assert table.to_bytes() == MailTable.empty().to_bytes()


def test_the_order_of_messages_in_a_batch_does_not_show() -> None:
    batch = mails(random.Random(1), 3 * SAMPLE)
    table = corrected(MailTable.empty(), batch)
    assert sum(table.histogram) == SAMPLE
    assert corrected(MailTable.empty(), batch[::-1]).to_bytes() == table.to_bytes()


def test_the_temperature_of_files_is_taken_back(tmp_path: Path) -> None:
    path, chance = tmp_path / "m", random.Random(2)
    learn(str(path), mails(chance, 100))
    before, temperature = path.read_bytes(), open_table(str(path)).temperature
    second = [(row, {"ham": "spam", "spam": "ham"}[label]) for row, label in mails(chance, 100)]
    learn(str(path), second)
    assert open_table(str(path)).temperature < temperature  # they say the opposite
    assert learn(str(path), second, forget=True).n == 100
    assert path.read_bytes() == before


# What was never learned


def test_what_cannot_have_been_learned_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    rows = [({"body": "cheap pills"}, "spam")] * 2 + [({"body": "lunch at noon"}, "ham")]
    learn(path, rows, remember=False)
    before = Path(path).read_bytes()
    for body, label, said in (
        ("cheap lunch", "spam", "not learned as spam"),
        ("cheap pills", "ham", "not learned as ham"),
        ("pills", "spam", "in more messages than would be left"),  # all spam had "cheap"
        ("at noon", "ham", "in more messages than would be left"),
    ):
        with pytest.raises(ValueError, match=said):
            learn(path, [({"body": body}, label)], forget=True)
        assert Path(path).read_bytes() == before


@pytest.mark.parametrize("raw", [b"", b"\n\n", b"\r\n \t\n", b"X-UID: 3\n\n"])
def test_empty_mail_is_neither_learned_nor_unlearned(raw: bytes, tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    learn(path, [({"body": "cheap pills"}, "spam"), ({"body": "lunch"}, "ham")])
    before = Path(path).read_bytes()
    for contacts in (None, {"a@b"}):
        for forget in (False, True):
            done = learn(path, [(read_message(raw, contacts), "spam")] * 30, forget=forget)
            assert (done.n, done.empty) == (0, 30)
            assert Path(path).read_bytes() == before


def test_the_command_line_says_what_it_did_not_learn(tmp_path: Path) -> None:
    path = tmp_path / "m"
    done = run("mail", "learn", path, "--as", "spam")
    assert (done.returncode, path.exists()) == (0, False)
    assert done.stderr == b"naively: Not learned, as there are no words in them: 1 message.\n"
    raw = b"Subject: pills\n\ncheap\n"
    assert run("mail", "learn", path, "--as", "spam", stdin=raw).stderr == b""
    before = path.read_bytes()
    done = run("mail", "learn", path, "--as", "spam", stdin=raw.replace(b"\n", b"\r\n"))
    assert (done.returncode, path.read_bytes()) == (0, before)
    assert done.stderr == b"naively: Not learned, as they had been learned already: 1 message.\n"
    done = run("mail", "unlearn", path, "--as", "ham", stdin=raw)
    assert (done.returncode, path.read_bytes()) == (3, before)
    assert b"The message pills was not learned as ham" in done.stderr
    done = run("mail", "unlearn", path, "--as", "spam", stdin=b"X-Status: a\n" + raw)
    assert done.returncode == 0
    assert path.read_bytes() == MailTable.empty(remembers=True).to_bytes()


def test_what_is_remembered_is_not_learned_twice(tmp_path: Path) -> None:
    path, batch = str(tmp_path / "m"), mails(random.Random(4), 50)
    done = learn(path, batch[:30] + batch[:3], remember=True)
    assert (done.n, done.again) == (30, 3)
    done = learn(path, batch)
    assert (done.n, done.again) == (20, 30)
    table = open_table(path)
    assert (sum(table.messages), len(table.known())) == (50, 50)
    assert dict(table.items()) == dict(corrected(MailTable.empty(), batch).items())
    before = Path(path).read_bytes()
    with pytest.raises(ValueError, match="The message <never> was not learned as ham"):
        learn(path, [*batch, ({"body": "word1", "message_id": "<never>"}, "ham")], forget=True)
    assert Path(path).read_bytes() == before
    assert learn(path, batch + batch, forget=True).n == 50
    assert Path(path).read_bytes() == MailTable.empty(remembers=True).to_bytes()


def test_remembering_begins_with_the_first_message(tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    learn(path, [({"body": "cheap pills"}, "spam")], remember=False)
    with pytest.raises(ValueError, match="m has learned mail without remembering it"):
        learn(path, [({"body": "lunch"}, "ham")], remember=True)
    learn(path, [({"body": "cheap pills"}, "spam")], forget=True)
    learn(path, [({"body": "lunch"}, "ham")], remember=True)
    assert open_table(path).remembers


def test_what_another_learns_meanwhile_is_not_learned_twice(tmp_path: Path) -> None:
    path, batch = str(tmp_path / "m"), mails(random.Random(5), 3)
    learn(path, batch[:1], remember=True)

    def rows():
        yield batch[1]
        learn(path, batch[1:2])

    with pytest.raises(ValueError, match="Another has learned some of these"):
        learn(path, rows())
    assert sum(open_table(path).messages) == 2


def test_a_digest_is_that_of_what_is_said() -> None:
    row = {"subject": "one  two", "body": "three\r\nfour"}
    assert digest_of(row, "ham") == digest_of({"subject": "one two", "body": "three four"}, "ham")
    assert digest_of(row, "ham") != digest_of(row, "spam")
    assert digest_of(row, "ham") != digest_of({"subject": "one", "body": "two three four"}, "ham")


def test_the_real_folder_is_taken_back(spamassassin: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    half = [tmp_path / "first", tmp_path / "second"]
    for label in ("ham", "spam"):
        for i, file in enumerate(sorted((spamassassin / label).iterdir())[:120]):
            folder = half[i % 2] / label
            folder.mkdir(parents=True, exist_ok=True)
            os.link(file, folder / file.name)
    assert run("mail", "learn", path, half[0]).returncode == 0
    before = path.read_bytes()
    assert run("mail", "learn", path, half[1]).returncode == 0
    words = words_of(read_message(file.read_bytes()))
    assert Verdict(open_table(str(path)), words).probability > 0.5
    assert run("mail", "unlearn", path, half[1]).returncode == 0
    assert path.read_bytes() == before


def test_a_model_that_is_not_right_is_not_learned_into(tmp_path: Path) -> None:
    path = tmp_path / "m"
    arrays = dict(MailTable.empty().add({"cheap": (0, 1)}, (0, 1))._arrays())
    arrays["words"] = array("B", b"CHEAP")  # of another hash
    path.write_bytes(MailTable(arrays).to_bytes())
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"m cannot be used: it is damaged: its words are not"):
        learn(str(path), [({"body": "lunch"}, "ham")])
    assert path.read_bytes() == before


# Corrections, merges, decay and expiry


def state(table: MailTable) -> tuple[object, ...]:
    return dict(table.items()), table.messages, table.known()


def test_to_learn_a_known_message_as_the_other_class_moves_it(tmp_path: Path) -> None:
    path, right, batch = str(tmp_path / "m"), str(tmp_path / "r"), mails(random.Random(6), 60)
    other = [(row, {"ham": "spam", "spam": "ham"}[label]) for row, label in batch[:10]]
    learn(path, batch)
    done = learn(path, other)
    assert (done.n, done.moved, done.again) == (10, 10, 0)
    learn(right, [*other, *batch[10:]])
    assert state(open_table(path)) == state(open_table(right))
    assert learn(path, batch[:10]).moved == 10
    learn(right, batch[:10])
    assert state(open_table(path)) == state(open_table(right))
    with pytest.raises(ValueError, match="was given as spam and as ham"):
        learn(str(tmp_path / "new"), [({"body": "cheap"}, "spam"), ({"body": "cheap"}, "ham")])


@pytest.mark.parametrize("remember", [False, True])
def test_merged_models_are_those_of_all_mail(tmp_path: Path, remember: bool) -> None:
    batch = mails(random.Random(7), 120)
    for name, part in (("a", batch[:50]), ("b", batch[50:]), ("whole", batch)):
        learn(str(tmp_path / name), part, remember=remember)
    one, other = open_table(str(tmp_path / "a")), open_table(str(tmp_path / "b"))
    whole = open_table(str(tmp_path / "whole"))
    merged = one.merged(other)
    merged.check()
    assert state(merged) == state(whole) == state(other.merged(one))
    assert sum(merged.histogram) == sum(one.histogram) + sum(other.histogram)
    assert MailTable.from_bytes(merged.to_bytes()).to_bytes() == merged.to_bytes()


def test_what_was_decayed_is_taken_back_by_what_it_still_counts(tmp_path: Path) -> None:
    path, batch = str(tmp_path / "m"), mails(random.Random(8), 60)
    learn(path, batch[:40])
    whole = open_table(path)
    changed(path, lambda table: table.decayed(0.5).decayed(0.25))
    assert open_table(path).messages == tuple(n / 8 for n in whole.messages)
    learn(path, batch[40:])
    learn(path, batch[:40], forget=True)
    left = open_table(path)
    recent = corrected(MailTable.empty(), batch[40:])
    assert left.messages == recent.messages
    counts = dict(recent.items())
    assert dict(left.items()).keys() == counts.keys()
    assert all(left[word] == pytest.approx(counts[word], abs=1e-12) for word in counts)
    lasting = str(tmp_path / "n")
    learn(lasting, batch, remember=False)
    changed(lasting, lambda table: table.decayed(0.9))
    with pytest.raises(ValueError, match="decayed and remembers no messages"):
        learn(lasting, batch[:1], forget=True)


def test_words_that_were_not_learned_for_long_expire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, batch = str(tmp_path / "m"), mails(random.Random(9), 90)
    for day, part in ((100, batch[:30]), (200, batch[30:60]), (300, batch[60:])):
        monkeypatch.setattr("naively.wings.mail.learn.today", lambda day=day: day)
        learn(path, part)
    table = open_table(path)
    assert table.last_day == 300
    recent = {word for row, _ in batch[30:] for word in words_of(row)}
    changed(path, lambda table: table.without_words_before(200))
    kept = open_table(path)
    kept.check()
    assert dict(kept.items()) == {word: n for word, n in table.items() if word in recent}
    assert kept.messages == table.messages
    assert kept.known().keys() < table.known().keys()
    assert sorted({day for day, _ in kept.known().values()}) == [200, 300]
    gone = [row for row, _ in batch[:30] if not {*words_of(row)} <= recent]
    assert gone  # words that only the first batch had
    with pytest.raises(ValueError, match="was not learned as"):
        learn(path, batch[:1], forget=True)  # its digest expired
    assert learn(path, batch[30:], forget=True).notes == []
