"""The command line: ``naively`` and ``python -m naively``."""

import gc
import os
import sys


def _leave(status: int) -> None:
    """Exit at once: nothing is left to do, and taking the modules down takes some more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112  it is closed, or full, which was said
            continue
    os._exit(status)


def main() -> None:
    """Run the command line; the mail filter without what the other verbs import."""
    if sys.argv[1:3] == ["mail", "filter"]:
        gc.disable()  # one message leaves little garbage, and looking for it takes a few ms
    else:
        gc.set_threshold(50_000)  # what is imported stays: it is not looked through at each module
        _end_tidily()
    if sys.argv[1:2] == ["mail"]:
        status = 75  # try again: a status of 1, Python's own of any error, would mean ham
        try:
            from naively.mail.command import run

            status = run(sys.argv[2:])
        except KeyboardInterrupt:
            status = 130
        except SystemExit as told:  # to end, by a signal
            status = int(told.code or 0)
        except BaseException:  # noqa: BLE001  a mistake of ours, with its traceback
            sys.excepthook(*sys.exc_info())
        finally:
            _leave(status)
    from naively.cli.app import main as run_all

    run_all()


def _end_tidily() -> None:
    """When told to end, do it as an interrupt does: temporary files are removed on the way out."""
    import signal

    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


if __name__ == "__main__":
    main()
