"""One Spark for all tests: two threads of this machine, which hand rows over in small batches."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

WARNED = "PySpark does not yet fully support pandas"  # by PySpark 4, of pandas 3


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let warnings of Spark's own be none of a test's errors."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.filterwarnings(f"ignore:{WARNED}:FutureWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of Spark on this machine."""
    reason = "PySpark is not installed: make test-spark installs it, and runs these tests"
    sql = pytest.importorskip("pyspark.sql", reason=reason)
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("Spark is started in one process only: make test-spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "40",
        "spark.driver.memory": "1g",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = sql.SparkSession.builder.master("local[2]").appName("naively")
        session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # the traces of what fails on purpose
    yield session
    session.stop()


@pytest.fixture(scope="session")
def cut(spark: Any) -> Callable[..., Any]:
    """Make a frame of Spark of a table, cut where it is said: each piece is a partition."""

    def cut(table: pa.Table, *at: int) -> Any:
        ends = [0, *at, len(table)]
        pieces = [table.slice(begin, end - begin).to_batches() for begin, end in pairwise(ends)]

        def hand_over(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                for of in batch["id"].to_pylist():
                    yield from pieces[of]

        schema = spark.createDataFrame(table).schema
        return spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(hand_over, schema)

    return cut
