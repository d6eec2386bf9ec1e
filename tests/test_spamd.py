"""The protocol of spamd, as its specification and its clients have it; no socket is opened here."""

from __future__ import annotations

import zlib

import pytest

from naively.wings.mail import spamd
from naively.wings.mail.limits import BYTES
from naively.wings.mail.score import Verdict, WordWeights
from naively.wings.mail.spamd import RefusedError, Request, read_message, read_request, scored
from naively.wings.mail.table import MailTable
from naively.wings.mail.verdict import division_of, score_and_threshold


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"CHECK SPAMC/1.2\r\nContent-length: 5", Request("CHECK", (1, 2), 5)),
        (b"PROCESS SPAMC/1.5\r\nUser: ann\r\nOdd: x", Request("PROCESS", (1, 5), user="ann")),
        (b"PING SPAMC/1.5", Request("PING")),
        (b"SYMBOLS SPAMC/1.3\nContent-Length:  7 ", Request("SYMBOLS", (1, 3), 7)),
        (
            b"REPORT SPAMC/1.5\r\nCompress: zlib\r\nContent-length: 1",
            Request("REPORT", (1, 5), 1, compressed=True),
        ),
        (b"TELL SPAMC/1.5\r\nMessage-class: ham\r\nSet: local,remote", Request("TELL", wish="ham")),
        (b"TELL SPAMC/1.5\r\nRemove: local", Request("TELL", wish="forget")),
        (b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: remote", Request("TELL")),
        (
            b"TELL SPAMC/1.5\r\nMessage-class: ham\r\nSet: local\r\nRemove: remote",
            Request("TELL", wish="ham"),
        ),
    ],
)  # fmt: skip
def test_a_request_is_read(head: bytes, expected: Request) -> None:
    assert read_request(head) == expected


@pytest.mark.parametrize(
    "head",
    [
        b"", b"GET / HTTP/1.1", b"EAT SPAMC/1.5", b"CHECK SPAMC/x", b"CHECK SPAMC/1.5 \xff",
        b"CHECK SPAMC/1.5\r\nno header", b"CHECK SPAMC/1.5\r\nContent-length: -1",
        b"CHECK SPAMC/1.5\r\nContent-length: 1e3",
        b"CHECK SPAMC/1.5\r\nContent-length: " + b"9" * 99,
        b"CHECK SPAMC/1.5\r\nContent-length: \xc2\xb2", b"CHECK SPAMC/1.5\r\nCompress: zlib",
        b"CHECK SPAMC/1.5\r\nContent-length: 1\r\nCompress: lzma",
        b"CHECK SPAMC/1.5" + b"\r\na: b" * 300,
        b"TELL SPAMC/1.5\r\nSet: local", b"TELL SPAMC/1.5\r\nMessage-class: eggs\r\nSet: local",
        b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\nRemove: local",
    ],
)  # fmt: skip
def test_a_wrong_request_is_refused(head: bytes) -> None:
    with pytest.raises(RefusedError) as refused:
        read_request(head)
    answer = spamd.refusal(refused.value.code, str(refused.value))
    assert answer.startswith(b"SPAMD/1.0 76 EX_PROTOCOL ")
    # A client that finds an empty line would take what follows, nothing, for its message.
    assert answer.count(b"\r\n") == 1
    assert answer.endswith(b"\r\n")


def test_a_compressed_message_is_read_within_limits() -> None:
    raw = b"Subject: hi\n\nthere" * 100
    packed = zlib.compress(raw)
    compressed = lambda body: Request("CHECK", length=len(body), compressed=True)  # noqa: E731
    assert read_message(compressed(packed), packed) == raw
    bomb = zlib.compress(bytes(BYTES + 1))
    for body in (packed[:-9], b"no zlib", bomb):
        with pytest.raises(RefusedError) as refused:
            read_message(compressed(body), body)
        assert refused.value.code == "EX_DATAERR"


def test_answers_are_as_each_version_has_them() -> None:
    said = lambda verb, version: scored(  # noqa: E731
        Request(verb, version), "7.3", "0.0", is_spam=True, content=b"it"
    )
    begin, spam = b"SPAMD/1.1 0 EX_OK\r\n", b"Spam: True ; 7.3 / 0.0\r\n"
    assert said("REPORT", (1, 5)) == begin + b"Content-length: 2\r\n" + spam + b"\r\nit"
    # Exim asks for version 1.2 and looks for exactly this.
    assert said("REPORT", (1, 2)) == begin + spam + b"\r\nit"
    assert said("SYMBOLS", (1, 2)) == begin + spam + b"\r\nit\r\n"
    assert said("CHECK", (1, 2)) == said("CHECK", (1, 5)) == begin + spam + b"\r\n"
    assert said("PROCESS", (1, 2)) == begin + b"Content-length: 2\r\n\r\nit"
    assert said("PROCESS", (1, 0)) == b"SPAMD/1.0 0 EX_OK\r\nit"


def test_the_score_is_at_least_the_threshold_if_and_only_if_it_is_spam() -> None:
    table = MailTable.empty().add({"a": (1, 40), "b": (40, 1)}, (50, 50))
    for words in ([], ["a"], ["b"], ["a", "b"]):
        verdict = Verdict(table, words)
        for costs in ((1, 1), (20, 1), (1, 3), (38, 1), (1e300, 1), (1, 1e300)):
            division = division_of(None, costs)
            spam = division(verdict.probability) == "spam"
            score, threshold = score_and_threshold(
                verdict.log_odds, division.threshold, is_spam=spam
            )
            assert (float(score) >= float(threshold)) == spam
            assert len(score) < 20 > len(threshold)  # as many characters as libspamc reads


def test_weights_that_are_kept_say_the_same() -> None:
    table = MailTable.empty().add({"a": (1, 40), "b": (40, 1), "c": (3, 4)}, (50, 50))
    kept = WordWeights(table)
    for words in (["a", "x"], ["b", "a", "c"], ["x"], ["a", "x"]):
        once, again = Verdict(table, words), Verdict(kept, words)
        assert once.probability == again.probability
        assert once.contributions == again.contributions


def test_the_head_of_a_marked_message_ends_where_the_client_takes_its_body() -> None:
    for raw in (
        b"A: b\r\n\r\nbody\r\n\r\n",
        b"A: b\n\nbody",
        b"A: b\n\r\nbody\n\nmore",
        b"A: b",
        b"",
    ):
        marked = b"X: y\n" + raw
        head = spamd.head_of(marked, raw)
        assert marked.startswith(head)
        found = spamd.END_OF_HEAD.search(raw)
        assert head + (raw[found.end() :] if found else b"") == marked
