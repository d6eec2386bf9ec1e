"""The text of HTML that its reader sees, by lexbor, which is given nothing that takes it long.

Nested elements cost lexbor time by the square of their number. Elements that only format cost
memory too, as lexbor opens them again in each paragraph. So elements that are part of a line of
text become ``<wbr>``, which is never open, with their name in an attribute: where they begin and
end is found afterwards. Other elements are counted before lexbor parses them.
"""

from __future__ import annotations

import re

from naively.wings.mail.limits import HTML_LENGTH, MISNESTED, OPEN_ELEMENTS, REOPENED, TAG_LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborNode

    from naively.wings.mail.style import Appearance, Sheet

ELEMENTS = {
    # Any other element is a part of a line, also an unknown one.
    "boxes": """
        address area article aside audio base blockquote body br button canvas caption center col
        colgroup datalist dd details dialog dir div dl dt embed fieldset figcaption figure footer
        form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe image img input
        legend li link listing main map marquee menu meta nav noembed noframes noscript object ol
        optgroup option p param plaintext pre script section select source style summary table
        tbody td template textarea tfoot th thead title tr track ul video xmp""",
    # A browser opens these again behind a box in which they did not end, and no others.
    "formats": "a b big code em font i nobr s small strike strong tt u",
    "of lines": """
        abbr acronym bdi bdo cite data del dfn ins kbd label mark math meter output progress q rb
        rp rt rtc ruby samp span sub sup svg time var wbr""",
    "cells": "td th caption button marquee object",  # no format reaches out of these
    "unseen": """
        audio canvas datalist dialog iframe noembed noframes object script style template title
        video""",
}
BOXES, FORMATS, OTHERS, CELLS, UNSEEN = (frozenset(names.split()) for names in ELEMENTS.values())
KNOWN = FORMATS | OTHERS
NAME = "n"  # the attribute of a mark that has the name
NEVER_OPEN = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
}  # fmt: skip
TAG = r"<(/?)([A-Za-z][^\s/>\"]*)"
LONG_TAG = rf"<[^>]{{{TAG_LENGTH}}}"
IS_DATA = r"(?i)[\"']data:[^\"'>]*"  # long, and one attribute
LINK = re.compile(r"https?://([^\s/\"'<>?#]+)", re.IGNORECASE)


class Seen:
    """What a reader sees of HTML."""

    def __init__(self, text: str, links: list[str], hidden: list[str]) -> None:
        # links: the hosts that it links to, and has pictures of; hidden: how something was hidden:
        # by "style" a text, by a "comment" or "markup" that shows nothing the parts of a word
        self.text, self.links, self.hidden = text, links, hidden


def visible_text(html: str) -> Seen | None:
    """Return what a reader of HTML sees."""
    # The result is None if parsing would take long: elements are nested too deep, or have too many
    # attributes.
    from naively.wings.mail.lazily import import_lexbor

    import_lexbor()
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    from naively.wings.mail.style import Sheet

    marked = _as_marks(html[:HTML_LENGTH])
    if marked is None:
        return None
    try:
        tree = LexborHTMLParser(marked)
    except SelectolaxError:
        return None
    styles = ((node.attributes.get("media") or "all", node.text()) for node in tree.css("style"))
    of_screens = ("all", "screen")
    reader = _Reader(Sheet(*(text for of, text in styles if of.strip().lower() in of_screens)))
    if tree.root is not None:
        _walk(tree.root, reader)
    return Seen("".join(reader.pieces).strip(), reader.links, sorted(reader.hidden))


def _walk(node: LexborNode, reader: _Reader) -> None:
    """Read the nodes of a tree in order."""
    depth = 0
    while True:
        below = reader.enter(node)
        if below is not None:
            node, depth = below, depth + 1
            continue
        while depth and (after := node.next) is None:
            if (parent := node.parent) is None:
                return
            node, depth = parent, depth - 1
            reader.leave()
        if not depth:
            return
        node = after  # type: ignore[assignment]


class _Open:
    """An element that is open: how text looks in it, and what it declares."""

    __slots__ = ("declared", "is_box", "look", "name", "texts")

    def __init__(
        self, name: str, declared: Mapping[str, str], look: Appearance, texts: int, *, is_box: bool
    ) -> None:
        self.name, self.is_box, self.declared, self.look = name, is_box, declared, look
        self.texts = texts  # how many there were before


