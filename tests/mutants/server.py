"""Runs pytest in forks of one process, which has imported what takes long but not naively.

Each line of the input is what pytest is to be told, and how many seconds it has; each line of the
output is its exit status. What it prints is in the file ``output``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

OUTPUT = "output"
TIMEOUT = -1


def serve() -> None:
    """Answer until the input ends."""
    import numpy  # noqa: F401, ICN001
    import pandas  # noqa: F401, ICN001
    import pytest
    import scipy.optimize
    import scipy.stats  # noqa: F401
    import sklearn.model_selection
    import sklearn.naive_bayes
    import sklearn.utils.estimator_checks  # noqa: F401

    for line in sys.stdin:
        arguments, seconds = json.loads(line)
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os._exit(int(pytest.main(arguments)))
        end, done = time.monotonic() + seconds, 0
        while not done and time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.02)
        if not done:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status) if done else TIMEOUT, flush=True)


if __name__ == "__main__":
    serve()
