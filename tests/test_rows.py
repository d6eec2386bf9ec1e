"""Any rows: every kind of table gives one model, and bad columns are named."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from naively import NaiveBayes, load
from naively.data.columns import missing_in
from naively.data.frames import as_rows
from naively.schema.diagnose import leaking
from tests.in_batches import joined

DAYS = 40
Y = ["late" if i % 3 == 0 or i % 7 == 2 else "on time" for i in range(DAYS)]
NEW_YEAR, EPOCH = map(dt.datetime.fromisoformat, ("2026-01-01", "1970-01-01"))
START = NEW_YEAR + dt.timedelta(days=4, hours=6, minutes=30)
TABLE = {
    "size": [None if i == 3 else 0.5 * i for i in range(DAYS)],
    "count": [(7 * i) % 11 for i in range(DAYS)],
    "big": [2**53 + i % 2 for i in range(DAYS)],
    "maybe": [None if i % 5 == 0 else i % 4 for i in range(DAYS)],
    "sold": [i % 2 == 0 for i in range(DAYS)],
    "kept": [None if i % 6 == 0 else i % 4 == 1 for i in range(DAYS)],
    "colour": [None if i == 1 else ("red", "blue", "green")[i * i // 2 % 3] for i in range(DAYS)],
    "note": [f"order {i} came {('very late', 'in time')[i % 2]} today" for i in range(DAYS)],
    "day": [None if i == 4 else (START + dt.timedelta(days=i)).date() for i in range(DAYS)],
    "when": [None if i == 5 else START + dt.timedelta(hours=15 * i) for i in range(DAYS)],
    "took": [None if i == 6 else dt.timedelta(minutes=7 * i % 50) for i in range(DAYS)],
    "price": [None if i == 7 else Decimal(i * i % 19) / 4 for i in range(DAYS)],
    "nothing": [None] * DAYS,
}
RECORDS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]


def pure(event_models="auto"):
    """Naive Bayes without weights: what is learned in batches is what is learned at once."""
    return NaiveBayes(event_models, weights=None)


class Stream:
    """Nothing but the Arrow stream interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def arrow():
    return pa.table(TABLE)


FORMS = {
    "pandas": lambda: pd.DataFrame(TABLE),
    "pandas nullable": lambda: pd.DataFrame(TABLE).convert_dtypes(),
    "pandas arrow": lambda: arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda: pd.DataFrame(TABLE).astype({"colour": "category"}),
    "pandas objects": lambda: pd.DataFrame(TABLE).astype(object),
    "mapping of pandas": lambda: dict(pd.DataFrame(TABLE).items()),
    "polars": lambda: pl.DataFrame(TABLE),
    "polars lazy": lambda: pl.LazyFrame(TABLE),
    "polars categories": lambda: pl.DataFrame(TABLE).cast({"colour": pl.Categorical}),
    "polars enum": lambda: pl.DataFrame(TABLE).cast({"colour": pl.Enum(["green", "red", "blue"])}),
    "mapping of polars": lambda: pl.DataFrame(TABLE).to_dict(),
    "pyarrow": arrow,
    "pyarrow batches": lambda: pa.Table.from_batches(arrow().to_batches(max_chunksize=7)),
    "pyarrow dictionary": lambda: arrow().set_column(
        6, "colour", arrow()["colour"].dictionary_encode()
    ),
    "mapping of pyarrow": lambda: {name: arrow()[name] for name in TABLE},
    "stream": lambda: Stream(arrow()),
    "duckdb": lambda: duckdb.from_arrow(arrow()).project("* REPLACE (epoch(took) AS took)"),
    "nanoarrow": lambda: pytest.importorskip("nanoarrow").Array(arrow()),
    "modin": lambda: pytest.importorskip("modin.pandas").DataFrame(TABLE),
    "records": lambda: RECORDS,
    "sparse records": lambda: [
        {name: cell for name, cell in record.items() if cell is not None or name == "nothing"}
        for record in RECORDS
    ],
    "other order": lambda: pl.DataFrame(TABLE).select(reversed(TABLE)),
}


