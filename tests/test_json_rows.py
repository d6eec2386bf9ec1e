"""JSON as Python's json module reads it; what a column is follows from all of its values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.wings.files import FileOptions, read
from tests.in_batches import in_batches

WORDS = st.sampled_from(["", "x", "a: b", '"k": 1', "é", "\n", "\\"])
LARGE = st.sampled_from([0, -1, 2**53 + 1, -(2**63), 2**63, 10**20])
VALUES = {
    "integer": st.integers(-9, 9),
    "number": st.sampled_from([0.5, -1e300, 2.0]),
    "boolean": st.booleans(),
    "string": WORDS,
    "large": LARGE,
    "any": st.one_of(st.integers(-9, 9), st.sampled_from([1.5, 2.0]), st.booleans(), WORDS, LARGE),
}


def cells(path: Path, **options: Any) -> dict[str, list[Any]]:
    """Return the cells of each column, None where one is missing."""
    values = read(path, **options).values
    return {name: [None if c is None or c != c else c for c in v.tolist()]
            for name, v in values.items()}  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw rows whose keys come and go, and may be within another."""
    kinds = draw(st.lists(st.sampled_from([*VALUES]), min_size=1, max_size=4))
    columns = {f"k{i}": st.none() | VALUES[kind] for i, kind in enumerate(kinds)}
    inner = st.fixed_dictionaries({}, optional=columns)
    rows = st.fixed_dictionaries({"first": st.just("a")}, optional={**columns, "within": inner})
    return draw(st.lists(rows, min_size=1, max_size=9))


@given(tables(), st.sampled_from(["lines", "array", "indented"]))
def test_each_value_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], layout: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "t.json"
    text = json.dumps(rows, indent=1 if layout == "indented" else None)
    path.write_text("\n".join(map(json.dumps, rows)) if layout == "lines" else text)
    flat = [
        {k: v for k, v in row.items() if k != "within"}
        | {f"within.{k}": v for k, v in row.get("within", {}).items()}
        for row in rows
    ]
    names = {name for row in flat for name in row}
    expected = {name: [row.get(name) for row in flat] for name in names}
    found = cells(path, types=dict.fromkeys(names, "string"))
    as_written = {
        name: [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
        for name, values in expected.items()
    }
    assert found == as_written
    for name, values in expected.items():
        types = {type(v) for v in values} - {type(None)}
        if types in ({int}, {float}, {int, float}, {bool}) and "large" not in name:
            small = [v for v in values if v is None or abs(v) < 2**53 or isinstance(v, float)]
            if small == values:
                assert cells(path)[name] == values


@given(tables(), st.randoms(), st.sampled_from([*'{}[]",:\n0\\', "\0", "x"]))
def test_a_stray_character_is_a_sentence_or_what_json_has(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], rng: Any, stray: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "t.jsonl"
    text = "\n".join(map(json.dumps, rows))
    at = rng.randrange(len(text))
    text = text[:at] + stray + text[at:]
    path.write_text(text)
    try:
        rows_read, said = len(read(path)), ""
    except ValueError as error:
        rows_read, said = 0, str(error)
    assert "\n" not in said
    assert said or rows_read == len(objects_of(text))


def objects_of(text: str) -> list[dict[str, Any]]:
    """Return the objects of a text of nothing else; a line may end within one."""
    found, decoder, end = [], json.JSONDecoder(), 0
    while text[end:].strip():
        start = len(text) - len(text[end:].lstrip())
        of, end = decoder.raw_decode(text, start)
        assert type(of) is dict
        found.append(of)
    return found


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (['{"u": {"score": 1, "of": {"x": "y"}}}', '{"u": null}'],
         {"u.score": [1, None], "u.of.x": ["y", None]}),
        (['{"a": 1.50}', '{"a": "x"}', '{"a": true}'], {"a": ["1.50", "x", "true"]}),
        (['{"a": NaN, "b": 1}', '{"a": 2}'], {"a": [None, 2.0], "b": [1, None]}),
        (['{"a": 18446744073709551617}', '{"a": 1}'], {"a": ["18446744073709551617", "1"]}),
        (['{"a": ["x", "y"]}', '{"a": []}'], {"a": [["x", "y"], []]}),
    ],
)  # fmt: skip
def test_what_a_column_is(tmp_path: Path, lines: list[str], expected: dict[str, Any]) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines))
    assert cells(path, types={"a": "string"} if "1.50" in lines[0] else None) == expected


@pytest.fixture
def _short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode few lines together, so that a hundred are several blocks."""
    monkeypatch.setattr("naively.wings.files.json_rows.BLOCK", 1 << 10)
    monkeypatch.setattr("naively.wings.files.source.CHUNK", 1 << 9)


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("first", [0, 300])
def test_a_key_twice_is_named_by_its_line(tmp_path: Path, first: int) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "b": 2}\n' * first + '{"a": {"b": 1, "b": 2}}\n')
    said = f'Line {first + 1} of {path} has the key "b" more than once: write one object'
    with pytest.raises(ValueError, match="more than once") as raised:
        read(path)
    assert str(raised.value).startswith(said)
    bad = tmp_path / "bad"
    path.write_text('{"b" : ":1", "b": ":2"}\n{"b": 1}\n')
    assert cells(path, file=FileOptions(bad_rows=f"skip={bad}")) == {"b": [1]}
    assert bad.read_text() == '{"b" : ":1", "b": ":2"}\n'
    path.write_text('[\n{"b": 1},\n{"b": 1, "b": 2}]')
    with pytest.raises(ValueError, match=r"Line 3 of .* more than once"):
        read(path)
    path.write_text('{"a": {"b": 1}, "a.b": 2}')
    with pytest.raises(ValueError, match=r'the key "a\.b" more than once'):
        read(path)


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("late", ["2.50", '"x"', "null", "9223372036854775808"])
def test_what_comes_late_counts_for_all(tmp_path: Path, late: str) -> None:
    path, rows = tmp_path / "t.jsonl", 400
    path.write_text('{"a": 1}\n' * rows + f'{{"c": [], "a": {late}, "b": {{"c": 0}}}}\n')
    (*_, last) = in_batches(path, rows + 9)
    assert list(last.values) == ["a", "c", "b.c"]
    found = cells(path, types={"a": "string"})
    assert found["a"][0] == "1"
    assert found["a"][-1] == (None if late == "null" else late.strip('"'))
    assert found["b.c"] == [None] * rows + [0]
