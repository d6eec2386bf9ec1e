"""The command line: ``naively`` and ``python -m naively``."""

import gc
import os
import sys

MAIL = ("filter", "learn", "unlearn")


def _leave(status: int) -> None:
    """Exit at once: nothing is left to do, and taking the modules down takes some more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112  it is closed, or full, which was said
            continue
    os._exit(status)


def main() -> None:
    """Run the command line; the mail filter's verbs without what the others import."""
    if sys.argv[1:2] and sys.argv[1] in MAIL:
        if sys.argv[1] == "filter":
            gc.disable()  # one message leaves little garbage, and looking for it takes a few ms
        status = 75  # try again: a status of 1, Python's own of any error, would mean ham
        try:
            from naively.cli.mail import run

            status = run(sys.argv[1:])
        except KeyboardInterrupt:
            status = 130
        except BaseException:  # noqa: BLE001  a mistake of ours, with its traceback
            sys.excepthook(*sys.exc_info())
        finally:
            _leave(status)
    from naively.cli.app import main as run_all

    run_all()


if __name__ == "__main__":
    main()
