"""Texts that are others in another spelling are left out with these."""

import numpy as np
import pytest

from naively import NaiveBayes, load

RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list("abcdefgh"), 6)) for _ in range(300)]
WAYS = [
    str.upper,
    str.title,
    lambda text: text.replace(" ", "  "),
    lambda text: f"{text} 7",
    lambda text: f"17, {text}!",
    lambda text: text.replace(" ", ", "),
]


def texts_of(n, rng):
    return [" ".join(rng.choice(WORDS, 15)) for _ in range(n)]


def spelled(texts, y):
    """Each text in each way, which says nothing of its class."""
    return [way(text) for way in WAYS for text in texts], [label for _ in WAYS for label in y]


@pytest.fixture(scope="module")
def copied():
    rng = np.random.default_rng(1)
    texts, y = texts_of(80, rng), rng.choice(["a", "b"], 80).tolist()
    return spelled(texts, y)


def test_near_copies_are_said(copied):
    nb = NaiveBayes().fit(*copied)
    (note,) = [note for note in nb.notes_ if note.startswith("Near copies")]
    assert note == (
        "Near copies: 480 rows are 80 texts in other case, spacing, numbers or punctuation; each "
        "is left out with those like it. If they are rows of their own, number them in groups=."
    )


def test_labels_at_random_are_not_known(copied):
    """A model that knows each text from its other spellings would believe that it knows them."""
    texts, y = copied
    nb = NaiveBayes().fit(texts, y)
    assert nb.assess().log_loss > 0.6
    rng = np.random.default_rng(2)
    others = texts_of(500, rng)
    assert nb.evaluate(others, rng.choice(["a", "b"], 500)).log_loss < 1.0
    own = NaiveBayes().fit(texts, y, groups=np.arange(len(y)))  # rows of their own
    assert not any(note.startswith("Near copies") for note in own.notes_)
    assert own.assess().log_loss < 0.1


def test_exact_copies_and_near_ones_are_as_honest(copied):
    texts, y = copied
    plain = NaiveBayes().fit([" ".join(t.lower().replace(",", "").split()) for t in texts], y)
    assert NaiveBayes().fit(texts, y).assess().log_loss > plain.assess().log_loss / 2


@pytest.mark.parametrize(
    "make",
    [
        lambda i: f"ok {i}",  # too short
        lambda i: f"the cat sat on mat{i} today",  # letters differ
        lambda i: " ".join(WORDS[(i * 7 + j) % 300] for j in range(10)),  # others
    ],
)
def test_texts_that_only_look_alike_are_rows_of_their_own(make):
    y = np.random.default_rng(0).choice(["a", "b"], 200).tolist()
    nb = NaiveBayes({"t": "text"}).fit({"t": [make(i) for i in range(200)]}, y)
    assert not any(note.startswith("Near copies") for note in nb.notes_)


def test_what_a_template_says_of_all_rows_is_chance():
    """All rows of a class have the same words: that two of them are alike is no wonder."""
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300).tolist()
    texts = [f"room number {i} is {'warm' if c == 'a' else 'cold'} today" for i, c in enumerate(y)]
    nb = NaiveBayes({"t": "text"}).fit({"t": texts}, y)
    assert not any(note.startswith("Near copies") for note in nb.notes_)
    assert nb.assess().accuracy == 1.0


def test_other_cells_and_labels_tell_near_copies_apart(copied):
    texts, y = copied
    table = {"t": texts, "n": np.arange(len(y), dtype=float)}
    nb = NaiveBayes({"t": "text", "n": "gaussian"}).fit(table, y)
    assert not any(note.startswith("Near copies") for note in nb.notes_)
    each = [f"c{i // 80}" for i in range(len(y))]  # every spelling is of another class
    assert not any(n.startswith("Near copies") for n in NaiveBayes().fit(texts, each).notes_)


def test_batches_files_and_order_do_not_show(copied, tmp_path):
    texts, y = copied
    nb = NaiveBayes().fit(texts, y)
    order = np.random.default_rng(3).permutation(len(y))
    other = NaiveBayes()
    for part in np.array_split(order, 4):
        other.partial_fit([texts[i] for i in part], [y[i] for i in part])
    other.calibrate()
    nb.save(tmp_path / "m.naively", keep_rows=True)
    again = load(tmp_path / "m.naively").calibrate()
    p = nb.predict_proba(texts)
    np.testing.assert_allclose(other.predict_proba(texts), p, atol=1e-6)
    np.testing.assert_allclose(again.predict_proba(texts), p, atol=1e-9)
