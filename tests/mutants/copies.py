"""Copies of the repository, in which files are changed and tests run; the tree itself stays."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import cache_from_source, find_spec
from pathlib import Path

from tests.mutants.server import OUTPUT, TIMEOUT

ROOT = Path(__file__).parents[2]
# An editable install finds the modules of the tree before any path; here those of the copy count.
SITE = """import sys
sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
"""
OPTIONS = ("-p", "no:cacheprovider", "--hypothesis-seed=0")  # of pytest
PASSED, NO_TESTS = 0, 5  # of its exit statuses
FAILED = re.compile(r"^FAILED (.+?)(?: - .*)?$", re.MULTILINE)
NO_END, NO_START = "the tests do not end", "the tests cannot be collected"


class Copy:
    """A copy of all files of the tree that git does not ignore, and of the native kernels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True)
        for name in filter(None, names.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        native = find_spec("naively.kernels._native")
        if native is not None and native.origin is not None:
            shutil.copy2(native.origin, folder / "src" / "naively" / "kernels")
        (folder / "sitecustomize.py").write_text(SITE, encoding="utf-8")
        code = "import naively; print(naively.__file__)"
        found = self.python("-c", code).stdout.strip()
        if not Path(found).is_relative_to(folder):
            raise RuntimeError(f"Python imports {found!r} and not the copy in {folder}.")

    @property
    def env(self) -> dict[str, str]:
        """Variables for Python in the copy, on one thread and without real data."""
        env = {name: value for name, value in os.environ.items() if name != "NAIVELY_DATA"}
        env |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
        return env | {"PYTHONPATH": os.pathsep.join(map(str, [self.folder / "src", self.folder]))}

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy."""
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self.env, check=False, capture_output=True, text=True
        )

    @cached_property
    def _server(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "tests.mutants.server"]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.env, stdin=pipe, stdout=pipe, text=True
        )

    def pytest(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run tests in the copy, always on the same examples."""
        return self.python("-m", "pytest", *OPTIONS, *arguments)

    def failure(self, tests: Sequence[str], seconds: float) -> str | None:
        """Return the first of the tests that fails, or what else went wrong; None if all pass."""
        server = self._server
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps([["-x", "-q", *OPTIONS, *tests], seconds]), file=server.stdin, flush=True)
        status = int(server.stdout.readline())
        if status == PASSED:
            return None
        if status == NO_TESTS:
            raise RuntimeError(f"There are no tests by the names {list(tests)}.")
        if status == TIMEOUT:
            return NO_END
        output = (self.folder / OUTPUT).read_text(encoding="utf-8", errors="replace")
        found = FAILED.search(output)
        return found[1] if found else NO_START

    def close(self) -> None:
        """End the process that forks."""
        if "_server" in vars(self):
            self._server.communicate()

    @contextmanager
    def changed(self, file: str, text: str) -> Iterator[None]:
        """Have another text in a file for a while."""
        path = self.folder / file
        before = path.read_text(encoding="utf-8")
        try:
            self._write(path, text)
            yield
        finally:
            self._write(path, before)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        # A change of as many bytes in the same second would not be seen by its time.
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
