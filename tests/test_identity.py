"""Blocks and parts are known by values: what counts alike merges, and nothing else does."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import (
    Bernoulli,
    Categorical,
    EventModel,
    Gaussian,
    Multinomial,
    NaiveBayes,
    Text,
    load,
)
from naively.counting.leave_one_out import Part
from naively.schema.schema import GroupKey

X, Y = {"x": [0.0, 1.0, 3.0, 4.0]}, list("aabb")


def test_models_that_only_print_alike_do_not_merge(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a default had changed since one of them was saved, so that it is not printed."""
    one, two = (NaiveBayes(Bernoulli(threshold=t), weights=None).fit(X, Y) for t in (0.0, 2.5))
    monkeypatch.setattr(EventModel, "__str__", lambda self: self.name)
    (a, b) = (nb.model_.view.schema.groups[0].key for nb in (one, two))
    assert str(a) == str(b)
    with pytest.raises(ValueError, match=r"threshold=0\.0.*threshold=2\.5.*cannot be merged"):
        one.merge(two)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Gaussian(), Gaussian(smoothing=2.0)),
        (Categorical(), Categorical(m="auto")),
        (Bernoulli(), Gaussian()),
    ],
)
def test_other_settings_do_not_merge(a: Any, b: Any) -> None:
    one, two = (NaiveBayes(event, weights=None).fit(X, Y) for event in (a, b))
    with pytest.raises(ValueError, match=r"Column 'x' is .* in one model and .* in the other"):
        one.merge(two)


def test_settings_that_are_equal_merge_however_they_were_given(tmp_path: Path) -> None:
    one = NaiveBayes(Categorical(alpha="laplace", codes=[5])).fit(X, Y)
    two = NaiveBayes({"x": Categorical(codes=(5,))}).fit(X, Y)
    two.save(tmp_path / "two")
    assert len(one.merge(load(tmp_path / "two")).tally_.blocks) == 1
    assert one.class_count_.tolist() == [4.0, 4.0]


def test_texts_that_are_split_in_other_ways_are_other_blocks() -> None:
    texts = ["one two three", "two three", "four five", "five six"]
    nb = NaiveBayes([Text(), Text(ngram_range=(2, 2))], weights=None).fit(texts, Y)
    keys = [*nb.tally_.blocks]
    assert [key.analyser.ngram_range for key in keys] == [(1, 1), (2, 2)]
    assert len(set(keys)) == 2


def test_keys_find_their_blocks_after_pickling() -> None:
    nb = pickle.loads(pickle.dumps(NaiveBayes().fit(X, Y)))  # noqa: S301
    (key,) = nb.tally_.blocks
    assert nb.tally_.blocks[GroupKey(key.event, key.kind)] is nb.tally_.blocks[key]
    np.testing.assert_allclose(nb.predict_proba(X).sum(axis=1), 1)


def test_weights_of_words_are_known_by_their_band() -> None:
    texts = ["one two three four", "two three four one", "five six two eight", "six five one two"]
    nb = NaiveBayes(Text(binary=True, event=Multinomial(0.5))).fit(texts, Y)
    assert nb.weights_ is not None
    (group,) = nb.model_.view.schema.groups
    assert set(nb.weights_.of) == {Part(group.key, "text", band) for band in (0, 1, 2)}
    assert [*nb.weights_.by_name][1].endswith(", words in 2 to 3 texts")


def test_a_key_that_was_hashed_takes_its_hash_nowhere() -> None:
    """A string has another hash in another process, which a pickle may be read in."""
    (group,) = NaiveBayes().fit(X, Y).model_.view.schema.groups
    hash(group.key)
    other = pickle.loads(pickle.dumps(group.key))  # noqa: S301
    assert vars(other).keys() == {"event", "kind", "column", "analyser"}
    assert other == group.key
    assert {group.key: 1}[other] == 1
