"""Measure how fast naively is, beside its peers: ``make bench``, ``make bench-text``.

On one thread unless a row says otherwise, in CPU time. Both sides take turns, and what is shown is
the median of the rounds. The results of the parts that were measured replace those in --save, and
the page is made of all. Parts: {parts}.

What is usual: {usual}. Texts: words, learners. Only when asked for: growth and curves, which are
pictures, and large (or --large); large and growth write gigabytes. Without NAIVELY_DATA the parts
on real data are left out.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import naively
from benchmarks import timing
from benchmarks.speed import page
from benchmarks.speed.beside import PARTS, Part, Setting

PEERS = ("lightgbm", "river", "wnb", "pyarrow", "duckdb", "fasttext", "vowpalwabbit", "nltk")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the parts that are asked for, save the results and make the page."""
    options = _options(arguments)
    chosen = _chosen(options)
    data = os.environ.get("NAIVELY_DATA")
    setting = Setting(
        Path(data) if data else None,
        rounds=1 if options.small else options.rounds,
        small=options.small,
        large=options.large,
    )
    naively.set_threads(1)
    naively.show_config()
    found = page.read(options.save) if options.save and options.save.exists() else {"parts": {}}
    begin = time.perf_counter()
    for name in chosen:
        part = PARTS[name]
        print(f"\n{name}: {part.title} (naively, beside it, {part.ratio})")
        if part.data and setting.data is None:
            print("left out: NAIVELY_DATA is not set, and names a folder of data sets")
            continue
        found["parts"][name] = _measured(part, setting)
        if options.save:  # after each part, so that what was measured is not lost
            timing.write(options.save, found)
    print(f"\n{time.perf_counter() - begin:.0f} s")
    if options.save and options.page:
        page.write(options.page, page.read(options.save))
        print(f"Results: {options.save}; page: {options.page}")


def _measured(part: Part, setting: Setting) -> dict[str, Any]:
    begin = time.perf_counter()
    measure = part.load()  # before the limit, which is set of what has been imported
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a peer says of itself is in no row
        rows = measure(setting)
    return {
        "on": _machine(),
        "took": round(time.perf_counter() - begin, 1),
        "rows": [row.to_dict() for row in rows],
    }


def _machine() -> dict[str, Any]:
    return {
        "processor": timing.processor(),
        "cores": timing.cores(),
        "memory": timing.memory(),
        "system": timing.system(),
        "kernels": timing.kernels(),
        "versions": timing.versions(PEERS),
    }


def _chosen(options: argparse.Namespace) -> list[str]:
    names = options.parts or [name for name, part in PARTS.items() if part.usual]
    if options.large and "large" not in names:
        names = [*names, "large"]
    return list(dict.fromkeys(names))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    usual = ", ".join(name for name, part in PARTS.items() if part.usual)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=str(__doc__).format(parts=", ".join(PARTS), usual=usual),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help="default: what is usual")
    add("--rounds", type=int, default=5, help="that each side runs; what is slow runs less often")
    add("--small", action="store_true", help="tiny sizes: whether it runs, and not how fast")
    add("--large", action="store_true", help="what takes minutes and gigabytes too")
    add("--save", type=Path, metavar="FILE", help="write the results as JSON")
    add("--page", type=Path, metavar="FILE", help="make the page of the results too")
    options = parser.parse_args(arguments)
    if options.small and options.save and options.save.resolve() == page.RESULTS:
        parser.error("tiny sizes say nothing of speed: save them elsewhere")
    return options


if __name__ == "__main__":
    main()
