"""Results as tidy tables: what they print, frames of each library, JSON."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from naively.tabular import SHOWN, Tabular


class Result(Tabular):
    def __init__(self, **columns):
        vars(self)["columns"] = columns

    def to_dict(self):
        return self.columns


@pytest.fixture
def result() -> Result:
    return Result(name=["a", "b\x1b", None], value=[1.0, math.nan, -math.inf], n=[1, 20, 300])


def test_prints_column_under_column(result):
    assert str(result).split("\n") == [
        "name       value    n",
        "a              1    1",
        "b\\x1b  undefined   20",
        "            -inf  300",
    ]


def test_prints_the_first_rows_and_how_many_there_are_more():
    lines = str(Result(i=list(range(SHOWN + 1234)))).split("\n")
    assert len(lines) == 1 + SHOWN + 1
    assert lines[-1] == "... and 1,234 more rows"


@pytest.mark.parametrize(
    ("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_is_a_frame_of_each_library(result, library, kind):
    frame = result.to_frame(library)
    assert isinstance(frame, kind)
    read = {"pyarrow": "to_pydict", "pandas": "to_dict", "polars": "to_dict"}[library]
    how = {"pyarrow": {}, "pandas": {"orient": "list"}, "polars": {"as_series": False}}[library]
    back = getattr(frame, read)(**how)
    assert back["n"] == [1, 20, 300]
    assert back["name"][:2] == ["a", "b\x1b"]


def test_values_of_several_types_become_strings():
    frame = Result(value=["red", 1.5, None, True]).to_frame("polars")
    assert frame["value"].to_list() == ["red", "1.5", None, "True"]


def test_frame_is_of_the_library_that_is_imported():
    code = (
        "import polars\nfrom naively.tabular import Tabular\n"
        "class R(Tabular):\n    def to_dict(self): return {'a': [1]}\n"
        "print(type(R().to_frame()).__module__)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("polars")


def test_without_a_library_it_is_said_what_to_import():
    code = (
        "from naively.tabular import Tabular\n"
        "class R(Tabular):\n    def to_dict(self): return {'a': [1]}\n"
        "R().to_frame()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "import pandas, polars or pyarrow" in run.stderr


def test_unknown_library(result):
    with pytest.raises(ValueError, match="library must be one of pandas, polars, pyarrow"):
        result.to_frame("dask")


def test_json_is_records(result):
    assert json.loads(result.to_json()) == [
        {"name": "a", "value": 1.0, "n": 1},
        {"name": "b\x1b", "value": None, "n": 20},
        {"name": None, "value": "-inf", "n": 300},
    ]
