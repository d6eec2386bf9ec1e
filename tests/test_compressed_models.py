"""A model file whose name ends in .gz is the plain file, compressed; a bomb of one is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from naively import NaiveBayes, load
from naively.file import container as compressed
from tests.damage import in_little_memory, is_sentence
from tests.test_cli import ok

TEXTS = [f"lunch at {i} with the team of floor {i % 7}" for i in range(60)]
TEXTS += [f"win {i} prizes now, call {i}{i}" for i in range(60)]
LABELS = ["ham"] * 60 + ["spam"] * 60


@pytest.fixture
def nb() -> NaiveBayes:
    return NaiveBayes().fit(TEXTS, LABELS)


@pytest.fixture
def saved(nb: NaiveBayes, tmp_path: Path) -> Path:
    path = tmp_path / "model.naively.gz"
    nb.save(path, keep_rows=True)
    return path


def test_it_is_the_plain_file_compressed(nb: NaiveBayes, saved: Path, tmp_path: Path) -> None:
    plain = tmp_path / "model.naively"
    nb.save(plain, keep_rows=True)
    content = plain.read_bytes()
    assert gzip.decompress(saved.read_bytes()) == content
    assert saved.stat().st_size < 0.6 * len(content)
    assert saved.read_bytes()[4:8] == bytes(4)  # no time, so that a model has one file


def test_what_is_loaded_is_all_that_was_saved(nb: NaiveBayes, saved: Path, tmp_path: Path) -> None:
    loaded = load(saved)
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), nb.predict_proba(TEXTS))
    loaded.forget(TEXTS[:5], LABELS[:5]).merge(nb)
    assert loaded.class_count_.tolist() == [115, 120]
    saved.rename(tmp_path / "renamed")  # what a file holds is not told by its name
    np.testing.assert_array_equal(load(tmp_path / "renamed").class_count_, nb.class_count_)


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.99])
def test_a_file_cut_short_is_said(saved: Path, keep: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * keep)])
    refused(saved, "is damaged")


def test_a_changed_byte_is_said(saved: Path) -> None:
    content = saved.read_bytes()
    for place in (2, 3, 12, len(content) // 2, len(content) - 6):
        saved.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        if place == 3:  # a flag that begins with a name, of which there is none
            refused(saved, "damaged|no model file|not a model file")
        else:
            refused(saved, "is damaged")


@pytest.mark.slow
def test_a_bomb_is_refused(saved: Path) -> None:
    for content in (bytes(1 << 29), b"[]," * 5_000_000):
        saved.write_bytes(gzip.compress(content))
        with in_little_memory(), pytest.raises(ValueError, match="than 100 times its size") as e:
            load(saved)
        assert str(e.value).endswith(
            "if you trust it, unpack it with gunzip, and load the plain file."
        )


def test_something_else_that_is_compressed_is_said(saved: Path) -> None:
    saved.write_bytes(gzip.compress(b"text,label\nhello,ham\n"))
    refused(saved, "is not a model file")


def refused(path: Path, why: str) -> None:
    with in_little_memory(), pytest.raises(ValueError, match=why) as e:
        load(path)
    assert str(e.value).startswith(f"{path} is ")
    assert is_sentence(str(e.value))


def test_what_could_not_be_loaded_is_not_saved(
    nb: NaiveBayes, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "HARMLESS", 0)
    monkeypatch.setattr(compressed, "RATIO", 1)
    before = saved.read_bytes()
    with pytest.raises(ValueError, match=r"choose a name without \.gz\."):
        nb.save(saved)
    assert saved.read_bytes() == before


def test_a_small_file_may_hold_more_times_its_size_and_a_large_one_more_bytes(
    nb: NaiveBayes, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant in ("RATIO", "HARMLESS"):
        with monkeypatch.context() as changed:
            changed.setattr(compressed, constant, 0)
            nb.save(saved)
            assert load(saved).class_count_.tolist() == [60, 60]


@pytest.mark.slow
def test_the_command_line_writes_and_reads_it(tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.csv", tmp_path / "mail.naively.gz"
    rows.write_text(
        "text,label\n" + "".join(f'"{t}",{y}\n' for t, y in zip(TEXTS, LABELS, strict=True))
    )
    ok("train", rows, "--target", "label", "-o", model)
    assert model.read_bytes()[:2] == b"\x1f\x8b"
    ok("update", model, rows, "--again")
    assert model.read_bytes()[:2] == b"\x1f\x8b"
    assert load(model).class_count_.tolist() == [120, 120]
