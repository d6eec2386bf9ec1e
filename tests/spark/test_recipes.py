"""The recipe for Dask in docs/how-to/spark.md gives what one machine learns."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from naively import NaiveBayes
from tests.spark.tables import mixed

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "spark.md"


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask(tmp_path, scheduler):
    reason = "Dask is not installed: make test-spark installs it, and runs these tests"
    frames = pytest.importorskip("dask.dataframe", reason=reason)
    dask = pytest.importorskip("dask")
    table = mixed().select(["size.in cm", "count", "zero_one", "colour", "when", "y"])
    local = table.rename_columns({"y": "converted"}).to_pandas()
    recipe = re.search(r"## Dask\n.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert recipe
    names = {"frame": frames.from_pandas(local, npartitions=5), "folder": tmp_path}
    with dask.config.set(scheduler=scheduler, num_workers=2):
        exec(recipe[1], names)  # noqa: S102
    rows = local.drop(columns="converted")
    whole = NaiveBayes().fit(local, "converted")
    np.testing.assert_allclose(
        names["nb"].predict_proba(rows), whole.predict_proba(rows), atol=1e-12
    )
