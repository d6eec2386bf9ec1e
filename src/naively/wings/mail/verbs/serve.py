"""The verb `serve`: a daemon that clients of spamd ask."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from naively.wings.mail.verbs.options import contacts_of, lists_of


def run(options: SimpleNamespace) -> int:
    """Serve until told to stop, and return the exit status."""
    from naively.wings.mail.serve import Log, Models, Service, serve

    path = Path(options.model)
    if not options.allow_tell and not path.exists():
        raise FileNotFoundError(
            f"There is no model {options.model}: make it by `naively mail learn`, or let clients "
            "do so by --allow-tell."
        )
    models = Models(path, options.costs, options.at_most, lists_of(options))
    settings = Service(
        models,
        contacts_of(options.contacts),
        options.allow_tell,
        options.workers,
        options.clients,
        (options.header, options.texts),
    )
    serve(settings, Log(options.log), path=options.socket, host=options.host, port=options.port)
    return 0
