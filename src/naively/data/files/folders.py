"""A folder of texts: one sub-folder for each class, one file for each text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from naively.data.files.source import decode, replaced

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def read_folder(folder: Path) -> tuple[dict[str, NDArray[np.object_]], tuple[str, ...]]:
    """Read the texts below a folder, sorted by name, and the sub-folder each came from.

    Hidden files are skipped; deeper folders belong to the class above them.

    Returns
    -------
    values : dict
        The columns ``"text"`` and ``"label"``.
    notes : tuple of str
        Sentences about what was repaired or left out.
    """
    entries = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
    classes = [p for p in entries if p.is_dir()]
    strays = [p for p in entries if not p.is_dir()]
    if not classes:
        found = f"; to read a file in it, name the file: {strays[0]}" if strays else ""
        raise ValueError(
            f"The folder {folder} has no sub-folders: put the texts of each class "
            f"into a sub-folder named after the class{found}."
        )
    texts: list[str] = []
    labels: list[str] = []
    invalid = 0
    for class_folder in classes:
        for file in _files(class_folder):
            text, count = decode(file.read_bytes())
            texts.append(text)
            labels.append(class_folder.name)
            invalid += count
    if not texts:
        raise ValueError(f"The sub-folders of {folder} are empty: there is no text to read.")
    notes = [replaced(invalid, str(folder))] if invalid else []
    if strays:
        notes.append(f"Files of {folder} outside its sub-folders were left out: {len(strays)}.")
    values = {"text": np.array(texts, object), "label": np.array(labels, object)}
    return values, tuple(notes)


def _files(folder: Path) -> list[Path]:
    def is_hidden(file: Path) -> bool:
        return any(part.startswith(".") for part in file.relative_to(folder).parts)

    return sorted(p for p in folder.rglob("*") if p.is_file() and not is_hidden(p))