@pytest.fixture(scope="module")
def reference():
    nb = NaiveBayes().fit(TABLE, Y)
    return nb, nb.predict_joint_log_proba(TABLE)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_one_model(form, reference):
    expected, joint = reference
    table = FORMS[form]()
    nb = NaiveBayes().fit(table, Y)
    assert {n: (g.event, g.kind) for n, g in nb.schema_.columns.items()} == {
        n: (g.event, g.kind) for n, g in expected.schema_.columns.items()
    }
    np.testing.assert_allclose(joined(nb.predict_joint_log_proba(table)), joint, rtol=1e-10)
    np.testing.assert_allclose(nb.predict_joint_log_proba(TABLE), joint, rtol=1e-10)
    np.testing.assert_allclose(joined(expected.predict_joint_log_proba(table)), joint, rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_the_label_may_be_a_column_of_any_form(form):
    nb = pure().fit(FORMS[form](), "sold")
    assert nb.classes_.tolist() == [False, True]
    rest = {name: TABLE[name] for name in TABLE if name != "sold"}
    expected = pure().fit(rest, TABLE["sold"]).predict_proba(rest)
    np.testing.assert_allclose(nb.predict_proba(rest), expected, rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_type_is_named_in_any_form(form):
    wrong = pure().fit({**TABLE, "size": ["small"] * DAYS}, Y)
    with pytest.raises(ValueError, match="Column 'size' held strings in training and holds num"):
        joined(wrong.predict(FORMS[form]()))


@pytest.mark.parametrize("missing", [False, True])
def test_whole_numbers_beyond_floats_stay_apart(missing):
    cells = [2**53, 2**53 + 1, 2**53 + 1, None if missing else 2**53]
    y = ["a", "b", "b", "a"]
    forms = [
        {"id": cells},
        pl.DataFrame({"id": cells}),
        pa.table({"id": cells}),
        pd.DataFrame({"id": pd.array(cells, "Int64")}),
        [{"id": cell} for cell in cells],
    ]
    for form in forms:
        p = pure("categorical").fit(form, y).predict_proba(forms[0])
        assert p[0, 0] > 0.6
        assert p[1, 1] > 0.6
    huge = pure("categorical").fit({"id": [2**70, 2**70 + 1]}, ["a", "b"])
    assert huge.predict({"id": [2**70 + 1, 2**70]}).tolist() == ["b", "a"]
    with pytest.raises(ValueError, match="'id' holds whole numbers that are too large"):
        pure().fit({"id": [10**400, 1]}, ["a", "b"])


# Arrays


def test_a_structured_array_is_a_table():
    table = {"size": [1.0, 2.0, 8.0], "colour": ["red", "blue", "red"], "n": [1, 2, 3]}
    when = np.array(["2026-01-01", "NaT", "2026-02-01"], "M8[s]")
    array = np.array(
        list(zip(*table.values(), when, strict=True)),
        [("size", "f4"), ("colour", "S5"), ("n", "u1"), ("when", "M8[s]")],
    )
    y = ["a", "b", "a"]
    nb = pure().fit(array, y)
    assert nb.feature_names_in_.tolist() == ["size", "colour", "n", "when"]
    table = {**table, "when": when}
    np.testing.assert_allclose(
        nb.predict_proba(table), pure().fit(table, y).predict_proba(array), rtol=1e-9
    )
    assert pure().fit(array.view(np.recarray), y).predict(array).tolist() == y
    nested = np.zeros(2, [("ok", "f8"), ("pair", "f8", (2,))])
    with pytest.raises(ValueError, match="Column 'pair' has 2 dimensions"):
        pure().fit(nested, ["a", "b"])


def test_arrays_of_other_types():
    y = ["a", "b", "a"]
    for column in (
        np.array([1, 2, 3], np.float16),
        np.array([1, 2, 3], np.longdouble),
        np.array([1, 2, 3], "m8[m]"),
        [Fraction(1, 3), 2, None],
        [dt.time(12, 30), None, dt.time(1, 0, 0, 1)],
        [np.timedelta64(3, "s"), np.timedelta64("NaT", "s"), dt.timedelta(1)],
    ):
        assert pure().fit({"x": column}, y).schema_.columns["x"].kind == "number"
    strings = np.array(["u", "v", "u"], np.dtypes.StringDType())
    assert pure().fit({"x": strings}, y).schema_.columns["x"].kind == "string"
    moments = np.array([["2026-01-01"], ["2026-01-02"], ["NaT"]], "M8[D]")
    nb = pure().fit(moments, y)
    assert nb.schema_.times == {0}
    assert nb.predict(moments).shape == (3,)


# Times


def hours():
    return [NEW_YEAR + dt.timedelta(hours=11 * i) for i in range(60)]


def test_a_time_has_its_parts_where_their_cycles_repeat():
    y = ["a", "b"] * 30
    for step, parts in (
        (dt.timedelta(minutes=30), []),
        (dt.timedelta(hours=1), ["hour"]),
        (dt.timedelta(hours=11), ["hour", "weekday"]),
        (dt.timedelta(days=1), ["weekday"]),
        (dt.timedelta(days=11, hours=5), ["hour", "weekday"]),
        (dt.timedelta(days=30), ["weekday", "month"]),
        (dt.timedelta(days=7), []),
    ):
        when = [NEW_YEAR + i * step for i in range(60)]
        nb = pure().fit({"when": when}, y)
        expected = [f"when ({part})" for part in parts]
        assert list(map(str, nb.schema_.columns)) == ["when", *expected], step
        assert nb.feature_names_in_.tolist() == ["when"]
        assert nb.n_features_in_ == 1


def test_parts_are_what_the_calendar_says():
    when = hours()
    y = ["a", "b", "b"] * 20
    nb = pure().fit({"when": when}, y)
    by_hand = {
        "when": [(m - EPOCH).total_seconds() for m in when],
        "when (hour)": [f"{m:%H}" for m in when],
        "when (weekday)": [f"{m:%A}" for m in when],
    }
    expected = pure().fit(by_hand, y).predict_joint_log_proba(by_hand)
    np.testing.assert_allclose(nb.predict_joint_log_proba({"when": when}), expected, rtol=1e-12)
    explained = nb.explain({"when": when[:1]})[0]
    assert dict(zip(explained.column, explained.value, strict=True)) == {
        "class prior": None,
        "when": NEW_YEAR,
        "when (hour)": "00",
        "when (weekday)": "Thursday",
    }


def test_a_time_of_any_zone_is_the_same_moment():
    y = ["a", "b", "b"] * 20
    utc = [m.replace(tzinfo=dt.UTC) for m in hours()]
    there = [m.astimezone(ZoneInfo("America/New_York")) for m in utc]
    expected = pure().fit({"when": hours()}, y).predict_proba({"when": hours()})
    zone = "America/New_York"
    for form in (
        {"when": there},
        pd.DataFrame({"when": pd.Series(utc).dt.tz_convert(zone)}),
        pl.DataFrame({"when": utc}).with_columns(pl.col("when").dt.convert_time_zone(zone)),
        pa.table({"when": pa.array(utc, pa.timestamp("ns", zone))}),
        {"when": [m.isoformat() for m in there]},
        {"when": [m.isoformat(" ") for m in hours()]},
    ):
        nb = pure().fit(form, y)
        np.testing.assert_array_equal(nb.predict_proba({"when": utc}), expected)
        np.testing.assert_array_equal(nb.predict_proba(form), expected)


def test_strings_are_times_if_nearly_all_of_them_are():
    y = ["a", "b", "b"] * 20
    written = [m.isoformat() for m in hours()]
    nb = pure().fit({"when": written}, y)
    assert nb.schema_.columns["when"].kind == "time"
    assert "when (hour)" in map(str, nb.schema_.columns)
    with pytest.warns(UserWarning, match="'when' held times in training: 'noon' in row 1 counts"):
        nb.predict({"when": [written[0], "noon"]})
    with pytest.raises(ValueError, match="'when' held times in training and holds numbers now"):
        nb.predict({"when": [1.0]})
    for other in ("2026-02-30", "20260101", "2026", "2026-01-01 late", "now"):
        kinds = pure().fit({"when": [*written[1:], other]}, y).schema_.columns
        assert kinds["when"].kind == "time", other
        kinds = pure().fit({"when": [*written[:40], *[f"{other} {i}" for i in range(20)]]}, y)
        assert kinds.schema_.columns["when"].kind in ("string", "text"), other
    levels = pure({"when": "categorical"}).fit({"when": written}, y)
    assert levels.predict({"when": written}).tolist() == y
    with pytest.raises(ValueError, match="held strings in training and holds times now"):
        levels.predict({"when": hours()})


def test_a_time_named_otherwise_has_no_parts():
    y = ["a", "b", "b"] * 20
    for form in ({"when": hours()}, {"when": [m.isoformat() for m in hours()]}):
        nb = pure({"when": "gaussian"}).fit(form, y)
        assert list(nb.schema_.columns) == ["when"]
    assert pure({"time": "categorical"}).fit({"when": hours()}, y).score({"when": hours()}, y) == 1
    clash = {"when": hours(), "when (hour)": ["mine"] * 60}
    assert pure().fit(clash, y).schema_.columns["when (hour)"].kind == "string"


def test_a_time_that_is_missing_counts_nowhere():
    y = ["a", "b", "b"] * 20
    nb = pure().fit({"when": hours(), "size": list(range(60))}, y)
    with pytest.warns(UserWarning, match="No column 'when'"):
        p = nb.predict_proba({"size": [3]})
    for nothing in ([None], [np.nan], [np.datetime64("NaT", "s")], [pd.NaT]):
        np.testing.assert_array_equal(nb.predict_proba({"when": nothing, "size": [3]}), p)


def test_a_time_is_a_column_of_everything_else(tmp_path):
    y = ["a", "b", "b"] * 20
    frame = pd.DataFrame({"size": np.arange(60.0), "when": hours(), "gone": [None] * 60})
    nb = NaiveBayes().fit(frame, y)
    assert nb.feature_importances_.shape == (3,)
    drawn, labels = nb.inspect.sample(7, random_state=0)
    assert list(drawn) == list(frame)
    assert drawn["when"].dtype == "M8[us]"
    assert nb.predict(drawn).shape == labels.shape
    assert nb.assess().rows == 60
    days = pd.to_datetime(frame["when"]).dt.floor("30D")
    by_day = NaiveBayes().fit(frame[["size"]], days)
    by_day.save(tmp_path / "m")
    np.testing.assert_array_equal(
        load(tmp_path / "m").predict(frame[["size"]]), by_day.predict(frame[["size"]])
    )


# What is chosen, and why


def test_the_schema_says_what_was_chosen_and_why():
    nb = pure({"count": "categorical", "maybe": "poisson"}).fit(TABLE, Y)
    assert [" | ".join(line.split(maxsplit=2)) for line in str(nb.schema_).splitlines()][:10] == [
        "size | histogram | numbers", "count | categorical | 11 levels; given",
        "big | histogram | numbers; always 9.0072e+15", "maybe | poisson | numbers; given",
        "sold | bernoulli | booleans", "kept | bernoulli | booleans",
        "colour | categorical | 3 levels", "note | multinomial | texts: 6.0 words on average",
        "day | histogram | times", "when | histogram | times",
    ]  # fmt: skip
    expected = ["nothing", "not learned  missing throughout"]
    assert str(nb.schema_).splitlines()[-1].split(maxsplit=1) == expected
    wide = pure("gaussian").fit(np.ones((4, 100)), list("abab"))
    assert len(str(wide.schema_).splitlines()) == 101
    assert "gaussian: 'x0', 'x1'" in str(wide.schema_)
    assert "x99: always 1" in str(wide.schema_)


def test_event_models_by_names_and_by_kinds():
    models = {
        ("size", "count"): "poisson", "number": "exponential", "price": "gaussian",
        "string": "text", "boolean": "categorical", "time": "categorical",
    }  # fmt: skip
    nb = pure(models).fit({n: TABLE[n] for n in TABLE if n not in ("took", "maybe")}, Y)
    events = {name: (g.event.name, g.kind) for name, g in nb.schema_.columns.items()}
    assert events == {
        "size": ("poisson", "number"), "count": ("poisson", "number"),
        "big": ("exponential", "number"), "price": ("gaussian", "number"),
        "sold": ("categorical", "boolean"), "kept": ("categorical", "boolean"),
        "colour": ("multinomial", "text"), "note": ("multinomial", "text"),
        "day": ("categorical", "time"), "when": ("categorical", "time"),
    }  # fmt: skip
    with pytest.raises(ValueError, match="event_models: There is no column 'length'"):
        pure({("size", "length"): "poisson"}).fit(TABLE, Y)
    with pytest.raises(ValueError, match="event_models: There is no column 3; the columns are"):
        pure({3: "poisson"}).fit(TABLE, Y)
    own = pure({"number": "categorical"}).fit({"number": [1, 2], "n": [1, 2]}, ["a", "b"])
    assert own.schema_.columns["n"].event.name == "histogram"


def test_columns_that_come_later_are_what_was_asked_for():
    y = ["a", "b", "a"]
    first = {"size": [1, 2, 3], "gone": [None] * 3}
    second = {"size": [1, 2, 3], "gone": list("uvw"), "late": [4, 5, 7], "later": [1, 1, 2]}
    models = {"number": "poisson", ("size", "late"): "exponential", "gone": "text"}
    nb = pure("exponential").fit(first, y).set_params(event_models=models)
    nb.partial_fit(second, y)
    assert {name: group.event.name for name, group in nb.schema_.columns.items()} == {
        "size": "exponential",
        "gone": "multinomial",
        "late": "exponential",
        "later": "poisson",
    }
    nb = pure("exponential").fit({"size": [1, 2, 3]}, y)
    nb.partial_fit({"size": [1, 2, 3], "late": [4, 5, 7]}, y)
    assert nb.schema_.columns["late"].event.name == "exponential"


def test_odd_columns_are_noted():
    rng = np.random.default_rng(0)
    n = 200
    y = np.array(["a", "b"])[rng.integers(0, 2, n)]
    table = {
        "row": rng.permutation(n), "half": np.sort(rng.choice(2 * n, n, replace=False)),
        "key": [f"k{i}" for i in rng.permutation(n)], "same": ["x"] * n, "one": [1.5] * n,
        "true": [True] * n, "random": rng.integers(0, 10**6, n), "dice": rng.integers(1, 7, n),
    }  # fmt: skip
    nb = pure().fit(table, y)
    said = {line.split()[0]: line for line in str(nb.schema_).splitlines()}
    assert {name for name, line in said.items() if "like an identifier" in line} == {
        "row", "half", "key",
    }  # fmt: skip
    for name, value in (("same", "'x'"), ("one", "1.5"), ("true", "True")):
        assert said[name].endswith(f"always {value}")
    assert ";" not in said["random"] + said["dice"]


def test_the_label_under_another_name_is_warned_of():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    code = np.searchsorted(["a", "b", "c"], y)
    names = np.array(["u", "v", "w"], object)[code]
    once = names.copy()
    once[7] = "u" if names[7] != "u" else "v"
    honest = {
        "once otherwise": once,
        "noisy": code + rng.normal(size=300),
        "two of three": np.array(["u", "u", "w"], object)[code],
        "key": [f"{label}{i}" for i, label in enumerate(y)],
        "sometimes": np.where(code == 0, None, names),
    }
    nb = pure().fit(honest, y)
    assert leaking(nb.schema_, nb.tally_)[1] == {}
    for column in (names, code, code + 1e8, 0.1 * code, pd.Categorical(y)):
        with pytest.warns(UserWarning, match="Column 'leak' is the label under other names"):
            nb = pure().fit(honest | {"leak": column}, y)
        assert "determines the label alone" in str(nb.schema_)
    sometimes = honest.pop("sometimes")
    with pytest.warns(UserWarning, match="'leak' is the label"):
        pure().fit(honest | {"leak": code == 0}, code == 0)
    with pytest.warns(UserWarning, match="Column 'sometimes' is there in rows of class False only"):
        nb = pure().fit(honest | {"sometimes": sometimes}, code == 0)
    assert "there for class False only" in str(nb.schema_)
    few = slice(0, 40)  # by chance a few cells may all be of one class
    rare = np.where(np.arange(300) == np.flatnonzero(code == 0)[0], 1.0, np.nan)
    pure().fit({"once": rare, "noisy": honest["noisy"]}, y)
    pure().fit({"sometimes": sometimes[few], "noisy": honest["noisy"][few]}, code[few] == 0)
    few = slice(0, 99)
    pure().fit({"leak": names[few]}, y[few])  # a small table is not suspected
    finer = np.array([f"{name}{i % 4}" for i, name in enumerate(names)], object)
    nb = pure().fit({"finer": finer}, y)  # noted, for it may be legitimate
    assert [*leaking(nb.schema_, nb.tally_)[1]] == ["finer"]


# Bad input, one by one


def test_mixed_columns_are_read_as_users_expect_and_said():
    y = ["a", "b", "a", "b"]
    with pytest.warns(
        UserWarning,
        match=r"'x' mixes numbers and strings \(first in row 1\): read as they are written",
    ):
        nb = pure().fit({"x": [1.0, "1", "two", None]}, y)
    (block,) = nb.tally_.blocks.values()
    assert block.axis.levels == (("1", "two"),)
    with pytest.warns(UserWarning, match="'x' mixes booleans and numbers .*: read as numbers"):
        nb = pure().fit({"x": [True, 2.5, 0, None]}, y)
    expected = pure().fit({"x": [1, 2.5, 0, None]}, y)
    assert nb.predict_proba({"x": [1.0]}).tolist() == expected.predict_proba({"x": [1.0]}).tolist()
    with pytest.warns(UserWarning, match="'x' mixes"):
        nb = pure().fit(pd.DataFrame({"x": [1, "u", 2.5, True]}), y)
    assert nb.schema_.columns["x"].kind == "string"
    with pytest.raises(ValueError, match=r"'x' mixes numbers and times \(first in row 1\)"):
        pure().fit({"x": [1.0, dt.date(2026, 1, 1), 2, 3]}, y)


@pytest.mark.parametrize(
    "table",
    [
        {"ok": [1, 2], "x": [[1.5], [2.5]]}, pd.DataFrame({"ok": [1, 2], "x": [[1.5], [2.5]]}),
        pl.DataFrame({"ok": [1, 2], "x": [[1.5], [2.5]]}),
        pl.DataFrame({"ok": [1, 2], "x": [{"a": 1}, {"a": 2}]}),
        pa.table({"ok": [1, 2], "x": [[1.5], [2.5]]}),
        pa.table({"ok": [1, 2], "x": [b"\xff", b"b"]}), {"ok": [1, 2], "x": [b"\xff", b"b"]},
        {"ok": [1, 2], "x": [{1}, None]}, {"ok": [1, 2], "x": [np.ones(2), None]},
        {"ok": [1, 2], "x": np.array([1j, 2])}, pd.DataFrame({"ok": [1, 2], "x": [1j, 2]}),
        [{"ok": 1, "x": {}}, {"ok": 2}],
    ],
)  # fmt: skip
def test_cells_that_cannot_be_learned_from_name_the_column(table):
    with pytest.raises(ValueError, match="Column 'x' holds"):
        pure().fit(table, ["a", "b"])


def test_a_column_is_a_sequence_of_cells():
    for column in ("red", 3.0):
        with pytest.raises(TypeError, match="Column 'x' is one"):
            pure().fit({"x": column}, ["a"])
    with pytest.raises(ValueError, match="different lengths: 'x' has 2 cells, 'y' has 3"):
        pure().fit({"x": [1, 2], "y": [1, 2, 3]}, ["a", "b"])


@pytest.mark.slow
def test_many_columns():
    rng = np.random.default_rng(0)
    d = 100_000
    X, y = rng.normal(size=(6, d)), ["a", "b"] * 3
    expected = pure({7: "gaussian"}).fit(X, y).predict_joint_log_proba(X)
    names = [f"c{j}" for j in range(d)]
    table = dict(zip(names, X.T, strict=True))
    nb = pure({"c7": "gaussian"}).fit(table, y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_allclose(nb.predict_joint_log_proba(X), expected, rtol=1e-9)
    del table["c99999"]
    with pytest.warns(UserWarning, match="No column 'c99999': counted as missing"):
        nb.predict(table)
    assert len(str(nb.schema_)) < 1000


def test_one_row_and_a_class_with_one_row():
    for form, make in FORMS.items():
        if form not in ("modin", "nanoarrow"):
            row = as_rows(make()).take(slice(0, 1))
            assert pure().fit(row, ["a"]).predict_proba(row).tolist() == [[1.0]]
    nb = pure().fit(TABLE, ["rare", *["usual"] * (DAYS - 1)])
    assert np.isfinite(nb.predict_joint_log_proba(TABLE)).all()


@pytest.mark.parametrize("nothing", [[None, None], [np.nan, np.nan], [pd.NaT, None]])
@pytest.mark.parametrize(
    "later", [[1.0, 2.0], ["u", "v"], [True, False], [dt.date(2026, 1, 1)] * 2]
)
def test_a_column_that_was_missing_throughout_is_learned_when_it_comes(nothing, later):
    for make in (dict, pd.DataFrame):
        nb = pure().fit(make({"size": [1.0, 2.0], "x": nothing}), ["a", "b"])
        assert nb.feature_names_in_.tolist() == ["size", "x"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            first = nb.predict_proba({"size": [1.0, 2.0], "x": later})
        np.testing.assert_array_equal(nb.predict_proba({"size": [1.0, 2.0], "x": nothing}), first)
        table = make({"size": [1.0, 2.0], "x": later})
        nb.partial_fit(table, ["b", "a"])
        assert "x" in nb.schema_.columns
        assert nb.n_features_in_ == 2
        other = pure().fit(table, ["b", "a"])
        other.merge(pure().fit(make({"size": [1.0, 2.0], "x": nothing}), ["a", "b"]))
        np.testing.assert_allclose(nb.predict_proba(table), other.predict_proba(table))


def test_categories_of_two_batches_may_differ():
    batches = [["red", "blue", "red"], ["green", "red", "green"]]
    y = ["a", "b", "a"]
    whole = pure().fit({"colour": [*batches[0], *batches[1]]}, y * 2)
    makers = (
        lambda b: pd.DataFrame({"colour": pd.Categorical(b)}),
        lambda b: pl.DataFrame({"colour": b}, {"colour": pl.Categorical}),
        lambda b: pl.DataFrame({"colour": b}, {"colour": pl.Enum(sorted(set(b)))}),
        lambda b: pa.table({"colour": pa.array(b).dictionary_encode()}),
    )
    for first in makers:
        for second in makers:
            nb = pure().fit(first(batches[0]), y).partial_fit(second(batches[1]), y)
            p = whole.predict_proba({"colour": ["red", "green", "blue"]})
            np.testing.assert_allclose(nb.predict_proba(first(["red", "green", "blue"])), p)


def test_infinite_numbers_name_the_column_in_any_frame():
    for make in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        with pytest.raises(ValueError, match="Column 'x' holds infinite values"):
            pure({"x": "gaussian"}).fit(make({"x": [1.0, np.inf], "c": ["u", "v"]}), ["a", "b"])


@pytest.mark.parametrize(
    ("written", "is_warned_of"),
    [
        ("{label}_{i:04d}", True),
        ("photo of a {label}, number {i}", True),
        ("IMG {LABEL} {i}", True),
        ("{other}_{i:04d}", False),  # of another row
        ("{label}_{other}_{i}", False),
        ("{i:04d}", False),
    ],
)
def test_a_string_that_names_the_label_is_warned_of(written: str, is_warned_of: bool) -> None:
    labels = ["setosa", "virginica", "versicolor"] * 50
    others = np.random.default_rng(0).permutation(labels)
    ids = [
        written.format(label=label, other=other, LABEL=label.upper(), i=i)
        for i, (label, other) in enumerate(zip(labels, others, strict=True))
    ]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        NaiveBayes().fit({"id": ids, "x": others}, labels)
    assert any("holds the name of the label" in str(of.message) for of in said) == is_warned_of


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_a_few_rows_of_a_frame_are_read_as_many(rows: int) -> None:
    frame = pd.DataFrame(
        {
            "whole": [1, 2**40, -3, 4] * 5,
            "x": [0.5, np.nan, 1e300, -0.0] * 5,
            "true": [True, False, False, True] * 5,
            "level": ["a", None, "é", "b"] * 5,
            "spelled": ["1.5", "2", "", "3"] * 5,
        }
    )
    every = as_rows(frame)
    for start in range(20 - rows + 1):
        some = as_rows(frame[start : start + rows])
        assert some.names == every.names
        there = every.take(slice(start, start + rows))
        for name in some.names:
            values = missing_in(some.cells(name))
            np.testing.assert_array_equal(values, missing_in(there.cells(name)))
            if not values.all():
                assert some.kind(name) == there.kind(name)
                assert some.values(name).tolist() == pytest.approx(
                    there.values(name).tolist(), nan_ok=True
                )
