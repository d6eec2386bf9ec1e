"""What was asked, counted as Prometheus reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

KIND = "text/plain; version=0.0.4; charset=utf-8"
EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """Counts of requests by route and status, of rows, of loads, and a histogram of seconds."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.rows = 0
        self.loads: Counter[bool] = Counter()
        self.seconds: dict[str, list[int]] = {}  # how many are in each interval
        self.total: Counter[str] = Counter()

    def observe(self, route: str, status: int, seconds: float, rows: int = 0) -> None:
        """Count a request that was answered."""
        self.requests[route, status] += 1
        self.rows += rows
        counts = self.seconds.setdefault(route, [0] * (len(EDGES) + 1))
        counts[bisect_left(EDGES, seconds)] += 1
        self.total[route] += seconds  # type: ignore[assignment]  # a Counter sums floats too

    @property
    def text(self) -> str:
        """All counts, in Prometheus's text format."""
        lines = _head(
            "requests_total", "counter", "Requests that were answered, by route and status."
        )
        for (route, status), count in sorted(self.requests.items()):
            lines.append(f'naively_requests_total{{route="{route}",status="{status}"}} {count}')
        lines += _head("rows_total", "counter", "Rows that were predicted.")
        lines.append(f"naively_rows_total {self.rows}")
        what = "Attempts to load the model file, by whether it could be read."
        lines += _head("loads_total", "counter", what)
        for read, count in sorted(self.loads.items()):
            lines.append(f'naively_loads_total{{read="{str(read).lower()}"}} {count}')
        lines += _head("seconds", "histogram", "How long requests took, by route.")
        for route, counts in sorted(self.seconds.items()):
            seen = 0
            for edge, count in zip([*EDGES, "+Inf"], counts, strict=True):
                seen += count
                lines.append(f'naively_seconds_bucket{{route="{route}",le="{edge}"}} {seen}')
            lines.append(f'naively_seconds_sum{{route="{route}"}} {self.total[route]:.9g}')
            lines.append(f'naively_seconds_count{{route="{route}"}} {seen}')
        return "\n".join([*lines, ""])


def _head(name: str, kind: str, what: str) -> list[str]:
    return [f"# HELP naively_{name} {what}", f"# TYPE naively_{name} {kind}"]
