"""``naively serve`` under load: ``python -m benchmarks.serve --seconds 3``.

One process answers clients that keep their connections and ask again as soon as they are answered.
They run in another process of the same machine. Requests per second and latency, the rounds of all
contenders in turn and the best of each; beside them a route that answers without the model, and the
same row by ``predict_proba`` in Python.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from naively import NaiveBayes

ROWS = 20_000  # learned
CLIENTS = (1, 16)


class Load(NamedTuple):
    """What one round measured."""

    per_second: float
    p50: float  # ms
    p99: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for name, nb, rows in (("a table of 14 columns", *table()), ("texts", *texts())):
            path = Path(scratch) / "m.naively"
            nb.save(path)
            print(f"\n{name}: {alone(nb, rows[0]):.2f} ms for a row by predict_proba in Python\n")
            print("| asked | clients | requests/s | rows/s | p50, ms | p99, ms |")
            print("|---|---|---|---|---|---|")
            with serving(path) as port:
                measure(port, asked_of(rows), options.seconds, options.rounds)


def asked_of(rows: list[Any]) -> dict[str, tuple[bytes, int]]:
    """Return requests by name, with how many rows each has."""
    return {
        "/health": (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", 0),
        "1 row": (request(rows[0]), 1),
        "1 row, explain=5": (request(rows[0], "?explain=5"), 1),
        "100 rows": (request(rows[:100]), 100),
    }


def request(rows: Any, query: str = "") -> bytes:
    body = json.dumps(rows).encode()
    head = f"POST /predict{query} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def measure(port: int, asked: dict[str, tuple[bytes, int]], seconds: float, rounds: int) -> None:
    """Print a line for each request and number of clients: the best of interleaved rounds."""
    found: dict[tuple[str, int], list[Load]] = {}
    for _ in range(rounds):
        for name, (raw, _) in asked.items():
            for clients in CLIENTS:
                load = asyncio.run(under_load(port, raw, clients, seconds))
                found.setdefault((name, clients), []).append(load)
    for (name, clients), loads in found.items():
        best, n = max(loads), asked[name][1]
        rows = f"{best.per_second * n:,.0f}" if n else ""
        times = f"{best.p50:.2f} | {best.p99:.2f}"
        print(f"| {name} | {clients} | {best.per_second:,.0f} | {rows} | {times} |")


async def under_load(port: int, raw: bytes, clients: int, seconds: float) -> Load:
    """Let clients ask for some seconds."""
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            writer.write(raw)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            size = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            assert size
            await reader.readexactly(int(size[1]))
            times.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*[client() for _ in range(clients)])
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    return Load(len(times) / seconds, p50, p99)


@contextmanager
def serving(path: Path) -> Iterator[int]:
    """Serve a model in a process of its own, and yield the port."""
    command = [Path(sys.executable).with_name("naively"), "serve", path, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr
        port = re.search(r":(\d+)\.$", running.stderr.readline())
        assert port
        # Its log is read and dropped, so that what it costs to write is measured.
        reader = threading.Thread(target=lambda: [None for _ in running.stderr or ()])
        reader.start()
        try:
            yield int(port[1])
        finally:
            running.terminate()
            reader.join()


def alone(nb: NaiveBayes, row: Any) -> float:
    """Return how many ms one row takes in Python, the least of many."""
    best = float("inf")
    for _ in range(200):
        began = time.perf_counter()
        nb.predict_proba([row])
        best = min(best, time.perf_counter() - began)
    return best * 1000


def table() -> tuple[NaiveBayes, list[Any]]:
    """Return a model of numbers and categories, as of the census, and rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    columns: dict[str, list[Any]] = {
        f"number {j}": (rng.normal(size=ROWS) + y * j / 10).round(3).tolist() for j in range(6)
    }
    for j in range(8):
        codes = (rng.integers(0, 5 + 4 * j, ROWS) + y) % (5 + 4 * j)
        columns[f"category {j}"] = [f"level {code}" for code in codes]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return NaiveBayes().fit(columns, y), rows[:100]


def texts() -> tuple[NaiveBayes, list[Any]]:
    """Return a model of texts of 50 words, and texts."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS // 4)
    numbers = (rng.pareto(1, (len(y), 50)) * 30).astype(int) % 9000 + 300 * y[:, None]
    written = [" ".join(f"word{chr(97 + n % 26)}{n}" for n in row) for row in numbers.tolist()]
    return NaiveBayes().fit(written, y), written[:100]


if __name__ == "__main__":
    main()
