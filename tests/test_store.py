"""The model file: what is saved is what was learned, and a bad file is a clear error."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy.sparse import csr_array

from naively import Multinomial, NaiveBayes, Text, load
from naively.file import store
from naively.kernels.sparse_sums import RepeatedSums, SparseSums
from tests.cases import CASES, Case
from tests.damage import Arrays, assert_refused, rewrite
from tests.laws import samples


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_what_is_loaded_is_what_was_saved(
    case: Case, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("store") / "model.naively"
    model = data.draw(samples(case, weights=False)).model * 0.3
    store.save(model, path, {"note": "§"})
    again, provenance, sample = store.load_all(path)
    assert provenance == {"note": "§"}
    assert sample is None
    assert again.view.schema == model.view.schema
    assert again.classes.dtype == model.classes.dtype
    assert again.classes.tolist() == model.classes.tolist()
    for name, block in model.counted.tally.blocks.items():
        same = again.counted.tally.blocks[name]
        assert [same.axis.label(i) for i in range(len(same.axis))] == [
            block.axis.label(i) for i in range(len(block.axis))
        ]
        for statistic, sums in block.sums.items():
            np.testing.assert_array_equal(same[statistic].high, sums.high)
            np.testing.assert_array_equal(same[statistic].low, sums.low)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.naively"
    NaiveBayes({"t": "text"}, class_prior={"a": 0.25, "b": 0.75}).fit(
        {"x": [1.0, 2.0], "c": ["u", None], "t": ["one two three four", "a b c d e f"]}, ["a", "b"]
    ).save(path)
    return path


def test_settings_and_columns_come_back(saved: Path) -> None:
    nb = load(saved)
    assert nb.class_prior == {"a": 0.25, "b": 0.75}
    assert set(nb.feature_names_in_) == {"x", "c", "t"}
    nb.partial_fit({"x": [3.0], "c": ["w"], "t": ["one more text for it"]}, ["b"])
    assert nb.class_count_.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("labels", [[1, 2], [True, False], [1.0, 2.0], ["u", "v"]])
def test_labels_keep_their_type(labels: list[object], tmp_path: Path) -> None:
    path = tmp_path / "m.naively"
    nb = NaiveBayes().fit([[1.0], [2.0]], labels)
    nb.save(path)
    assert load(path).predict([[1.0], [2.0]]).dtype == np.asarray(labels).dtype
    assert load(path).predict([[1.0], [2.0]]).tolist() == labels


@pytest.mark.parametrize(
    "times", [1.0, 254.0, 255.0, 256.0, 70_000.0, 2.0**40, 2.0**55 + 24, 300.1, 0.25]
)
def test_counts_of_words_are_kept_to_the_bit(times: float, tmp_path: Path) -> None:
    texts = ["to be or not to be", "to be is to do", "do be do be do"]
    nb = NaiveBayes(Text(ngram_range=(1, 2)), weights=None)
    nb.fit(texts, ["a", "b", "a"], sample_weight=[times, 3.0, 0.1 * times])
    nb.save(tmp_path / "m")
    back = load(tmp_path / "m")
    (was,), (now,) = nb.tally_.blocks.values(), back.tally_.blocks.values()
    assert now.axis.words == was.axis.words
    for statistic, sums in was.sums.items():
        assert (now.sums[statistic].high == sums.high).all()
        assert (now.sums[statistic].low == sums.low).all()
    assert (back.predict_proba(texts) == nb.predict_proba(texts)).all()


def test_sparse_columns_of_many_classes_stay_sparse(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = csr_array(rng.poisson(0.05, (500, 90))), np.arange(500) % 50
    nb = NaiveBayes(Multinomial(), weights=None).fit(X, y)
    nb.save(tmp_path / "m")
    back = load(tmp_path / "m")
    (block,) = (block for key, block in back.tally_.blocks.items() if key.event == Multinomial())
    assert {type(sums) for sums in block.sums.values()} == {SparseSums, RepeatedSums}
    assert (back.predict_proba(X) == nb.predict_proba(X)).all()
    assert (back.partial_fit(X, y).predict_proba(X) == nb.partial_fit(X, y).predict_proba(X)).all()


@pytest.mark.parametrize(
    ("array", "lie", "why"),
    [
        ("number", lambda of: of + 1, "no such row"),
        ("number", lambda of: of - 1, "no such row"),
        ("number", lambda of: of[1:], "has shape"),
        ("high", lambda of: of[:, 1:], "rows of other classes"),
        ("high", lambda of: of[0], "rows of other classes"),
        ("high", lambda of: of + np.nan, "not finite"),
    ],
)
def test_repeated_rows_that_lie_are_refused(
    array: str, lie: Callable[[Any], Any], why: str, tmp_path: Path
) -> None:
    X, y = csr_array(np.eye(80)), [*range(40), *range(40)]
    NaiveBayes(Multinomial(), weights=None).fit(X, y).save(tmp_path / "m")

    def change(_: Any, arrays: Arrays) -> None:
        (name,) = (name for name in arrays if name.endswith("/number"))
        name = name.replace("number", array)
        arrays[name] = np.ascontiguousarray(lie(arrays[name]))

    rewrite(tmp_path / "m", change)
    assert_refused(tmp_path / "m", why)


def test_the_text_of_ngrams_is_written_once(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(100)]
    texts = [" ".join(words[i:] + words[:i]) for i in range(0, 100, 9)]
    NaiveBayes(Text(ngram_range=(2, 2)), weights=None).fit(texts, [0, 1] * 6).save(tmp_path / "m")
    with safe_open(tmp_path / "m", framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert arrays["0/words"].tobytes().decode() == "".join(words)
    ngrams = arrays["0/ngrams"].reshape(-1, 2)
    assert (ngrams.dtype, len(ngrams)) == (np.uint8, 100)  # the narrowest type, and each once
    assert {(i, (i + 1) % 100) for i in range(100)} == {*map(tuple, ngrams.tolist())}
    assert "0/sizes" not in arrays


def test_saving_twice_gives_the_same_bytes(saved: Path, tmp_path: Path) -> None:
    load(saved).save(tmp_path / "again")
    load(saved).save(tmp_path / "thrice")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "thrice").read_bytes()


def test_open_files_and_bytes_are_as_the_file(saved: Path, tmp_path: Path) -> None:
    nb, buffer, packed = load(saved), BytesIO(), tmp_path / "model.naively.gz"
    nb.save(buffer)
    assert buffer.getvalue() == saved.read_bytes()
    nb.save(packed)
    buffer.seek(0)
    for source in (saved.read_bytes(), memoryview(saved.read_bytes()), buffer, packed.read_bytes()):
        assert store.to_bytes(load(source).model_) == store.to_bytes(nb.model_)
    with saved.open("rb") as file:
        assert load(file).classes_.tolist() == ["a", "b"]
    with saved.open("r", encoding="latin-1") as text, pytest.raises(TypeError, match="rb"):
        load(text)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="The file is no"):
        load(BytesIO(b"GIF89a" * 9))


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.99])
def test_a_file_cut_short_is_said(saved: Path, keep: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(ValueError, match=r"model\.naively is .*damaged"):
        load(saved)


def test_no_file_and_foreign_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no model file"):
        load(tmp_path / "nothing")
    rubbish = tmp_path / "rubbish"
    rubbish.write_bytes(os.urandom(1000))
    with pytest.raises(ValueError, match="not a model file"):
        load(rubbish)
    foreign = tmp_path / "foreign"
    save_file({"x": np.zeros(3)}, foreign)
    with pytest.raises(ValueError, match="a safetensors file, but not a model of naively"):
        load(foreign)


def test_a_newer_format_is_said(saved: Path) -> None:
    rewrite(saved, lambda header, _: header.update(format=99, version="9.0"))
    with pytest.raises(ValueError, match=r"made by a newer version of naively \(9.0\).*Upgrade"):
        load(saved)


def test_an_unwritable_path_leaves_the_old_file(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nb, before = load(saved), saved.read_bytes()
    with pytest.raises(OSError, match=r"Cannot write .*nowhere"):
        nb.save(saved.parent / "nowhere" / "m.naively")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"Cannot write .*No space left"):
        nb.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
