"""The messages of a mailbox: mbox, Maildir, .eml files, and folders of these by class."""

from __future__ import annotations

import csv
import mailbox
from pathlib import Path

from naively.data.mail.message import COLUMNS, read_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SINGLE = (".eml", ".msg")  # one message, even if it begins as those of an mbox do
LOOKED_AT = 8  # entries of a folder, to see whether it holds mail


def is_mail(path: Path) -> bool:
    """Whether a path holds mail: .eml, mbox or Maildir, or a folder that begins with any of these.

    Examples
    --------
    >>> is_mail(Path("letter.eml")), is_mail(Path("table.csv"))
    (True, False)
    """
    if path.is_dir():
        return _is_maildir(path) or any(map(is_mail, _entries(path)[:LOOKED_AT]))
    return path.suffix.lower() in SINGLE or _is_mbox(path)


def read_columns(path: Path) -> dict[str, list[str | None]]:
    """Read mail as a table: a column for each of ``read_message``, and "label" where it is known.

    What a message does not have is missing.
    """
    by_class = path.is_dir() and not _is_maildir(path) and _classes(path)
    labelled = read_labelled(path) if by_class else ((raw, None) for raw in read_messages(path))
    columns: dict[str, list[str | None]] = {name: [] for name in COLUMNS}
    labels: list[str | None] = []
    for raw, label in labelled:
        for name, text in read_message(raw).items():
            columns[name].append(str(text) or None)
        labels.append(label)
    return columns | {"label": labels} if by_class else columns


def read_messages(path: Path) -> Iterator[bytes]:
    """Iterate over the raw messages below a path, sorted by name.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder.
    """
    if _is_maildir(path):
        maildir = mailbox.Maildir(path, create=False)
        for key in sorted(maildir.iterkeys()):
            yield maildir.get_bytes(key)
        for folder in sorted(maildir.list_folders()):
            yield from read_messages(path / f".{folder}")
    elif path.is_dir():
        for entry in _entries(path):
            yield from read_messages(entry)
    elif path.suffix.lower() not in SINGLE and _is_mbox(path):
        mbox = mailbox.mbox(path, create=False)
        try:
            for key in mbox.iterkeys():
                yield mbox.get_bytes(key)
        finally:
            mbox.close()
    else:
        yield path.read_bytes()


def read_labelled(path: Path, labels: Path | None = None) -> Iterator[tuple[bytes, str]]:
    """Iterate over raw messages and their classes.

    Parameters
    ----------
    path : Path
        A folder with a folder or mailbox file for each class, which is named after it; or, with
        labels, a folder of messages.
    labels : Path, optional
        A CSV file: the name of a message's file below the folder, and its class.
    """
    if labels is not None:
        for name, label in _read_labels(labels).items():
            if not (path / name).resolve().is_relative_to(path.resolve()):
                raise ValueError(f"{labels} names {name}, which leads out of {path}.")
            if not (path / name).is_file():
                raise FileNotFoundError(f"{labels} names {name}, which is not in {path}.")
            yield (path / name).read_bytes(), label
        return
    classes = _classes(path) if path.is_dir() and not _is_maildir(path) else []
    if not classes:
        raise ValueError(
            f"{path} does not say the class of its messages: give a folder with a folder or mbox "
            "file for each class, or say the class."
        )
    for entry in classes:
        for raw in read_messages(entry):
            yield raw, entry.name if entry.is_dir() else entry.stem


def _read_labels(path: Path) -> Mapping[str, str]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    for i, row in enumerate(rows):
        if len(row) != 2:
            raise ValueError(f"{path}, row {i + 1}: expected a file name and a class, got {row}.")
    return {name.strip(): label.strip() for name, label in rows}


def _classes(folder: Path) -> list[Path]:
    """Return the folders and mailboxes, each of which holds the mail of one class."""
    return [
        entry
        for entry in _entries(folder)
        if entry.is_dir() or (entry.suffix.lower() not in SINGLE and _is_mbox(entry))
    ]


def _is_maildir(path: Path) -> bool:
    return (path / "cur").is_dir() and (path / "new").is_dir()


def _is_mbox(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(5) == b"From "


def _entries(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
