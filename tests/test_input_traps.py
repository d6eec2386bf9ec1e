"""Input that can be meant in two ways, or that holds nothing: what is decided, and what is said."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import (
    BernoulliNB,
    Categorical,
    ComplementNB,
    GaussianNB,
    JointTable,
    MultinomialNB,
    NaiveBayes,
    Text,
)
from naively.data.frames import as_rows

EQUAL = [["cheap", "pills"], ["lunch", "noon"], ["more", "pills"], ["late", "lunch"]]
UNEQUAL = [["cheap", "pills", "now"], ["lunch", "noon"], ["pills"], ["late", "lunch"]]
Y = ["spam", "ham", "spam", "ham"]


# Lists of lists of strings: texts, or a table?


@pytest.mark.parametrize(
    "make",
    [
        lambda: NaiveBayes().fit(UNEQUAL, Y),
        lambda: NaiveBayes(Text()).fit(EQUAL, Y),
        lambda: NaiveBayes("text").fit(EQUAL, Y),
        lambda: NaiveBayes([Text(), Text(ngram_range=(2, 2))]).fit(EQUAL, Y),
        lambda: NaiveBayes({"text": Text()}).fit(EQUAL, Y),
        lambda: NaiveBayes().fit({"text": EQUAL}, Y),
        lambda: NaiveBayes().fit([" ".join(words) for words in EQUAL], Y),
        lambda: NaiveBayes().partial_fit(UNEQUAL, Y),
    ],
    ids=["unequal", "Text", "text", "several", "by name", "mapping", "strings", "partial_fit"],
)
def test_what_learned_texts_takes_lists_of_words_of_any_length(make: Any) -> None:
    nb = make()
    for lists in (EQUAL, UNEQUAL, [["pills", "pills"]], [["lunch"]], [["pills"], ["noon", "x"]]):
        as_texts = nb.predict_proba({"text": lists})
        np.testing.assert_allclose(nb.predict_proba(lists), as_texts, rtol=0)
        assert (nb.predict(lists) == nb.predict({"text": lists})).all()
        assert len(nb.explain(lists)) == len(lists)
    assert nb.predict([["cheap", "pills"], ["lunch", "noon"]]).tolist() == ["spam", "ham"]


def test_what_learned_texts_learns_and_forgets_lists_of_words_of_any_length() -> None:
    for first, second in ((UNEQUAL, EQUAL), (UNEQUAL[:1] + EQUAL, [["one", "word"]] * 4)):
        y = (Y * 2)[: len(first)]
        nb = NaiveBayes(weights=None).fit(first, y)
        both = NaiveBayes(weights=None).fit({"text": first + second}, y + Y)
        nb.partial_fit(second, Y)
        np.testing.assert_allclose(nb.predict_proba(EQUAL), both.predict_proba(EQUAL), rtol=1e-12)
        nb.forget(second, Y)
        alone = NaiveBayes(weights=None).fit({"text": first}, y)
        np.testing.assert_allclose(nb.predict_proba(EQUAL), alone.predict_proba(EQUAL), rtol=1e-12)


def test_one_string_with_white_space_each_is_no_text_of_one_word() -> None:
    column = [[" ".join(words)] for words in UNEQUAL]
    table = NaiveBayes().fit(column, Y)
    assert table.predict([["lunch noon"], ["cheap pills now"]]).tolist() == ["ham", "spam"]
    of_words = NaiveBayes().fit(UNEQUAL, Y)
    with pytest.warns(UserWarning, match="in the order of those learned"):
        assert of_words.predict(column).tolist() == of_words.predict(UNEQUAL).tolist()


def test_runs_of_characters_are_looked_for_in_lists_of_words_too() -> None:
    strings = [" ".join(words) for words in UNEQUAL]
    for text in (Text(analyzer="char", ngram_range=(2, 4)), Text(analyzer="char_wb")):
        nb = NaiveBayes(text, weights=None).fit(strings, Y)
        of_lists = NaiveBayes(text, weights=None).fit(UNEQUAL, Y)
        expected = nb.predict_proba(strings)
        np.testing.assert_allclose(nb.predict_proba(UNEQUAL), expected, rtol=1e-12)
        np.testing.assert_allclose(of_lists.predict_proba(strings), expected, rtol=1e-12)


def test_what_learned_a_table_reads_a_table() -> None:
    rows = [["red", "small"], ["blue", "large"], ["red", "large"], ["blue", "large"]] * 2
    nb = NaiveBayes().fit(rows, Y * 2)
    assert nb.n_features_in_ == 2
    few = [["red", "small"], ["blue", "large"]]  # would be warned of if nothing were known
    np.testing.assert_allclose(nb.predict_proba(few), nb.predict_proba(np.array(few, object)))
    with pytest.raises(ValueError, match=r"rows have different lengths.* a table was learned"):
        nb.predict([["red", "small"], ["blue"]])


def test_lists_of_one_length_are_a_table_and_it_is_said_if_they_look_like_words() -> None:
    with pytest.warns(UserWarning, match="read as a table of 2 columns") as said:
        nb = NaiveBayes().fit(EQUAL, Y)
    assert nb.n_features_in_ == 2
    assert '{"text": X}' in str(said[0].message)
    assert "event_models=Text()" in str(said[0].message)
    assert "mapping" in str(said[0].message)
    assert said[0].filename == __file__


@pytest.mark.parametrize(
    ("event_models", "rows"),
    [
        ("auto", [["yes", "no"], ["no", "yes"], ["no", "no"], ["yes", "yes"]]),
        ("auto", [["a", "u"], ["b", "u"], ["c", "u"], ["d", "u"]]),  # one has equal cells
        ("auto", [["a"], ["b"], ["c"], ["d"]]),
        ("auto", [["a", 1], ["b", 2], ["c", 3], ["d", 4]]),
        ("categorical", EQUAL),
        (Categorical(), EQUAL),
        (JointTable(), EQUAL),
    ],
)
def test_what_can_only_be_a_table_is_one_without_a_word(event_models: Any, rows: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nb = NaiveBayes(event_models, weights=None).fit(rows, Y)
    assert nb.n_features_in_ == len(rows[0])


def test_fit_decides_anew() -> None:
    nb = NaiveBayes().fit(UNEQUAL, Y)
    with pytest.warns(UserWarning, match="table of 2 columns"):
        nb.fit(EQUAL, Y)
    assert nb.n_features_in_ == 2


def test_a_missing_text_among_lists_of_words_makes_them_texts() -> None:
    nb = NaiveBayes().fit([*EQUAL, None], [*Y, "ham"])
    assert nb.schema_.kinds == {"text": "text"}


def test_numbers_of_words_are_still_asked_for() -> None:
    with pytest.raises(ValueError, match=r'say so: \{"text": rows\}'):
        NaiveBayes().fit([[1, 2], [3]], ["a", "b"])
    nb = NaiveBayes(weights=None).fit({"text": [[1, 2], [3]]}, ["a", "b"])
    assert nb.predict([[1], [3]]).tolist() == ["a", "b"]


def test_a_warning_of_columns_names_the_line_of_the_caller() -> None:
    with pytest.warns(UserWarning, match="mixes numbers and strings") as said:
        nb = NaiveBayes(weights=None).fit({"a": [1, "x"], "b": [1, 2]}, ["u", "v"])
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match="No column 'b'") as said:
        nb.predict({"a": ["x"]})
    assert said[0].filename == __file__


# Nothing to learn from.


def test_texts_without_a_token_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="No token was found in any text of column 'text'") as said:
        NaiveBayes(weights=None, text="words").fit(["... !", "-"], [0, 1])
    message = str(said[0].message)
    assert said[0].filename == __file__
    assert "words, numbers, hashtags, mentions, smileys and emoji" in message
    assert "Text(token_pattern=...)" in message


def test_the_warning_names_the_column_and_what_is_looked_for() -> None:
    table = {"note": ["a b", "c"], "other": ["one text", "another text"]}
    digits = r"\d+"
    models = {"note": Text(token_pattern=digits), "other": Text()}
    with pytest.warns(UserWarning, match=r"column 'note'.* words that match '\\d\+'") as said:
        NaiveBayes(models, weights=None).fit(table, [0, 1])
    assert len(said) == 1
    with pytest.warns(UserWarning, match="character 9-grams"):
        NaiveBayes(Text(analyzer="char", ngram_range=(9, 9))).fit(["ab", "c"], [0, 1])


@pytest.mark.parametrize("pattern", [r"(?u)\b\w+\b", "char"])
def test_the_cure_that_is_named_cures(pattern: str) -> None:
    text = Text(analyzer="char") if pattern == "char" else Text(token_pattern=pattern)
    nb = NaiveBayes(text, weights=None).fit(["a b a", "b b"], [0, 1])
    assert nb.predict(["a", "b"]).tolist() == [0, 1]


def test_runs_of_characters_are_tokens_too_and_missing_texts_are_none() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes().fit(["a b a", "b b"], [0, 1])
        x = {"t": [None, "of no weight"], "x": [1, 2]}
        NaiveBayes({"t": "text"}, weights=None).fit(x, [0, 1], sample_weight=[1, 0])


@pytest.mark.parametrize("weights", ["loo", None])
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_an_empty_list_has_no_rows(verb: str, weights: Any) -> None:
    with pytest.raises(ValueError, match="X is an empty list: there is no row in it to learn"):
        getattr(NaiveBayes(weights=weights), verb)([], [])


def test_a_negative_number_of_rows_cannot_be_drawn() -> None:
    nb = NaiveBayes().fit({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(ValueError, match="a number of rows that is at least 0, got -1"):
        nb.inspect.sample(-1)
    with pytest.raises(ValueError, match="got -1"):
        nb.inspect.sample(-1, y="a")
    assert nb.inspect.sample(0)[1].shape == (0,)


# What is shown are plain Python values, whatever scalars come in.


@pytest.mark.parametrize("wrap", [list, lambda cells: np.array(cells, object)])
def test_scalars_of_numpy_do_not_leak_out(wrap: Any) -> None:
    x = {
        np.str_("colour"): wrap([np.str_("red"), np.str_("blue"), None] * 4),
        "sure": wrap([np.bool_(True), np.bool_(False), None] * 4),
        "size": wrap([np.float32(1.5), np.int64(2), None] * 4),
    }
    y = wrap([np.str_("p"), np.str_("q"), np.str_("p")] * 4)
    nb = NaiveBayes().fit(x, y)
    assert nb.classes_.dtype.kind == "U"
    shown = [
        repr(nb.assess().by_class), repr(nb.assess().classes), repr(nb.assess().majority),
        repr([block.axis.levels for block in nb.tally_.blocks.values()
              if hasattr(block.axis, "levels")]),
        repr(nb.explain(x).to_dict()), str(nb.explain(x)), str(nb.schema_), repr(nb.schema_.order),
        repr(as_rows(x).values("sure")), repr(as_rows(x).values("colour")),
        repr({name: column.tolist() for name, column in nb.inspect.sample(3)[0].items()}),
    ]  # fmt: skip
    assert [text for text in shown if "np." in text] == []


def test_labels_that_are_scalars_of_numpy_are_strings_like_others() -> None:
    y = np.array(["a", np.str_("b"), np.str_("a"), "b"], object)
    nb = NaiveBayes().fit({"x": [1.0, 2.0, 1.0, 2.0]}, y)
    assert nb.classes_.tolist() == ["a", "b"]
    numbers = np.array([np.int64(1), 2, np.int64(1), 2], object)
    assert NaiveBayes().fit({"x": [1.0, 2.0, 1.0, 2.0]}, numbers).classes_.dtype.kind == "i"


def test_words_may_be_scalars_of_numpy() -> None:
    words = [list(map(np.str_, row)) for row in UNEQUAL]
    nb = NaiveBayes().fit(words, Y)
    np.testing.assert_allclose(
        nb.predict_proba(words), NaiveBayes().fit(UNEQUAL, Y).predict_proba(UNEQUAL)
    )
    assert "np." not in str(nb.explain(words))
    assert "np." not in repr(as_rows(words).values("text").tolist())


MASKED = np.ma.array([0, 1, 0, 1], mask=[0, 0, 1, 0])


@pytest.mark.parametrize("labels", [MASKED, MASKED.astype(float), MASKED.astype(str)], ids=str)
def test_a_masked_label_is_a_missing_label(labels: Any) -> None:
    X = [[1.0], [2.0], [1.5], [3.0]]
    with pytest.raises(ValueError, match="Row 2 has no label"):
        NaiveBayes("gaussian", weights=None).fit(X, labels)
    with pytest.raises(ValueError, match="Row 2 has no label"):
        GaussianNB().fit(X, labels)
    nb = NaiveBayes("gaussian", semi_supervised=True, weights=None).fit(X, labels)
    assert nb.class_count_[: len(nb.classes_)].sum() <= 3 + nb.unlabelled_weight_
    assert len(nb.classes_) == 2
    kept = np.ma.array(labels.data, mask=False)
    np.testing.assert_array_equal(GaussianNB().fit(X, kept).class_count_, [2, 2])


def test_a_masked_weight_is_refused() -> None:
    X, weight = [[1.0], [2.0], [1.5], [3.0]], np.ma.array([1, 1, 5, 1], mask=[0, 0, 1, 0])
    for nb in (NaiveBayes("gaussian"), GaussianNB(), MultinomialNB()):
        with pytest.raises(ValueError, match=r"row 2 has nan|NaN"):
            nb.fit(X, [0, 1, 0, 1], sample_weight=weight)
        with pytest.raises(ValueError, match=r"row 2 has nan|NaN"):
            nb.fit(X, np.array([0, 1, 0, 1]), sample_weight=weight)


TINY = sparse.csr_matrix(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))


def wrong_matrices() -> dict[str, Any]:
    """Matrices whose arrays do not belong together, which SciPy makes without a word."""

    def made(**parts: list[int]) -> Any:
        matrix = sparse.csr_matrix(TINY)
        for name, values in parts.items():
            setattr(matrix, name, np.array(values, np.int64))
        return matrix

    return {
        "last pointer 0": made(indptr=[0, 1, 2, 0]),
        "pointers fall": made(indptr=[0, 3, 2, 4]),
        "pointer beyond": made(indptr=[0, 1, 2, 40]),
        "first pointer": made(indptr=[1, 1, 2, 4]),
        "column of 2**32": made(indptr=[0, 1, 2, 4], indices=[1 << 32, 1, 0, 1]),
        "negative column": made(indptr=[0, 1, 2, 4], indices=[-1, 1, 0, 1]),
    }


@pytest.mark.parametrize("kind", [NaiveBayes, MultinomialNB, BernoulliNB, ComplementNB])
@pytest.mark.parametrize("name", wrong_matrices())
def test_a_wrong_sparse_matrix_is_refused(kind: Any, name: str) -> None:
    nb = kind().fit(TINY, [0, 1, 0])
    for use in (nb.predict_proba, lambda X: kind().fit(X, [0, 1, 0])):
        with pytest.raises(ValueError, match=r"csr|indices|index|indptr|pointer"):
            use(wrong_matrices()[name])


@pytest.mark.parametrize("kind", [NaiveBayes, MultinomialNB, BernoulliNB, ComplementNB])
def test_cells_of_a_sparse_matrix_that_are_there_twice_are_added_and_may_be_in_any_order(
    kind: Any,
) -> None:
    nb = kind().fit(TINY, [0, 1, 0])
    data, columns, rows = [0.5, 1.0, 0.5, 2.0], [0, 1, 0, 0], [0, 3, 4]
    twice = sparse.csr_matrix((np.array(data), np.array(columns), np.array(rows)), shape=(2, 2))
    once = np.array([[1.0, 1.0], [2.0, 0.0]])
    right = nb.predict_proba(sparse.csr_matrix(once))
    np.testing.assert_allclose(nb.predict_proba(twice), right)
    again = kind().fit(twice, [0, 1])
    np.testing.assert_allclose(
        again.predict_proba(once), kind().fit(sparse.csr_matrix(once), [0, 1]).predict_proba(once)
    )


def test_a_query_with_billions_of_columns_is_refused_in_little_memory() -> None:
    one = np.array([1.0]), np.array([1 << 32]), np.array([0, 1])
    wide = sparse.csr_matrix(one, shape=(1, 1 << 33))
    less = sparse.csr_matrix((one[0], np.array([1 << 25]), one[2]), shape=(1, 1 << 26))
    for kind in (NaiveBayes, MultinomialNB):
        nb = kind().fit(TINY, [0, 1, 0])
        for X in (wide, less):
            with pytest.raises(ValueError, match=r"columns|features"):
                nb.predict_proba(X)


# Numbers that stand for missing cells


def test_a_number_that_is_said_to_be_missing_is_so_in_strings_and_is_warned_of_in_numbers() -> None:
    ages = [31.0, 47.0, -999.0, 58.0, 22.0] * 8
    y = ["yes", "no", "no", "yes", "no"] * 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written = NaiveBayes(missing_values=["-999", "NA"])
        written.fit({"age": [f"{age:.0f}" for age in ages]}, y)
    missing = NaiveBayes().fit({"age": [np.nan if age < 0 else age for age in ages]}, y)
    of_strings = written.predict_proba({"age": ["40", "-999"]})
    np.testing.assert_allclose(of_strings, missing.predict_proba({"age": [40, np.nan]}), rtol=1e-12)
    for given in (["-999"], {"age": ["NA", "-999.0"]}):
        with pytest.warns(UserWarning, match=r"Column 'age' holds numbers, 8 of them -999.*NaN"):
            NaiveBayes(missing_values=given).fit({"age": ages}, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes(missing_values=["-999"]).fit({"age": [age for age in ages if age > 0]}, y[:32])
        NaiveBayes(missing_values={"other": ["-999"]}).fit({"age": ages, "other": y}, y[::-1])
