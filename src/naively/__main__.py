"""The command line: ``naively`` and ``python -m naively``."""

import gc
import os
import sys

MAIL = ("filter", "learn", "unlearn")


def main() -> None:
    """Run the command line; the mail filter's verbs without what the others import."""
    if sys.argv[1:2] == ["filter"]:
        gc.disable()  # one message leaves little garbage, and looking for it takes a few ms
    else:
        _end_tidily()
    if sys.argv[1:2] and sys.argv[1] in MAIL:
        from naively.cli.mail import run

        status = run(sys.argv[1:])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # nothing is left to do, and taking the modules down takes some more
    from naively.cli.app import main as run_all

    run_all()


def _end_tidily() -> None:
    """When told to end, do it as an interrupt does: temporary files are removed on the way out."""
    import signal

    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


if __name__ == "__main__":
    main()
