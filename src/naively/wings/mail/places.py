"""Where mail is: .eml, mbox, Maildir, and folders of these.

Whatever reads files asks it of each, so that nothing is imported here which reads mail.
"""

from __future__ import annotations

from pathlib import Path

SINGLE = (".eml", ".msg")  # hold one message, even if they begin as an mbox does
LOOKED_AT = 8  # entries of a folder that tell whether it holds mail


def is_mail(path: Path) -> bool:
    """Whether a path holds mail: .eml, mbox, Maildir, or a folder that begins with any of these."""
    if path.is_dir():
        return is_maildir(path) or any(map(is_mail, entries(path)[:LOOKED_AT]))
    return path.suffix.lower() in SINGLE or is_mbox(path)


def is_maildir(path: Path) -> bool:
    """Whether a folder is a Maildir."""
    return (path / "cur").is_dir() and (path / "new").is_dir()


def is_mbox(path: Path) -> bool:
    """Whether a path is a file that begins as an mbox does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(5) == b"From "


def entries(folder: Path) -> list[Path]:
    """Return what is in a folder and not hidden, by name."""
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
