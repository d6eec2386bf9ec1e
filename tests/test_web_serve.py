"""A model over HTTP answers as it does in Python, takes what it says it takes, and lives on."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, DocTestParser, OutputChecker
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import numpy as np
import pytest
import uvicorn
from hypothesis import assume, given
from hypothesis import strategies as st
from openapi_spec_validator import OpenAPIV31SpecValidator
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from naively import NaiveBayes
from naively.data.columns import Reading
from naively.data.frames import as_rows
from naively.file import store
from naively.file.store import Content
from naively.messages import Verbosity
from naively.model.class_prior import given_prior, shift
from naively.wings.cli.ask import subject_of
from naively.wings.cli.predictions import decision_of
from naively.wings.cli.serve import listen
from naively.wings.report.page import write_report
from naively.wings.serve import app
from naively.wings.serve.answers import ModelAnswers
from naively.wings.serve.app import ModelService, RequestLimits
from naively.wings.serve.rows import RequestError, RowColumn, RowForm, parse
from tests.cases import CASES, Case
from tests.commands import run
from tests.laws import samples

ROOT = Path(__file__).parent.parent
N = 60


def table() -> tuple[dict[str, list], list[str]]:
    """Return columns of all kinds, and labels; numbers have words among them, as in files."""
    rng = np.random.default_rng(3)
    y = rng.choice(["stays", "leaves"], N)
    leaves = y == "leaves"
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    ages = [str(x) for x in rng.integers(18, 80, N) + 10 * leaves]
    return {
        "age": ["unknown" if i % 9 == 4 else age for i, age in enumerate(ages)],
        "price": [None if i % 7 == 3 else x for i, x in enumerate(rng.normal(20, 5, N).tolist())],
        "city": rng.choice(["Rome", "Oslo", "Łódź"], N).tolist(),
        "member": [bool(x) for x in rng.random(N) < 0.3 + 0.4 * leaves],
        "since": [start + dt.timedelta(hours=int(h)) for h in rng.integers(0, 3000, N)],
        "note": [
            f"{'please cancel my plan' if of else 'thank you for the help'} {i} on day {i % 7}"
            for i, of in enumerate(leaves)
        ],
    }, y.tolist()


def records(columns: dict[str, list]) -> list[dict[str, object]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_json(row: dict[str, object]) -> dict[str, object]:
    """Return a row as JSON has it: numbers are numbers, times are strings."""
    written = {
        name: cell.isoformat() if isinstance(cell, dt.datetime) else cell
        for name, cell in row.items()
    }
    if isinstance(written.get("age"), str) and written["age"] != "unknown":
        written["age"] = int(written["age"])
    return written


@pytest.fixture(scope="module")
def nb() -> NaiveBayes:
    columns, y = table()
    return NaiveBayes().fit(columns, y)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    return records(table()[0])


@pytest.fixture
def path(nb, tmp_path) -> Path:
    nb.save(tmp_path / "m.naively")
    return tmp_path / "m.naively"


def page_of(found: Content) -> str:
    return write_report(subject_of(found)).html


def asking(path: Path, page=page_of, said=(None, None, None), **limits) -> TestClient:
    """Return who asks of a model; ``said`` is --class-prior, --cost and --reject."""
    service = ModelService(
        path, page, RequestLimits(**limits), lambda model: decision_of(model, *said)
    )
    return TestClient(service, raise_server_exceptions=False)


def probabilities(answer) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    return np.array([list(of["probabilities"].values()) for of in answer.json()["predictions"]])


# --- What is answered is what Python answers ------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_served_is_the_posterior_of_the_model(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    columns = {name: column.tolist() for name, column in sample.columns.items()}
    for name, cells in columns.items():
        if sample.columns[name].dtype.kind == "f":
            columns[name] = [None if math.isnan(cell) else cell for cell in cells]
            assume(all(cell is None or math.isfinite(cell) for cell in columns[name]))
    given_rows = columns["c0"] if case.text else records(columns)
    model = sample.model
    sent = [row if row is None or isinstance(row, str) else as_json(row) for row in given_rows]
    sent = [{"text": row} if row is None else row for row in sent]
    answers = ModelAnswers(Content(model, {}, None))
    answered = answers.of(parse(json.dumps(sent).encode()), 1)
    p = [list(of["probabilities"].values()) for of in answered["predictions"]]
    assert p == model.posterior(as_rows(given_rows)).tolist()
    assert json.loads(json.dumps(answered, allow_nan=False)) == answered
    for said in (of["explanation"] for of in answered["predictions"]):
        numbers = [said["log_odds"], said["rest"], *(of["weight"] for of in said["evidence"])]
        if all(isinstance(x, float) for x in numbers):
            size = 1 + max(map(abs, numbers))
            assert sum(numbers[1:]) == pytest.approx(numbers[0], abs=1e-9 * size)


def test_a_table_is_answered_to_the_last_digit(nb, rows, path) -> None:
    client = asking(path)
    answer = client.post("/predict", json=[as_json(row) for row in rows])
    assert probabilities(answer).tolist() == nb.predict_proba(rows).tolist()
    said = answer.json()["predictions"]
    assert [of["label"] for of in said] == nb.predict(rows).tolist()
    assert list(said[0]["probabilities"]) == nb.classes_.tolist()
    assert all(of["probability"] == of["probabilities"][of["label"]] for of in said)
    assert answer.json()["notes"] == []


def test_a_row_is_answered_as_among_others(rows, path) -> None:
    client = asking(path)
    sent = [as_json(row) for row in rows[:12]]
    assert {type(row["age"]) for row in sent} == {int, str}
    together = probabilities(client.post("/predict", json=sent))
    alone = [probabilities(client.post("/predict", json=row))[0] for row in sent]
    np.testing.assert_allclose(alone, together, rtol=1e-12)


def test_a_missing_key_is_null_is_a_missing_cell(nb, rows, path) -> None:
    client = asking(path)
    absent = {name: cell for name, cell in as_json(rows[0]).items() if name != "price"}
    one, other = (
        probabilities(client.post("/predict", json=row))
        for row in (absent, absent | {"price": None})
    )
    assert one.tolist() == other.tolist() == nb.predict_proba([rows[0] | {"price": None}]).tolist()
    assert client.post("/predict", json={}).status_code == 200
    assert client.post("/predict", json=[]).json()["predictions"] == []


@pytest.mark.parametrize(
    "labels",
    [[3, 7], [True, False], [2.0, 4.0], [dt.date(2026, 1, 2), dt.date(2026, 1, 3)]],
    ids=["whole", "truths", "numbers", "days"],
)
def test_labels_are_what_json_has(labels, tmp_path) -> None:
    X = [[1.0, 5.0], [2.0, 4.0], [8.0, 1.0], [9.0, 2.0]] * 5
    nb = NaiveBayes().fit(X, [labels[0], labels[0], labels[1], labels[1]] * 5)
    nb.save(tmp_path / "m")
    client = asking(tmp_path / "m")
    answer = client.post("/predict", json=X[:4])
    assert probabilities(answer).tolist() == nb.predict_proba(X[:4]).tolist()
    written = [of.isoformat() if isinstance(of, dt.date) else of for of in labels]
    said = [of["label"] for of in answer.json()["predictions"]]
    assert said == [written[0]] * 2 + [written[1]] * 2
    assert probabilities(client.post("/predict", json=X[0])).shape == (1, 2)
    assert "Row 1 has 1 cells" in client.post("/predict", json=[[1, 2], [3]]).json()["error"]
    assert "Row 0 is not an array" in client.post("/predict", json={"a": 1}).json()["error"]


def test_a_text_is_a_row_of_a_model_of_texts(tmp_path, path) -> None:
    texts = ["you have won a prize", "lunch at noon", "claim your prize", "see you at lunch"]
    nb = NaiveBayes().fit(texts, ["spam", "ham"] * 2)
    nb.save(tmp_path / "texts")
    client, text = asking(tmp_path / "texts"), "a prize — for lunch"
    p = nb.predict_proba([text]).tolist()
    for options in ({"json": text}, {"json": [text]}, {"json": {"text": text}}):
        assert probabilities(client.post("/predict", **options)).tolist() == p
    plain = {"content-type": "text/plain; charset=utf-8"}
    answer = client.post("/predict?explain=3", content=text.encode(), headers=plain)
    assert probabilities(answer).tolist() == p
    values = [of["value"] for of in answer.json()["predictions"][0]["explanation"]["evidence"]]
    assert "prize" in values
    assert client.post("/predict", content=b"\xff\xfe\xff", headers=plain).status_code == 400
    assert "give an object" in asking(path).post("/predict", json="a text").json()["error"]


def assert_evidence_sums(said: dict) -> None:
    """Check that what is shown of a prediction and the rest are its log odds, for its class."""
    why, p = said["explanation"], said["probabilities"]
    assert said["label"] in (why["label"], "unsure")
    odds = math.log(p[why["label"]] / p[why["against"]])
    assert why["log_odds"] == pytest.approx(odds, rel=1e-9, abs=1e-9)
    total = math.fsum([*(of["weight"] for of in why["evidence"]), why["rest"]])
    assert total == pytest.approx(odds, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [1, 3, 1000])
def test_the_weights_of_evidence_sum_to_the_log_odds(nb, rows, path, n) -> None:
    answer = asking(path).post(f"/predict?explain={n}", json=[as_json(row) for row in rows[:9]])
    explained = nb.explain(rows[:9])
    for i, said in enumerate(answer.json()["predictions"]):
        assert_evidence_sums(said)
        why = said["explanation"]
        assert why["log_odds"] == explained[i].log_odds(explained[i].best)
        assert len(why["evidence"]) <= n
        assert (why["rest"] == 0) == (n == 1000)
        weights = [abs(of["weight"]) for of in why["evidence"]]
        assert weights == sorted(weights, reverse=True)


# --- Answers by cost, class prior and --reject are those of `naively predict` ---------------------

PRIOR = {"leaves": 0.05, "stays": 0.95}


@pytest.fixture(scope="module")
def doubtful(rows) -> list[dict[str, object]]:
    """Return rows of which little is known."""
    return [{name: row[name] for name in ("price", "city", "member")} for row in rows]


SAID = [
    ("leaves=0.05,stays=0.95", None, None),
    (None, "leaves:stays=20", None),
    (None, None, 0.9),
    ("leaves=0.05,stays=0.95", "leaves:stays=20", 0.9),
]


@pytest.mark.parametrize("said", SAID, ids=["class prior", "cost", "reject", "all"])
def test_what_follows_from_probabilities_is_as_naively_predict_says(
    doubtful, path, tmp_path, said
) -> None:
    options = [
        part
        for name, value in zip(("--class-prior", "--cost", "--reject"), said, strict=True)
        if value is not None
        for part in (name, value)
    ]
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in doubtful))
    written = run("predict", path, data, "--format", "json", "-p", *options).stdout.decode()
    expected = [json.loads(line) for line in written.splitlines()]
    found, plain = (
        asking(path, said=of).post("/predict", json=doubtful).json()["predictions"]
        for of in (said, (None, None, None))
    )
    assert [of["label"] for of in found] == [of["prediction"] for of in expected]
    p = [[of["probability"], *of["probabilities"].values()] for of in found]
    again = [[of["probability"], of["p(leaves)"], of["p(stays)"]] for of in expected]
    np.testing.assert_allclose(p, again, rtol=1e-12)
    assert [of["label"] for of in found] != [of["label"] for of in plain]
    assert ("unsure" in {of["label"] for of in found}) == (said[2] is not None)


@pytest.mark.parametrize("said", SAID, ids=["class prior", "cost", "reject", "all"])
def test_reasons_sum_to_the_log_odds_of_what_is_answered(nb, doubtful, path, said) -> None:
    answer = asking(path, said=said).post("/predict?explain=3", json=doubtful[:9])
    p = nb.model_.posterior(RowForm(nb.model_).read(doubtful[:9])[0])
    if said[0] is not None:
        p = shift(p, np.exp(nb.class_log_prior_), given_prior(PRIOR, nb.classes_))
    for of_row, of in zip(p, answer.json()["predictions"], strict=True):
        np.testing.assert_allclose([*of["probabilities"].values()], of_row, rtol=1e-12)
        assert_evidence_sums(of)


def test_the_description_says_how_answers_follow(path, doubtful) -> None:
    client = asking(path, said=SAID[-1])
    found = client.get("/openapi.json").json()
    OpenAPIV31SpecValidator(found).validate()
    assert found["paths"]["/predict"]["post"]["description"] == (
        "The answer is that of least expected cost (leaves:stays=20, else 1 of what is wrong). "
        'It is "unsure" where it is less probable than 0.9. '
        "The class prior is leaves=0.05, stays=0.95."
    )
    assert found["components"]["schemas"]["Prediction"]["properties"]["label"] == {
        "enum": ["leaves", "stays", "unsure"]
    }
    in_place = {"$ref": "#/components/schemas/Answers", "components": found["components"]}
    answer = client.post("/predict?explain=2", json=doubtful)
    jsonschema.Draft202012Validator(in_place).validate(answer.json())
    plain = asking(path).get("/openapi.json").json()
    said = plain["paths"]["/predict"]["post"]["description"]
    assert said == "The answer is the most probable class."
    assert plain["components"]["schemas"]["Prediction"]["properties"]["label"] == {
        "enum": ["leaves", "stays"]
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--reject", "1.5"], "--reject must be a probability, from 0 to 1, got 1.5."),
        (["--cost", "stays:goes=3"], "cost names the class 'goes'"),
        (["--class-prior", "stays=1"], "--class-prior names ['stays'], but the classes are"),
    ],
)
def test_options_are_refused_as_those_of_naively_predict(path, tmp_path, options, said) -> None:
    done = run("serve", path, *options)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    data = tmp_path / "rows.csv"
    data.write_text("price\n1\n")
    assert run("predict", path, data, *options).stderr == done.stderr


def test_a_new_file_without_a_class_that_is_named_is_not_loaded(path, capsys) -> None:
    client = asking(path, said=(None, "leaves:stays=20", None))
    NaiveBayes().fit({"size": [1.0, 2.0, 8.0, 9.0]}, ["u", "u", "v", "v"]).save(path)
    (found,) = client.post("/predict", json={}).json()["predictions"]
    assert set(found["probabilities"]) == {"stays", "leaves"}
    assert "cost names the class 'leaves'" in capsys.readouterr().err


def test_what_is_impossible_is_written_in_json(tmp_path) -> None:
    nb = NaiveBayes.textbook("categorical", smoothing=0).fit(
        {"sky": ["blue", "grey", "grey"]}, ["sun", "rain", "rain"]
    )
    nb.save(tmp_path / "m")
    answer = asking(tmp_path / "m").post("/predict?explain=5", json={"sky": "blue"})
    (said,) = answer.json()["predictions"]
    assert said["probabilities"] == {"rain": 0.0, "sun": 1.0}
    assert said["explanation"]["log_odds"] == "inf"


# --- What is taken is what is said to be taken ----------------------------------------------------


def test_the_description_is_openapi(nb, path) -> None:
    client = asking(path, rows=50)
    found = client.get("/openapi.json").json()
    OpenAPIV31SpecValidator(found).validate()
    for route, methods in found["paths"].items():
        assert all(client.request(m, route, json={}).status_code == 200 for m in methods)
    asked = found["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    assert asked["schema"]["anyOf"][1]["maxItems"] == 50
    answer = client.post("/predict?explain=4", json=[asked["example"]])
    in_place = {"$ref": "#/components/schemas/Answers", "components": found["components"]}
    jsonschema.Draft202012Validator(in_place).validate(answer.json())
    row = found["components"]["schemas"]["Row"]["properties"]
    assert list(row) == list(nb.schema_.order)
    number, string, null = {"type": "number"}, {"type": "string"}, {"type": "null"}
    number |= {"minimum": -sys.float_info.max, "maximum": sys.float_info.max}
    assert row["price"] == {"anyOf": [number, null]}
    assert row["age"] == {
        "anyOf": [number, string, null],
        "description": "A number, or as a string.",
        "examples": ["unknown"],
    }
    assert set(row["city"]["examples"]) == {"Rome", "Oslo", "Łódź"}
    assert row["member"] == {"anyOf": [{"type": "boolean"}, null]}
    assert row["since"]["format"] == "date-time"


def test_the_levels_that_are_named_are_the_most_frequent() -> None:
    cells = [f"level {i}" for i in range(30) for _ in range(i + 1)]
    nb = NaiveBayes().fit({"of": cells}, ["a", "b", "b"] * (len(cells) // 3))
    examples = RowForm(nb.model_).schema["properties"]["of"]["examples"]
    assert examples == [f"level {i}" for i in range(29, 19, -1)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
    | st.sampled_from(["unknown", "Rome", "2026-01-02T03:04:05Z", "12", math.inf, 10**400]),
    lambda of: st.lists(of, max_size=2) | st.dictionaries(st.text(max_size=3), of, max_size=2),
    max_leaves=3,
)  # fmt: skip
NAMES = st.sampled_from(["age", "price", "city", "member", "since", "note", "others"])


@pytest.mark.parametrize("strict", [False, True])
@given(row=st.dictionaries(NAMES, JSON, max_size=4))
def test_a_row_is_taken_only_if_its_schema_allows_it(nb, strict, row) -> None:
    form = RowForm(nb.model_, strict=strict)
    valid = jsonschema.Draft202012Validator(form.schema).is_valid(row)
    try:
        form.read(row)
    except RequestError as error:
        refused = error
    else:
        assert valid
        return
    # Beside the types there are strings that spell no value.
    assert not valid or {"age", "since"}.intersection(row) or set(row) == {"others"}
    assert refused.status == 422
    assert str(refused).startswith("Row 0")
    assert re.fullmatch(r"[^\n]{,300}\.", str(refused))


REFUSED = [
    ({"price": "9.9"}, 'Row 0, column "price": expected a number, got "9.9".'),
    ({"price": True}, 'Row 0, column "price": expected a number, got true.'),
    ([{}, {"price": [1]}], 'Row 1, column "price": expected a number, got an array.'),
    ({"age": "old"}, 'Row 0, column "age": expected a number, or one of "unknown", got "old".'),
    ([{"age": 5}, {"age": "x"}], 'Row 1, column "age": expected a number, or one of "unknown"'),
    ({"city": 10**99}, f'Row 0, column "city": expected a string, got 1{"0" * 38}….'),
    ({"city": 3}, 'Row 0, column "city": expected a string, got 3.'),
    ({"member": 1}, 'Row 0, column "member": expected true or false, got 1.'),
    ({"since": "soon"}, 'Row 0, column "since": expected a time, such as 2026-'),
    ({"since": 1700000000}, 'Row 0, column "since": expected a time, such as 2026-'),
    ({"note": {"a": 1}}, 'Row 0, column "note": expected a text, got an object.'),
    ({"city": ["x" * 999]}, 'Row 0, column "city": expected a string, got an array.'),
    ({"prise": 3}, "Row 0: There is no column 'prise'; the columns are 'price', "),
    ([{}, 3], "Row 1 is not an object of cells by the names of their columns."),
    ([[1, 2]], "Row 0 is not an object"),
    (None, "Row 0 is not an object"),
]


@pytest.mark.parametrize(
    ("body", "sentence"), REFUSED, ids=[json.dumps(of)[:30] for of, _ in REFUSED]
)
def test_what_is_wrong_is_one_sentence(path, body, sentence) -> None:
    answer = asking(path).post("/predict", content=json.dumps(body))
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(sentence)


def test_a_number_that_an_event_model_does_not_have_is_refused(tmp_path) -> None:
    NaiveBayes("poisson").fit({"n": [1, 2, 7, 9]}, ["a", "a", "b", "b"]).save(tmp_path / "m")
    answer = asking(tmp_path / "m").post("/predict", json={"n": -1})
    assert answer.status_code == 422
    assert "n" in answer.json()["error"]


def test_columns_that_are_strings_in_files_are_read_as_they_were() -> None:
    column = RowColumn("t", "number", Reading("clock"))
    cells, kind, _ = column.read(["01:30", 60, None])
    assert kind == "number"
    assert cells[:2].tolist() == [5400.0, 60.0]
    assert np.isnan(cells[2])
    truth = RowColumn("t", "boolean", Reading("truth"))
    assert truth.read(["True", True, False])[0].tolist() == [1.0, 1.0, 0.0]
    with pytest.raises(RequestError, match='expected true or false, got "perhaps"'):
        truth.read(["perhaps"])


def test_unknown_keys_are_noted_or_refused(path) -> None:
    row = {"city": "Rome", "town": 1, "x" * 999: 2}
    answer = asking(path).post("/predict", json=[row, row]).json()
    assert answer["notes"] == [f"Column 'town', '{'x' * 39}…' was not learned: ignored."]
    known = asking(path).post("/predict", json={"city": "Rome"}).json()
    assert answer["predictions"] == known["predictions"] * 2
    refused = asking(path, strict=True).post("/predict", json=[{"city": "Rome"}, row])
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("Row 1: There is no column 'town'")


# --- Hostile requests -----------------------------------------------------------------------------

MANY_KEYS = b"{" + b"".join(b'"%d":0,' % i for i in range(90_000))  # a square would take minutes
HOSTILE = {
    "deep": (b"[" * 200_000 + b"]" * 200_000, 400, "nested too deeply"),
    "deep objects": (b'{"a":' * 100_000, 400, "The request is "),
    "cut": (b'{"price": ', 400, "The request is not JSON: "),
    "empty": (b"", 400, "The request is not JSON: "),
    "NaN": (b'{"price": NaN}', 400, "NaN is no number of JSON"),
    "infinite": (b'{"price": -Infinity}', 400, "-Infinity is no number of JSON"),
    "overflow": (b'{"price": 1e999}', 422, 'Row 0, column "price": too large a number.'),
    "whole": (b'{"price": ' + b"9" * 4000 + b"}", 422, "too large a number."),
    "digits": (b'{"price": ' + b"9" * 9000 + b"}", 400, "The request is not JSON: "),
    "twice": (b'{"price": 1, "price": 2}', 400, 'an object has the key "price" twice'),
    "twice, late": (MANY_KEYS + b'"a":1,"a":2}', 400, 'an object has the key "a" twice'),
    "bytes": (b"\xff\xfe\x00\x01", 400, "The request is not JSON: "),
    "half a letter": (b'{"city": "\\ud800", "note": "\\udfff a"}', 200, None),
    "control": (b'{"city": "\\u0000\\u202e"}', 200, None),
    "many keys": (json.dumps({str(i): i for i in range(9999)}).encode(), 422, "Row 0: There is"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bodies_are_refused(path, name) -> None:
    body, status, sentence = HOSTILE[name]
    answer = asking(path).post("/predict?explain=3", content=body)
    assert answer.status_code == status
    if sentence is not None:
        assert sentence in answer.json()["error"]
        assert len(answer.text) < 400


@given(body=st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | JSON.map(json.dumps))
def test_any_body_is_answered_or_refused(client_of_all, body) -> None:
    answer = client_of_all.post("/predict", content=body)
    assert answer.status_code in (200, 400, 422)
    assert ("error" in answer.json()) == (answer.status_code != 200)


@pytest.fixture(scope="module")
def client_of_all(nb, tmp_path_factory) -> TestClient:
    path = tmp_path_factory.mktemp("served") / "m.naively"
    nb.save(path)
    return asking(path)


def test_what_is_too_large_is_refused(path) -> None:
    client = asking(path, rows=3, bytes=200)
    assert client.post("/predict", json=[{}] * 3).status_code == 200
    answer = client.post("/predict", json=[{}] * 4)
    assert answer.status_code == 413
    assert answer.json() == {"error": "The request has 4 rows, and at most 3 are taken."}
    for options in ({"content": b" " * 201}, {"content": iter([b" " * 150] * 9)}):
        answer = client.post("/predict", **options)
        assert answer.status_code == 413
        assert answer.json() == {"error": "The request is larger than 200 bytes."}
    told = {"content-length": "9" * 40}
    assert client.post("/predict", content=b"{}", headers=told).status_code == 413
    packed = client.post("/predict", content=b"{}", headers={"content-encoding": "gzip"})
    assert packed.status_code == 415


def test_what_costs_more_than_it_says_is_bounded(path, tmp_path) -> None:
    client = asking(path, bytes=10_000)
    assert client.post("/predict?explain=1000", json=[{}] * 100).status_code == 200
    answer = client.post("/predict?explain=1001", json=[{}] * 100)
    assert answer.status_code == 413
    assert "1,001 weights of evidence of 100 rows; together they may be 100,000" in answer.text
    long = {"note": "a" * 2000}
    assert client.post("/predict", json=long).status_code == 200
    assert client.post("/predict?explain=1", json=long).status_code == 413
    many = NaiveBayes("gaussian", weights=None).fit(np.eye(1000), np.arange(1000) // 2)
    many.save(tmp_path / "many")
    client = asking(tmp_path / "many")
    most = client.get("/openapi.json").json()["paths"]["/predict"]["post"]["requestBody"]
    (_, rows) = most["content"]["application/json"]["schema"]["anyOf"]
    assert rows["maxItems"] == 2_000_000 // 1500
    assert client.post("/predict", json=[[None] * 1000] * 1334).status_code == 413


def test_few_explained_rows_are_held_at_a_time(nb, rows, monkeypatch) -> None:
    answers = ModelAnswers(Content(nb.model_, {}, None))
    given = [as_json(row) for row in rows]
    whole = answers.of(given, 5)
    monkeypatch.setattr("naively.wings.serve.answers.TOGETHER", 7)
    assert answers.of(given, 5) == whole


def test_what_is_held_of_all_requests_is_bounded(path, monkeypatch) -> None:
    client = asking(path, rows=3, bytes=200)
    bodies = [b"{}", b" " * 999, b"[" * 99, b"[{},{},{},{}]", iter([b"1" * 150] * 9)]
    for body in bodies:
        client.post("/predict", content=body)
    assert client.app.held == 0
    monkeypatch.setattr("naively.wings.serve.app.TOGETHER", 0)
    answer = client.post("/predict", json={})
    assert answer.status_code == 503
    assert "too many large requests" in answer.json()["error"]
    assert int(answer.headers["retry-after"]) > 0
    assert client.app.held == 0


def test_requests_beyond_the_limit_are_told_to_come_back(path, capsys) -> None:
    client = asking(path, at_once=0)
    for answer in (client.post("/predict", json={}), client.get("/"), client.get("/nothing")):
        assert answer.status_code == 503
        assert answer.json() == {"error": "There are too many requests at a time; try again."}
        assert int(answer.headers["retry-after"]) > 0
    assert client.get("/health").status_code == 200  # who watches it is answered
    counted = client.get("/metrics").text
    assert 'naively_requests_total{route="/predict",status="503"} 1' in counted
    assert "POST /predict 503" in capsys.readouterr().err
    assert client.app.answering == 0
    said = client.get("/openapi.json")
    assert said.status_code == 503
    said = asking(path).get("/openapi.json").json()["paths"]["/predict"]["post"]["responses"]
    assert "Retry-After" in said["503"]["headers"]


def test_a_request_is_counted_until_it_is_answered(path) -> None:
    service, statuses = asking(path, at_once=2).app, []

    async def ask(body: asyncio.Event) -> None:
        async def receive():
            await body.wait()
            return {"type": "http.request", "body": b"{}"}

        async def send(message):
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        scope = {"type": "http", "method": "POST", "path": "/predict", "headers": []}
        await service({**scope, "query_string": b""}, receive, send)

    async def check() -> None:
        slow, there = asyncio.Event(), asyncio.Event()
        there.set()
        waiting = [asyncio.create_task(ask(slow)) for _ in range(2)]
        await asyncio.sleep(0)
        await ask(there)
        assert statuses == [503]
        slow.set()
        await asyncio.gather(*waiting)
        await ask(there)
        assert statuses == [503, 200, 200, 200]

    asyncio.run(check())


@pytest.mark.parametrize(("ends", "status"), [(True, 400), (False, 408)])
def test_a_body_that_does_not_arrive_is_given_up(path, monkeypatch, ends, status) -> None:
    monkeypatch.setattr("naively.wings.serve.app.PATIENCE", 0.01)
    service, sent = asking(path).app, []
    parts = iter([{"type": "http.request", "body": b'{"a', "more_body": True}])

    async def receive():
        for part in parts:
            return part
        if not ends:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/predict",
        "headers": [],
        "query_string": b"",
    }
    asyncio.run(service(scope, receive, send))
    assert sent[0]["status"] == status
    assert service.held == 0


def test_other_paths_and_methods_are_refused_in_a_sentence(path) -> None:
    client = asking(path)
    assert client.get("/nothing").json() == {"error": "GET /nothing: Not Found."}
    answer = client.get("/predict")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    for explain in ("x", "-1", "1.5", "9" * 30):
        assert client.post(f"/predict?explain={explain}", json={}).status_code == 422


# --- It lives on ----------------------------------------------------------------------------------


def test_a_file_with_the_time_and_size_of_the_last_is_loaded(path) -> None:
    X, other = {"size": [1.0, 2.0, 8.0, 9.0]}, path.with_name("other.naively")
    for file, labels in ((path, "uuvv"), (other, "vvuu")):
        NaiveBayes().fit(X, [*labels]).save(file)
    with asking(path) as ask:
        assert probabilities(ask.post("/predict", json={"size": 1.5}))[0, 0] > 0.5
        before = path.stat()
        os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert other.stat().st_size == before.st_size
        other.replace(path)
        assert probabilities(ask.post("/predict", json={"size": 1.5}))[0, 0] < 0.5


def test_a_new_file_is_loaded_and_a_broken_one_is_not(path, capsys) -> None:
    client = asking(path)
    classes = set(client.post("/predict", json={}).json()["predictions"][0]["probabilities"])
    assert classes == {"stays", "leaves"}
    NaiveBayes().fit({"size": [1.0, 2.0, 8.0, 9.0]}, ["u", "u", "v", "v"]).save(path)
    answer = client.post("/predict", json={"size": 1.5}).json()
    assert answer["model"]["digest"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert answer["model"]["time"] == store.load_all(path).history.records[-1].when
    assert client.post("/predict", json=[]).json()["model"] == answer["model"]
    assert client.get("/health").json().items() >= answer["model"].items()
    assert set(answer["predictions"][0]["probabilities"]) == {"u", "v"}
    assert "Loaded" in capsys.readouterr().err
    content = path.read_bytes()
    for problem in ("not a model file", "There is no model file"):
        if path.read_bytes() == b"broken":
            path.unlink()
        else:
            path.write_bytes(b"broken")
        again = [client.post("/predict", json={"size": 1.5}).json() for _ in range(2)]
        assert again == [answer] * 2
        assert capsys.readouterr().err.count(problem) == 1  # it is said once
        assert problem in client.get("/health").json()["problem"]
    path.write_bytes(content)
    assert "problem" not in client.get("/health").json()
    loads = {
        sample.labels["read"]: sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        if family.name == "naively_loads"
        for sample in family.samples
    }
    assert loads == {"true": 3.0, "false": 2.0}


def test_the_report_is_written_once_for_each_model(path) -> None:
    written = []

    def page(found: Content) -> str:
        written.append(found.model.classes.tolist())
        return f"<p>{len(written)}</p>"

    client = asking(path, page)
    assert written == []
    assert [client.get("/").text for _ in range(3)] == ["<p>1</p>"] * 3
    NaiveBayes().fit({"size": [1.0, 2.0, 8.0, 9.0]}, ["u", "u", "v", "v"]).save(path)
    assert client.get("/").text == "<p>2</p>"
    assert written == [["leaves", "stays"], ["u", "v"]]
    real = asking(path).get("/")
    assert real.headers["content-type"].startswith("text/html")
    assert "<!doctype html>" in real.text


def test_requests_are_counted_as_prometheus_reads(path) -> None:
    client = asking(path)
    for body in ([{}, {}, {}], {}, {"price": "x"}):
        client.post("/predict", json=body)
    client.get("/not/there")
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
    }
    assert found["naively_requests_total", "/predict", "200"] == 2
    assert found["naively_requests_total", "/predict", "422"] == 1
    assert found["naively_requests_total", "404", "other"] == 1
    assert found["naively_rows_total",] == 4
    assert found["naively_seconds_count", "/predict"] == 3
    assert found["naively_seconds_sum", "/predict"] > 0


def test_each_request_is_a_line_of_the_log(path, capsys, monkeypatch) -> None:
    client = asking(path)
    client.post("/predict", json=[{"city": "secret"}, {}])
    line = capsys.readouterr().err
    assert re.fullmatch(r"POST /predict 200, 2 rows, 0\.\d{4} s\n", line)
    monkeypatch.setattr(Verbosity, "json", True)
    client.get("/no%1b[31m?secret")
    told = json.loads(capsys.readouterr().err)
    assert told["message"].startswith("GET /no")
    assert "\x1b" not in told["message"]
    assert {name: told[name] for name in ("level", "method", "status", "rows")} == {
        "level": "note", "method": "GET", "status": 404, "rows": 0,
    }  # fmt: skip
    monkeypatch.setattr(Verbosity, "quiet", True)
    client.get("/health")
    assert capsys.readouterr().err == ""


def test_a_mistake_of_ours_is_said_and_stops_nothing(path, capsys) -> None:
    def page(found: Content) -> str:
        raise KeyError(f"a mistake of {len(found)}")

    client = asking(path, page)
    answer = client.get("/")
    assert answer.status_code == 500
    assert answer.json() == {"error": "The service made a mistake, which its log says."}
    said = capsys.readouterr().err
    assert "/ was not answered: KeyError: 'a mistake of 3'" in said
    assert "test_web_serve.py, line" in said
    assert client.post("/predict", json={}).status_code == 200
    assert 'naively_requests_total{route="/",status="500"} 1' in client.get("/metrics").text


# --- The verb -------------------------------------------------------------------------------------


def test_what_keeps_it_from_beginning_is_a_sentence(path, tmp_path, monkeypatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", path, "--port", port)
    assert done.returncode == 2
    assert f"Cannot listen at 127.0.0.1, port {port}: " in done.stderr.decode()
    done = run("serve", tmp_path / "nothing")
    assert (done.returncode, b"There is no model file" in done.stderr) == (2, True)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run("serve", path)
    assert (done.returncode, b"pip install 'naively[serve]'" in done.stderr) == (2, True)


def test_an_answer_is_sent_at_once() -> None:
    # Without the number of TCP asyncio leaves Nagle's algorithm on, which costs 40 ms a request.
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_a_connection_that_sends_no_request_is_closed(path, monkeypatch) -> None:
    monkeypatch.setattr(app, "HEAD", 0.2)
    service = ModelService(path, lambda _: "")
    config = uvicorn.Config(service, http=app.Connection, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    with listen("127.0.0.1", 0) as listening:
        running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        running.start()
        address = listening.getsockname()
        try:
            head = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
            for sent in (b"", head[:-2], head, head + head[:5]):
                with socket.create_connection(address, timeout=10) as connection:
                    connection.sendall(sent)
                    answer = b"".join(iter(partial(connection.recv, 4096), b""))
                    assert answer.startswith(b"HTTP/1.1 200") == (head in sent)
        finally:
            server.should_exit = True
            running.join()


PAGE = ROOT / "docs" / "how-to" / "serve.md"
CURL = re.compile(r"^```console\n(\$ curl.*?)^```$", re.MULTILINE | re.DOTALL)


def customers(folder: Path) -> Path:
    """Return the model of the page, learned as the page learns it."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for example in DocTestParser().get_examples(text):
        exec(compile(example.source, "page", "exec"), names)  # noqa: S102
    (command,) = re.findall(r"^\$ naively (train .*)$", text, re.MULTILINE)
    assert run(*command.split(), cwd=folder).returncode == 0
    return folder / "customers.naively"


