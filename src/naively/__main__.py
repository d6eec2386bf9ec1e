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
        gc.set_threshold(200_000)  # more than is imported, which stays and is not looked through
        _end_tidily()
    is_mail = sys.argv[1:2] == ["mail"]
    status = 75 if is_mail else 1  # try again: Python's own of any error, 1, would mean ham
    try:
        if is_mail:
            from naively.wings.mail.command import run

            status = run(sys.argv[2:])
        else:
            from naively.wings.cli.app import main as run_all

            run_all()
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:  # of the help of the mail filter, which needs no traceback
        pass
    except SystemExit as told:  # by a verb that is done, or by a signal
        status = int(told.code or 0)
    except BaseException:  # noqa: BLE001  a mistake of ours, with its traceback
        sys.excepthook(*sys.exc_info())
    finally:
        _leave(status)


def _end_tidily() -> None:
    """When told to end, do it as an interrupt does: temporary files are removed on the way out."""
    import signal

    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


if __name__ == "__main__":
    main()
