"""Run scikit-learn's own tests of its naive Bayes estimators on the drop-ins.

The tests are those of the installed scikit-learn; only their import line is changed, in a copy
that is gone afterwards. Arguments are passed on to pytest.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

THEIRS = "from sklearn.naive_bayes import"
OURS = "from naively import"

# Each with the reason for which it is left out.
LEFT_OUT = {
    "test_gnb_check_update_with_no_data": "of a private method, GaussianNB._update_mean_variance",
    "test_gnb_array_api_compliance": "of arrays on other devices: input here is NumPy and SciPy",
}


def main(arguments: list[str]) -> int:
    """Run the tests and return pytest's exit status."""
    package = find_spec("sklearn")
    assert package is not None
    assert package.origin is not None
    name = "test_naive_bayes.py"
    text = (Path(package.origin).parent / "tests" / name).read_text(encoding="utf-8")
    for expected in (THEIRS, *LEFT_OUT):
        if text.count(expected) != 1:
            sys.exit(f"scikit-learn's {name} has changed: it has no one {expected!r} any more.")
    for test, reason in LEFT_OUT.items():
        print(f"left out: {test}, a test {reason}", flush=True)  # noqa: T201
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / name
        copy.write_text(text.replace(THEIRS, OURS), encoding="utf-8")
        left_out = [f"--deselect={name}::{test}" for test in LEFT_OUT]
        plugins = ["-p", "sklearn.conftest", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", "-q", "--rootdir", folder, *plugins, name]
        return subprocess.run([*command, *left_out, *arguments], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
