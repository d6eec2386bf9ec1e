"""A fault of a file is said in one sentence: where it is, and what to do.

DuckDB's own messages are pages long, and count rows where an editor counts lines.
"""

from __future__ import annotations

import json
import re
from typing import Any

from naively.data.files.source import GZIP_DAMAGE, Source
from naively.data.files.survey import LIMIT

# These are patterns of DuckDB's messages, and what is said of a line of CSV instead.
CSV_FAULTS = {
    "unterminated quote": 'has a quote (") that is never closed or has text after it: '
    'close it, and write a quote inside a field as ""',
    r"Expected Number of Columns: (?P<expected>\d+) Found: (?P<found>\d+)": "has a number of "
    "fields ({found}) that is not the header's ({expected}): add or remove fields, or put those "
    'that hold the delimiter between quotes (")',
    "(?i)maximum line size": f"is longer than {LIMIT}: split it",
}


def readable_error(source: Source, message: str) -> ValueError:
    """Return the error to raise where DuckDB has raised one about a source."""
    if (
        "Out of Memory" in message
        or "could not allocate" in message
        or "failed to alloc" in message
    ):
        return ValueError(
            f"{source.name} cannot be read in the memory that there is, or that --memory-limit "
            "leaves to reading: give more."
        )
    if source.compressed and message.startswith("IO Error"):
        return source.truncated()
    if source.format == "csv":
        return ValueError(_csv_fault(source, message))
    if source.format == "jsonl":
        return ValueError(_jsonl_fault(source, message))
    return ValueError(
        f"{source.name} is not a complete Parquet file ({_gist(message)}): "
        "copy, download or write it again."
    )


def line_of(source: Source, record: int, *, skips_empty_lines: bool = False) -> int:
    """Return the line on which a record of CSV begins; both count from 1, the header included."""
    if source.compressed == ".zst":
        return record  # Python reads this compression from 3.14 on only
    with source.open() as file:
        seen, is_quoted = 0, False
        for number, line in enumerate(file, 1):
            if not is_quoted and (line.strip(b"\r\n") or not skips_empty_lines):
                seen += 1
                if seen == record:
                    return number
            is_quoted ^= line.count(b'"') % 2 == 1
    return record


def _csv_fault(source: Source, message: str) -> str:
    """Return the sentence about a CSV file."""
    record = re.search(r"CSV Error on Line: (\d+)", message)
    for pattern, fault in CSV_FAULTS.items():
        found = re.search(pattern, message)
        if found and record:
            line = line_of(source, int(record[1]))
            return f"Line {line} of {source.name} {fault.format(**found.groupdict())}."
    return (
        f"{source.name} cannot be read as CSV ({_gist(message)}): check that it is the right file."
    )


def _jsonl_fault(source: Source, message: str) -> str:
    """Return the sentence about a file of JSON lines, or of a JSON array."""
    kind = "a JSON array" if source.is_json_array else "JSON lines"
    try:
        fault = "" if source.compressed == ".zst" else _json_fault(source)
    except GZIP_DAMAGE:
        return str(source.truncated())
    if not fault and "non-record" in message:
        return f"{source.name} is {kind} without a column: a row is an object with named keys."
    if fault:
        return f"{fault}: write one object, {{...}}, a row."
    return f"{source.name} cannot be read as {kind} ({_gist(message)}): check its objects."


def _json_fault(source: Source) -> str:
    """Return the line and the fault that Python finds, as DuckDB does not count lines well."""
    with source.open() as file:
        if source.is_json_array:
            try:
                json.load(file)
            except ValueError as error:
                line = getattr(error, "lineno", 1)
                return f"Line {line} of {source.name} is not JSON"
            return ""
        for number, line in enumerate(file, 1):
            fault = _line_fault(line)
            if fault:
                return f"Line {number} of {source.name} {fault}"
    return ""


def _line_fault(line: bytes) -> str:
    """Return what is wrong with a line of JSON; an empty string if nothing is."""
    if not line.strip():
        return ""
    repeated: list[str] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        repeated.extend(name for name in names if names.count(name) > 1)
        return dict(pairs)

    try:
        value = json.loads(line, object_pairs_hook=collect)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return r"holds half a character (a lone \ud800 to \udfff)"
    except (ValueError, RecursionError):
        return "is not JSON"
    if repeated:
        return f'has the key "{repeated[0]}" more than once'
    return "" if isinstance(value, dict) else "is not an object"


def _gist(message: str) -> str:
    """Return the first line of DuckDB's message, without its class and the path."""
    line = re.sub(r"^[\w -]*Error: ", "", message.strip().splitlines()[0])
    return re.sub(r"""(?i:file) ["'][^"']*["']""", "the file", line).strip(" .")
