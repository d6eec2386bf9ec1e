"""Databases to test on: DuckDB and SQLite in memory, and a server of PostgreSQL of one's own."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ["duckdb", "sqlite", "postgres"]
PROGRAMS = "/usr/lib/postgresql"  # of the Debian package, by version


def server_folder() -> Path | None:
    """Return the folder of the newest server's programs."""
    found = [
        *Path(PROGRAMS).glob("*/bin/initdb"),
        *(Path(path) for path in [shutil.which("initdb")] if path),
    ]
    return max(found, key=_version).parent if found else None


@contextmanager
def server() -> Iterator[str]:
    """Start the machine's server in a temporary folder, not as root; skip where it cannot be."""
    programs = server_folder()
    if programs is None:
        pytest.skip("no server of PostgreSQL is on this machine (Debian's package: postgresql)")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="naively-pg-"))
    as_whom: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no program runuser")
        as_whom = ["runuser", "-u", "nobody", "--"]
        shutil.chown(folder, "nobody")
    data = folder / "data"
    control = [*as_whom, str(programs / "pg_ctl"), "-D", str(data)]
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    make = [*as_whom, str(programs / "initdb"), "-D", str(data), "-U", "tester"]
    try:
        _run([*make, "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8"])
        _run([*control, "-w", "-l", str(folder / "log"), "-o", options, "start"])
        try:
            yield f"host={folder} user=tester dbname=postgres"
        finally:
            _run([*control, "-w", "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _version(program: Path) -> int:
    found = re.search(r"/(\d+)/", str(program))
    return int(found[1]) if found else 0


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=tempfile.gettempdir(), capture_output=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).decode().strip()
        pytest.skip(f"PostgreSQL cannot be started: {said[-300:]}")


@contextmanager
def connected(name: str, postgres: Any) -> Iterator[Any]:
    """Yield a new connection to an empty database; a server is started when first asked for."""
    if name == "duckdb":
        import duckdb

        connection: Any = duckdb.connect()
    elif name == "sqlite":
        connection = sqlite3.connect(":memory:")
    else:
        import psycopg

        connection = psycopg.connect(postgres(), autocommit=True, prepare_threshold=None)
        connection.execute("DROP SCHEMA IF EXISTS public CASCADE")
        connection.execute("CREATE SCHEMA public")
    try:
        yield connection
    finally:
        connection.close()


TYPES = {  # of columns, by the kind of what they hold
    "duckdb": {"number": "DOUBLE", "whole": "BIGINT", "string": "VARCHAR", "boolean": "BOOLEAN"},
    "sqlite": {"number": "REAL", "whole": "INTEGER", "string": "TEXT", "boolean": "BOOLEAN"},
    "postgres": {"number": "FLOAT8", "whole": "BIGINT", "string": "TEXT", "boolean": "BOOLEAN"},
}
OF_CELLS = {bool: "boolean", int: "whole", float: "number", str: "string"}


def quoted(name: str) -> str:
    """Quote an identifier, as all three databases read it."""
    return '"' + name.replace('"', '""') + '"'


def write(
    connection: Any,
    name: str,
    table: str,
    columns: Mapping[str, Sequence[Any]],
    types: Mapping[str, str] | None = None,
) -> None:
    """Write a table of these columns; their kinds or types are those of their cells, or given."""
    found = dict(types or {})
    for column in columns.keys() - found.keys():
        cell = next(x for x in columns[column] if x is not None)
        found[column] = next(name for of, name in OF_CELLS.items() if isinstance(cell, of))
    declared = ", ".join(f"{quoted(c)} {TYPES[name].get(found[c], found[c])}" for c in columns)
    connection.execute(f"CREATE TABLE {quoted(table)} ({declared})")
    rows = list(zip(*columns.values(), strict=True))
    place = "%s" if name == "postgres" else "?"
    places = ", ".join([place] * len(columns))
    if rows:
        cursor = connection.cursor() if name == "postgres" else connection
        insert = f"INSERT INTO {quoted(table).replace('%', '%%' if name == 'postgres' else '%')}"
        cursor.executemany(f"{insert} VALUES ({places})", rows)
