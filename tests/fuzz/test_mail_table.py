"""A damaged model of the filter is one sentence, without much memory, or a model that works."""

from __future__ import annotations

import copy
import json
import random
import tracemalloc
from array import array
from binascii import crc32

import pytest

from naively.wings.mail.layout import ARRAYS, UNKNOWN, _with_checksum
from naively.wings.mail.score import Verdict
from naively.wings.mail.table import MailTable
from tests.fuzz import fuzz
from tests.fuzz.mail import mutated

WORDS = ["lunch", "noon", "pills", "cheap", "other"]
HOSTILE = [
    None, True, -1, 0, 1, 2, 3, 1.5, 1e999, -1e999, float("nan"), 10**18, 2**63, 10**400, "", "x",
    "F64", "U500000000", [], {}, [0], [0, 0], [0, 10**12], [-8, 8], [[]], {"a": 1}, "0" * 8,
    "[" * 3000,
]  # fmt: skip


def table() -> MailTable:
    counts = {"lunch": (3, 0), "noon": (2, 1), "pills": (0, 2), "cheap": (1, 2)}
    known = {bytes([i] * 16): (20_000 + i, 1.0) for i in range(5)}
    made = MailTable.empty(remembers=True).add(counts, (3, 2)).with_known(known)
    return made.add_histogram([i % 3 for i in range(len(made.histogram))])


CONTENT = table().to_bytes()


def used(content: bytes) -> None:
    """Use a file as the filter and learning do; only a ValueError may come of it."""
    try:
        found = MailTable.from_bytes(content)
        assert 0 <= Verdict(found, WORDS).probability <= 1
        found.check()
        found.add({"more": (1, 0)}, (1, 0)).to_bytes()
    except ValueError as error:
        said = str(error)
    else:
        said = "nothing"
    assert said
    assert "\n" not in said


def test_every_flipped_bit_is_noticed() -> None:
    for place in range(len(CONTENT)):
        flipped = bytearray(CONTENT)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ValueError, match=r"damaged|cut short|not of mail|newer"):
            MailTable.from_bytes(bytes(flipped))


def test_a_file_that_is_cut_or_longer_is_refused() -> None:
    for size in range(0, len(CONTENT), 37):
        with pytest.raises(ValueError, match=r"damaged|cut short"):
            MailTable.from_bytes(CONTENT[:size])
    with pytest.raises(ValueError, match=r"damaged"):
        MailTable.from_bytes(CONTENT + b"\0")


def with_header(content: bytes, change) -> bytes:
    """Change the header; where there is still a checksum in it, it is right."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    header["__metadata__"]["naively"] = json.loads(header["__metadata__"]["naively"])
    change(header)
    ours = header["__metadata__"] if isinstance(header["__metadata__"], dict) else {}
    if "naively" in ours:
        if isinstance(ours["naively"], dict) and "checksum" in ours["naively"]:
            ours["naively"]["checksum"] = UNKNOWN
        ours["naively"] = json.dumps(ours["naively"])
    text = json.dumps(header).encode()
    rest = content[8 + size :]
    checksum = crc32(rest, crc32(text, crc32(len(text).to_bytes(8, "little"))))
    return len(text).to_bytes(8, "little") + _with_checksum(text, f"{checksum:08x}") + rest


def test_any_value_in_the_header_is_read_or_refused() -> None:
    def check(chance: random.Random) -> None:
        def change(header) -> None:
            for _ in range(chance.randrange(1, 3)):
                place = header
                while True:
                    inner = place if isinstance(place, dict) else dict(enumerate(place))
                    if not inner:
                        return
                    key = chance.choice(list(inner))
                    if not isinstance(inner[key], (dict, list)) or chance.random() < 0.3:
                        place[key] = copy.deepcopy(chance.choice(HOSTILE))
                        break
                    place = inner[key]

        tracemalloc.start()
        used(with_header(CONTENT, change))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 2 << 20

    fuzz(check, times=300)


def test_any_bytes_are_read_or_refused() -> None:
    def check(chance: random.Random) -> None:
        content = CONTENT
        if chance.random() < 0.5:
            return used(mutated(chance, content))
        # A file that was made with care: only its arrays are wrong, and the checksum is right.
        found = MailTable.from_bytes(content)
        arrays = {name: bytearray(memoryview(a).cast("B")) for name, a in found._arrays().items()}
        arrays = {name: arrays[name] for name in ARRAYS}
        data = arrays[chance.choice(list(arrays))]
        for _ in range(chance.randrange(1, 4)):
            if data:
                data[chance.randrange(len(data))] = chance.choice([0, 1, 127, 128, 255, 240])
        try:
            made = MailTable(arrays, found.temperature, remembers=found.remembers)  # type: ignore[arg-type]
        except ValueError:
            return None
        return used(made.to_bytes())

    fuzz(check, times=300)


@pytest.mark.parametrize(
    ("name", "code", "place", "value", "at_once"),
    [
        ("counts", "d", 0, 4.0, True),  # more than there are messages
        ("counts", "d", 0, -1.0, True),
        ("counts", "d", 0, float("nan"), True),
        ("counts", "d", 0, float("inf"), True),
        ("ends", "q", 0, 10**12, False),
        ("ends", "q", 1, -1, False),
        ("hashes", "I", 0, 2**32 - 1, False),
        ("hashes", "I", 1, 0, False),
        ("words", "B", 0, 0, False),
        ("digests", "B", 0, 255, False),
        ("weights", "d", 0, -1.0, False),
        ("messages", "d", 0, 1.0, False),
    ],
)
def test_what_is_wrong_in_a_file_made_with_care_is_found(
    name: str, code: str, place: int, value: float, at_once: bool
) -> None:
    found = MailTable.from_bytes(CONTENT)
    arrays = {
        key: array(ARRAYS[key][1], bytes(memoryview(a))) for key, a in found._arrays().items()
    }
    arrays[name][place] = int(value) if code != "d" else value
    content = MailTable(arrays, found.temperature, remembers=True).to_bytes()
    assert content != CONTENT
    found = MailTable.from_bytes(content)
    with pytest.raises(ValueError, match="it is damaged: "):
        found.check()
    if at_once:
        first = min(WORDS[:4], key=lambda word: crc32(word.encode()))
        with pytest.raises(ValueError, match="The model is damaged: "):
            Verdict(found, [first])


@pytest.mark.parametrize("said", [0.0, -1.0, 1e999, float("nan"), 1, "1.0", None, True])
def test_a_temperature_is_finite_and_positive(said: object) -> None:
    content = with_header(
        CONTENT, lambda header: header["__metadata__"]["naively"].update(temperature=said)
    )
    with pytest.raises(ValueError, match=r"temperature|damaged"):
        MailTable.from_bytes(content)


def test_nested_without_end_is_refused() -> None:
    text = b"[" * 9000
    with pytest.raises(ValueError, match="damaged"):
        MailTable.from_bytes(len(text).to_bytes(8, "little") + text)
    for size in (2**63, 10**9, 20_000):
        with pytest.raises(ValueError, match="cut short"):
            MailTable.from_bytes(size.to_bytes(8, "little") + text)
