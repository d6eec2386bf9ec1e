"""The command line, run in this process: with files for its streams, as a shell would give it.

A process takes a second to begin, most of it for imports. What is about the process itself (its
imports, signals, terminals, pipes that close, its exit) is run as one.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import naively.__main__
from naively.wings.cli.app import main

DEVELOPERS = DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning


def run(
    *arguments: object, stdin: bytes | None = None, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line, and return its exit status and what it wrote."""
    command = [naively.__main__.__file__, *map(str, arguments)]  # as of "python -m naively"
    with ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin or b"")
        given.seek(0)
        stack.enter_context(_streams(given.fileno(), out.fileno(), err.fileno()))
        environment = {"COLUMNS": "100", **environment}
        stack.enter_context(mock.patch.dict(os.environ, environment))
        stack.enter_context(mock.patch.object(sys, "argv", command))
        stack.enter_context(_warnings())
        if cwd is not None:
            stack.callback(os.chdir, Path.cwd())
            os.chdir(cwd)
        status = _status()
        sys.stdout.flush()
        sys.stderr.flush()
        written = []
        for file in (out, err):
            file.seek(0)
            written.append(file.read())
    return subprocess.CompletedProcess(command, status, *written)


def _status() -> int:
    """Run the command line, and return its exit status, as Python does."""
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:  # noqa: BLE001  a mistake of ours, with its traceback
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def _streams(*files: int) -> Iterator[None]:
    """Let standard input, output and error be these files, also for who uses their numbers."""
    before = sys.stdin, sys.stdout, sys.stderr
    for stream in before[1:]:
        stream.flush()
    kept = [os.dup(number) for number in range(3)]
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), "utf-8")
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(
                io.BufferedWriter(io.FileIO(number, "w", closefd=False)), "utf-8", errors=errors
            )
            for number, errors in ((1, "strict"), (2, "backslashreplace"))
        )
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for number, file in enumerate(kept):
            os.dup2(file, number)
            os.close(file)


@contextmanager
def _warnings() -> Iterator[None]:
    """Let warnings be what they are for users, who see each, but those for developers."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for category in DEVELOPERS:
            warnings.simplefilter("ignore", category)
        yield