@pytest.mark.slow
def test_a_process_answers_loads_anew_and_ends_when_all_is_answered(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = customers(tmp_path)
    command = [sys.executable, "-m", "naively", "serve", "customers.naively", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        try:
            first = running.stderr.readline()
            page = PAGE.read_text(encoding="utf-8")
            url = re.search(r"http://[\d.:]+\d", first)[0]
            assert first.replace(url, "http://127.0.0.1:8000") in page
            host, port = urlsplit(url).hostname, urlsplit(url).port
            _check_page(page, f"{host}:{port}")
            NaiveBayes().fit({"size": [1.0, 2.0, 8.0, 9.0]}, ["u", "u", "v", "v"]).save(model)
            # It says "go on" when it has begun to wait for the body; then it is told to end.
            with socket.create_connection((host, port), timeout=30) as asked:
                body = b'{"size": 1.5}'
                head = b"POST /predict HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                asked.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body))
                assert asked.recv(999).startswith(b"HTTP/1.1 100")
                running.send_signal(signal.SIGTERM)
                while _listens(host, port):
                    pass
                asked.sendall(body)
                answer = b""
                while part := asked.recv(9999):
                    answer += part
            assert answer.startswith(b"HTTP/1.1 200")
            found = json.loads(answer.partition(b"\r\n\r\n")[2])
            assert set(found["predictions"][0]["probabilities"]) == {"u", "v"}
            assert running.wait(timeout=30) == 0
            assert "POST /predict 200, 1 row, " in running.stderr.read()
        finally:
            running.kill()


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


def _check_page(page: str, where: str) -> None:
    """Run what the page asks by curl, and see that it shows what is answered, rounded."""
    asked = [part for of in CURL.findall(page) for part in re.split(r"(?m)^\$ ", of) if part]
    assert len(asked) >= 5
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    for part in asked:
        line, _, shown = part.partition("\n")
        done = subprocess.run(
            ["bash", "-c", line.replace("localhost:8000", where)],
            capture_output=True, text=True, check=True, env={**os.environ, "NO_PROXY": "*"},
        )  # fmt: skip
        said = re.sub(r"\d\.\d{3,}", lambda x: f"{float(x[0]):.2f}", done.stdout)
        assert OutputChecker().check_output(shown, f"{said}\n", ELLIPSIS | NORMALIZE_WHITESPACE)


# --- The image ------------------------------------------------------------------------------------


def test_the_dockerfile_runs_what_there_is() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and line[0] != "#"]
    known = {"FROM", "RUN", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in lines} == known
    assert lines[0][0] == "FROM"
    of = dict(lines)  # the last of each
    command = [*json.loads(of["ENTRYPOINT"]), *json.loads(of["CMD"])]
    check = json.loads(of["HEALTHCHECK"].removeprefix("CMD "))
    compile(check[-1], "health", "exec")
    assert "127.0.0.1:8000/health" in check[-1]
    assert (of["EXPOSE"], of["USER"]) == ("8000", "naively")
    done = run(*command[1:])  # its options are options
    assert json.loads(done.stderr)["message"].endswith(
        "There is no model file /models/model.naively."
    )


def test_the_label_and_what_training_left_out_are_ignored_without_a_note(tmp_path) -> None:
    nb = NaiveBayes().fit({"size": [1.0, 2.0, 8.0, 9.0]}, [*"aabb"])
    store.save(nb.model_, tmp_path / "m", {"target": "kind", "left_out": ["id"]})
    row = {"size": 1.5, "kind": "a", "id": 7}
    assert asking(tmp_path / "m").post("/predict", json=row).json()["notes"] == []
    more = asking(tmp_path / "m").post("/predict", json={**row, "x": 1}).json()
    assert more["notes"] == ["Column 'x' was not learned: ignored."]