class _Reader:
    """Reads a tree in order: boxes are its elements, and parts of lines are marks in it."""

    def __init__(self, sheet: Sheet) -> None:
        from naively.wings.mail.style import Appearance

        self.pieces: list[str] = []
        self.links: list[str] = []
        self.hidden: set[str] = set()
        self._sheet = sheet
        self._open = [_Open("", {}, Appearance(), 0, is_box=True)]
        self._texts = 0
        self._between = ""  # what came since the last text, if it does not show
        self._left = MISNESTED

    def enter(self, node: LexborNode) -> LexborNode | None:
        """Read a node, and return its first child, if that is to be read."""
        if node.is_text_node:
            self._read_text(node.text_content or "")
            return None
        name = node.tag or "-"
        if name == "wbr":
            attributes = node.attributes
            named = attributes.get(NAME) or ""
            if named[:1] == "/":
                self._end(named[1:])
            else:
                self._begin(named, attributes)
            return None
        if name[:1] == "-":
            self._between = "comment"
            return None
        self._part()
        below = None if name in UNSEEN else node.first_child
        attributes = node.attributes
        look = self._open[-1].look
        declared = self._sheet.declared(name, attributes)
        if declared:
            look = look.within(declared, name, in_line=False)
        if attributes:
            self._add_links(attributes, look)
        if below is not None:
            self._open.append(_Open(name, declared, look, self._texts, is_box=True))
        return below

    def leave(self) -> None:
        """Close a box; what only formats in it is still open behind it, unless it is a cell."""
        self._part()
        still_open = []
        while not (item := self._open.pop()).is_box:
            if item.name in FORMATS:
                still_open.append(item)
        if item.name not in CELLS:
            self._open_again(still_open[::-1])

    def _read_text(self, text: str) -> None:
        self._texts += 1
        look = self._open[-1].look
        if not look.seen:
            if re.search(r"[^\W_]", text):
                self.hidden.add("style")
            if look.is_blank and re.search(r"\s", text):
                self._part()
            return
        pieces = self.pieces
        if self._between and pieces and pieces[-1][-1:].isalnum() and text[:1].isalnum():
            self.hidden.add(self._between)
        self._between = ""
        if look.backwards:  # as what is before it, if it is too
            text = f"\u202e{text}\u202c"
            if pieces and pieces[-1].endswith("\u202c"):
                pieces[-1], text = pieces[-1][:-1], text[1:]
        if text:
            pieces.append(text)

    def _part(self) -> None:
        """Begin another word."""
        if self.pieces and self.pieces[-1] != " ":
            self.pieces.append(" ")

    def _add_links(self, attributes: Mapping[str, str | None], look: Appearance) -> None:
        for name in ("href", "src", "action"):
            if name in attributes and not look.gone:
                self.links += LINK.findall(attributes[name] or "")

    def _begin(self, name: str, attributes: Mapping[str, str | None]) -> None:
        """Begin a part of a line."""
        if name == "a":
            self._end("a")  # none is in another
        declared = self._sheet.declared(name, attributes)
        look = self._open[-1].look.within(declared, name, in_line=True)
        self._add_links(attributes, look)
        if name not in KNOWN:
            self._between = self._between or "markup"
        if name != "wbr" and (name in KNOWN or declared):
            self._open.append(_Open(name, declared, look, self._texts, is_box=False))

    def _end(self, name: str) -> None:
        """End a part of a line, which need not be the last that began."""
        if name not in KNOWN:
            self._between = self._between or "markup"
        is_format, place = name in FORMATS, len(self._open) - 1
        while (item := self._open[place]).name != name or item.is_box:
            if item.is_box and (not is_format or item.name in CELLS or place == 0):
                return
            place -= 1
            self._left -= 1
            if self._left < 0:
                return
        if item.texts == self._texts:
            self._between = self._between or "markup"
        above = self._open[place + 1 :]
        del self._open[place:]
        self._open_again([item for item in above if item.is_box or item.name in FORMATS])

    def _open_again(self, items: list[_Open]) -> None:
        """Open elements again, as what is around them has changed."""
        for item in items:
            self._left -= REOPENED
            if item.is_box or self._left >= 0:
                around, in_line = self._open[-1].look, not item.is_box
                item.look = around.within(item.declared, item.name, in_line=in_line)
                self._open.append(item)


def _as_marks(html: str) -> str | None:
    """Return HTML with ``<wbr>`` for parts of lines, or None if it would take long to parse."""
    # It would if a tag is very long, or if the open elements, summed over all tags, are too many.
    begun: dict[str, int] = {}
    depth = work = 0

    def mark(found: re.Match[str]) -> str:
        nonlocal depth, work
        end, name = found.groups()
        name = name.lower()
        if name not in BOXES:
            work += depth
            return f'<wbr {NAME}="{end}{name}"'
        if not end:
            if name not in NEVER_OPEN:
                begun[name] = begun.get(name, 0) + 1
                depth += 1
        elif begun.get(name):
            begun[name] -= 1
            depth -= 1
        work += depth
        return found[0]

    html = re.sub(TAG, mark, html)
    if len(html) > TAG_LENGTH and re.search(LONG_TAG, re.sub(IS_DATA, "", html)):
        return None
    return html if work <= OPEN_ELEMENTS else None
