"""Check that a tag is what a release says: ``python tools/check_release.py v1.2.3``.

The version of each package is the tag's, and the changelog has a dated section of it in which
something stands, and nothing that is unreleased. Each fault is a line, and the exit status is 1.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADING = re.compile(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def faults(tag: str, root: Path = ROOT) -> list[str]:
    """Return what is wrong with a release by this tag."""
    version = tag.removeprefix("v")
    found = [] if re.fullmatch(r"v\d+\.\d+\.\d+(rc\d+)?", tag) else [f"{tag} is no tag as v1.2.3."]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    package = json.loads((root / "packages/js/package.json").read_text("utf-8"))
    known = {"pyproject.toml": project["version"], "packages/js/package.json": package["version"]}
    imported = (root / "src/naively/__init__.py").read_text("utf-8")
    known |= {"src/naively/__init__.py": imported.split('__version__ = "')[1].split('"')[0]}
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    known |= {"CITATION.cff": cited[1].strip("\"'")} if cited else {}
    found += [
        f"{name} has version {of}, not {version}." for name, of in known.items() if of != version
    ]
    sections = sections_of((root / "CHANGELOG.md").read_text("utf-8"))
    if sections.get("Unreleased", ("", ""))[1]:
        found.append("CHANGELOG.md has lines under Unreleased.")
    if version not in sections:
        return [*found, f"CHANGELOG.md has no section [{version}]."]
    date, text = sections[version]
    found += [] if date else [f"CHANGELOG.md has no date of {version}."]
    return [*found, *([] if text else [f"CHANGELOG.md says nothing of {version}."])]


def sections_of(changelog: str) -> dict[str, tuple[str, str]]:
    """Return the date and the text of each section, by its version."""
    headings = list(HEADING.finditer(changelog))
    ends = [*(of.start() for of in headings[1:]), len(changelog)]
    return {
        of[1]: (of[2] or "", changelog[of.end() : end].strip())
        for of, end in zip(headings, ends, strict=True)
    }


if __name__ == "__main__":
    wrong = faults(sys.argv[1])
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    sys.exit(bool(wrong))
