"""Whether a reader sees a text, by the style sheets and attributes of the elements around it.

What may be seen counts as seen: a rule that applies at some place only (``td p``, ``a:hover``, a
narrow screen) makes what it sets unknown, and unknown text is not hidden. So nobody can hide words
from the filter by a rule that hides them from no reader. All takes time by the length of the HTML.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Attributes = Mapping[str, str | None]
    Colour = tuple[int, int, int]
    Rank = tuple[bool, int, int]  # is it important, how special is the selector, and its place

SMALLEST = 2.0  # pixels of a letter that nobody can read
FAR = -500.0  # pixels to the left of a page, or above it
THINNEST = 1.0  # pixels of a box that shows nothing of what overflows it
VALUE_LENGTH = 200  # characters; elements within each other read a value again and again
FAINTEST = 0.1  # opacity
ALIKE = 20  # of 255: red, green and blue differ by no more
UNKNOWN = ""  # the value of a property that a rule may set, or not

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
NAMED: dict[str, Colour] = {
    "black": BLACK, "white": WHITE, "red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255),
    "yellow": (255, 255, 0), "gray": (128, 128, 128), "grey": (128, 128, 128),
    "silver": (192, 192, 192), "maroon": (128, 0, 0), "navy": (0, 0, 128), "lime": (0, 255, 0),
    "aqua": (0, 255, 255), "cyan": (0, 255, 255), "fuchsia": (255, 0, 255), "teal": (0, 128, 128),
    "magenta": (255, 0, 255), "olive": (128, 128, 0), "purple": (128, 0, 128),
    "orange": (255, 165, 0), "snow": (255, 250, 250), "ivory": (255, 255, 240),
    "ghostwhite": (248, 248, 255), "whitesmoke": (245, 245, 245), "floralwhite": (255, 250, 240),
    "mintcream": (245, 255, 250), "azure": (240, 255, 255), "seashell": (255, 245, 238),
    "lightgrey": (211, 211, 211), "lightgray": (211, 211, 211), "gainsboro": (220, 220, 220),
}  # fmt: skip
UNITS = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945, "rem": 16.0,
}  # fmt: skip
NONE = ("none", "transparent", "inherit", "initial", "unset", "0")
INHERITED = ("inherit", "currentcolor", "unset")

# These patterns are compiled when they are first used, as most elements have little style.
# Repetitions are possessive (*+) where a failure could make the search try each length.
NO_STYLE = (
    r"(?s)/\*.*?(?:\*/|\Z)|<!--|-->"
    r"|\"(?:[^\"\\\n]|\\.)*+(?:\"|\n|\\?\Z)|'(?:[^'\\\n]|\\.)*+(?:'|\n|\\?\Z)"
)
URL = r"url\([^)]*+\)?"
ESCAPE = r"(?s)\\(?:([0-9a-f]{1,6})\s?|(.))"
DECLARATION = (
    r"(?:^|;)\s*+(display|visibility|opacity|font(?:-size)?|color|background(?:-color|-image)?"
    r"|text-indent|position|left|top|unicode-bidi|direction|clip(?:-path)?|transform|margin-left|(?:max-)?(?:width|height)|overflow(?:-[xy])?)"
    r"\s*+:([^;!]*+)(!\s*+important)?"
)
LENGTH = r"([-+]?(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}))[0-9]*+(%|[a-z]*+)"
SIZE_OF_FONT = r"(?<![^\s])[.0-9]+(?:%|[a-z]+|(?=[\s/]))"
CLIPPED = (  # nothing of a box is left by this clip or transform
    r"rect\(\s*+[01](?:px)?(?:(?:\s*+,\s*+[01](?:px)?){3}|(?:\s++[01](?:px)?){3})\s*+\)"
    r"|inset\((?:[5-9]\d|100)%|circle\(\s*+0(?![.\d])|scale[xy]?\(\s*+0(?![.\d])"
)
HEX = r"#?([0-9a-f]{6}|[0-9a-f]{3})(?![0-9a-f])"
RGB = r"rgba?\(([^)]{1,60})\)"
SIMPLE = r"([a-z][a-z0-9]*|\*)?(?:([.#])([^\s.#:\[>+~*]+))?"
OF_MOMENTS = (":hover", ":active", ":focus", ":visited", "::", ":before", ":after")
EVERYWHERE = ("@media screen", "@media all", "@media only screen")
NOT_ON_SCREENS = ("@media print", "@media only print", "@font", "@page", "@keyframes", "@-webkit-k")

COMPLEX, OWN = 10, 20  # how special a selector is at least that is not simple; an attribute
LEAST: Rank = (False, -1, 0)
NOTHING: dict[str, tuple[Rank, str]] = {}
COLOURED = frozenset(("a", "button"))  # these have a colour of their own
READ = ("style", "class", "id", "color", "bgcolor", "background", "text", "dir")
STYLING = frozenset(("style", "bgcolor", "color", "background", "text", "hidden", "dir"))
TABLES = frozenset(  # these grow with their text
    ("table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "col", "colgroup")
)


class Sheet:
    """The rules of style sheets of simple selectors: ``p``, ``.x``, ``#x``, ``p.x``, ``*``."""

    def __init__(self, *texts: str) -> None:
        self._rules: dict[str, dict[str, tuple[Rank, str]]] = {}
        self._known: dict[tuple[str | bool | None, ...], dict[str, str]] = {}
        rules_of_all = (rule for text in texts for rule in _rules(_cleaned(text)))
        for place, (selector, text_of_rule, certain) in enumerate(rules_of_all):
            declared: dict[str, tuple[bool, str]] = {}
            for name, value, important in _declarations(text_of_rule):
                if important or not declared.get(name, (False, ""))[0]:
                    declared[name] = important, value
            if not declared:
                continue
            for key, is_simple in _keys(selector):
                special = 4 * ("#" in key) + 2 * ("." in key) + (key[0] not in ".#*")
                special += 0 if is_simple else COMPLEX
                rules = self._rules.setdefault(key, {})
                for name, (important, value) in declared.items():
                    ranked = (important, special, place)
                    if name not in rules or ranked >= rules[name][0]:
                        rules[name] = ranked, value if certain and is_simple else UNKNOWN

    def declared(self, name: str, attributes: Attributes) -> dict[str, str]:
        """Return the values of an element's properties, by its name and attributes."""
        if name not in COLOURED and STYLING.isdisjoint(attributes) and not self._rules:
            return {}
        key = name, "hidden" in attributes, *map(attributes.get, READ)
        if key not in self._known:
            self._known[key] = self._cascade(name, attributes)
        return self._known[key]

    def _cascade(self, name: str, attributes: Attributes) -> dict[str, str]:
        """Return the value of greatest rank of each property."""
        found = {property_: (LEAST, value) for property_, value in _of_attributes(name, attributes)}
        keys = ["*", name] if self._rules else []
        for mark, given in ((".", "class"), ("#", "id")) if self._rules else ():
            for one in dict.fromkeys((attributes.get(given) or "").lower().split()):
                keys += [f"{mark}{one}", f"{name}{mark}{one}"]
        of_element = enumerate(_declarations(_cleaned(attributes.get("style") or "")))
        ranked = [
            *(item for key in keys for item in self._rules.get(key, NOTHING).items()),
            *((name, ((important, OWN, i), value)) for i, (name, value, important) in of_element),
        ]
        for property_, (rank, value) in ranked:
            if property_ not in found or rank >= found[property_][0]:
                found[property_] = rank, value
        return {property_: value for property_, (_, value) in found.items()}


def _of_attributes(name: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    """Yield what old attributes declare, and elements that look like no others."""
    if "hidden" in attributes:
        yield "display", "none"
    if name == "bdo":
        yield "unicode-bidi", "bidi-override"
    if order := attributes.get("dir"):
        yield "direction", order.lower().strip()
    if name in COLOURED:
        yield "color", UNKNOWN
    if colour := attributes.get({"font": "color", "body": "text"}.get(name, "")):
        yield "color", colour.lower().strip()
    if ground := attributes.get("bgcolor"):
        yield "background-color", ground.lower().strip()
    if attributes.get("background"):
        yield "background-image", "url()"


class Appearance:
    """How a text looks within some elements."""

    __slots__ = (
        "_colour", "_ground", "_indent", "_size", "_visible", "_within",
        "backwards", "gone", "is_blank", "seen",
    )  # fmt: skip

    def __init__(self) -> None:
        # Nothing is seen here, whatever style elements within have; what is not seen takes its
        # place; letters follow each other from right to left.
        self.gone = self.is_blank = self.backwards = False
        self.seen = self._visible = True
        self._size = 16.0
        self._indent = 0.0
        self._colour: Colour | None = BLACK
        self._ground: Colour | None = WHITE
        self._within: dict[tuple[int, bool, bool], tuple[Mapping[str, str], Appearance]] = {}

    def within(self, declared: Mapping[str, str], name: str, *, in_line: bool) -> Appearance:
        """Return how text looks within one element more, which is a part of a line or a box."""
        if not declared:
            return self
        key = id(declared), in_line, name in TABLES
        if key not in self._within:
            # What is declared is kept, so that its id is that of nothing else.
            self._within[key] = declared, self._made_within(declared, name, in_line=in_line)
        return self._within[key][1]

    def _made_within(self, declared: Mapping[str, str], name: str, *, in_line: bool) -> Appearance:
        new, get = Appearance(), declared.get
        new._size = _font_size(declared, self._size)
        visibility = get("visibility")
        hides = visibility in ("hidden", "collapse")
        new._visible = self._visible if visibility in (None, "inherit") else not hides
        new._colour = _colour(get("color"), self._colour)
        new._ground = _ground(declared, self._ground)
        position = get("position", "static")
        is_line = in_line and position in ("static", "relative")
        is_line = is_line and get("display", "inline") in ("inline", UNKNOWN)
        new._indent = self._indent
        if "text-indent" in declared and not is_line:
            new._indent = _pixels(declared["text-indent"], new._size) or 0.0
        new.gone = (
            self.gone
            or get("display") == "none"
            or _is_faint(get("opacity"))
            or (not is_line and _is_clipped(declared, position))
            or _is_far(declared, position, new._size)
            or (not is_line and _is_thin(declared, name, new._size))
        )
        overrides = get("unicode-bidi", "").endswith("override")
        new.backwards = get("direction") == "rtl" if overrides else self.backwards
        new.is_blank = not new.gone and new._size > SMALLEST
        new.seen = not (
            new.gone
            or not new._visible
            or new._size <= SMALLEST
            or new._indent <= FAR
            or _are_alike(new._colour, new._ground)
        )
        return new


TRANSPARENT = (-1, -1, -1)


def _are_alike(colour: Colour | None, ground: Colour | None) -> bool:
    if colour is TRANSPARENT:
        return True
    if colour is None or ground is None:
        return False
    return all(abs(a - b) <= ALIKE for a, b in zip(colour, ground, strict=True))


def _is_faint(opacity: str | None) -> bool:
    found = re.fullmatch(LENGTH, opacity or "")
    if not found or found[2] not in ("", "%"):
        return False
    return float(found[1]) < FAINTEST * (100 if found[2] else 1)


def _is_clipped(declared: Mapping[str, str], position: str) -> bool:
    """Whether nothing is left of a box."""
    names = ["clip-path", "transform", *(["clip"] if position in ("absolute", "fixed") else [])]
    return any(re.match(CLIPPED, declared.get(name, "")) for name in names)


def _is_far(declared: Mapping[str, str], position: str, size: float) -> bool:
    """Whether a box is far beyond the left or the upper end of the page."""
    names = ["margin-left"]
    if position in ("absolute", "fixed", "relative"):
        names += ["left", "top"]
    return any((_pixels(declared.get(name), size) or 0.0) <= FAR for name in names)


def _is_thin(declared: Mapping[str, str], name: str, size: float) -> bool:
    """Whether a box has no width or height, and shows nothing of what overflows it."""
    overflows = ("overflow", "overflow-x", "overflow-y")
    clips = any(declared.get(each) in ("hidden", "clip") for each in overflows)
    if not clips or (name in TABLES and "display" not in declared):
        return False
    sides = ("width", "max-width", "height", "max-height")
    lengths = (_pixels(declared.get(side), size) for side in sides)
    return any(length is not None and 0 <= length <= THINNEST for length in lengths)


def _font_size(declared: Mapping[str, str], of_parent: float) -> float:
    """Return the size of letters in pixels; what cannot be told is large enough to be read."""
    value = declared.get("font-size")
    if value is None or value in INHERITED:
        return of_parent
    size = _pixels(value, of_parent, of_percent=of_parent)
    return 16.0 if size is None else size


def _pixels(value: str | None, size: float, of_percent: float | None = None) -> float | None:
    """Return a length in pixels, or None where that cannot be told."""
    found = re.fullmatch(LENGTH, value or "")
    if not found:
        return None
    number, unit = float(found[1]), found[2]
    if unit == "%" and of_percent is not None:
        return number / 100 * of_percent
    scale = size if unit in ("em", "ex", "ch") else UNITS.get(unit)
    if number == 0 and (scale is not None or unit in ("", "%")):
        return 0.0
    return None if scale is None else number * scale


def _colour(value: str | None, of_parent: Colour | None) -> Colour | None:
    """Return a colour, or None where that cannot be told."""
    if value is None or value in INHERITED:
        return of_parent
    if value == "transparent":
        return TRANSPARENT
    if found := re.fullmatch(HEX, value):
        digits = found[1] if len(found[1]) == 6 else "".join(2 * digit for digit in found[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := re.fullmatch(RGB, value):
        parts = re.findall(LENGTH, found[1])
        scale = [2.55 if unit == "%" else 1 for _, unit in parts]
        channels = [round(float(n) * s) for (n, _), s in zip(parts, scale, strict=True)][:3]
        if len(parts) == 4 and _is_faint("".join(parts[3])):
            return TRANSPARENT
        if len(channels) == 3 and (len(parts) == 3 or float(parts[3][0]) == 1):
            return channels[0], channels[1], channels[2]
        return None
    return NAMED.get(value)


def _ground(declared: Mapping[str, str], of_parent: Colour | None) -> Colour | None:
    """Return the colour behind a text, or None where that cannot be told, as before a picture."""
    if declared.get("background-image", "none") not in NONE:
        return None
    value = declared.get("background-color", "none")
    if value in NONE:
        return of_parent
    found = re.search(RGB, value) or re.search(HEX, value)
    names = [found[0]] if found else [word for word in value.split() if word in NAMED]
    colour = _colour(names[0], None) if names else None
    return of_parent if colour is TRANSPARENT else colour


def _cleaned(text: str) -> str:
    """Return style in lower case, without comments, strings, addresses and escapes."""
    text = re.sub(URL, "url()", re.sub(NO_STYLE, " ", text.lower()))
    return re.sub(ESCAPE, _unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16) % 0x110000) if found[1] else found[2]
    return character.lower() if character.isalnum() or character in "-_" else "?"


def _declarations(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield properties, their values, and whether they are important; of shorthands their parts."""
    for name, given, mark in re.findall(DECLARATION, text):
        value, important = given[:VALUE_LENGTH].strip(), bool(mark)
        if name == "font":
            found = re.search(SIZE_OF_FONT, value)
            yield "font-size", found[0] if found else UNKNOWN, important
        elif name == "background":
            is_picture = "url(" in value or "gradient" in value
            yield "background-image", "url()" if is_picture else "none", important
            yield "background-color", value, important
        else:
            yield name, value, important


def _rules(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield selectors, declarations, and whether the rule applies for certain."""
    around: list[tuple[bool | None, str]] = []  # the blocks that are open; None: on no screen
    begin = 0
    for found in re.finditer(r"[{}]", text):
        piece, begin = text[begin : found.start()], found.end()
        if found[0] == "{":
            selector = " ".join(piece.rpartition(";")[2].split())
            holds, outer = around[-1] if around else (True, "@")
            if selector.startswith(NOT_ON_SCREENS):
                holds = None
            elif selector.startswith("@") or not outer.startswith("@"):
                holds = holds and selector in EVERYWHERE
            around.append((holds, selector))
        elif around:
            holds, selector = around.pop()
            if holds is not None and not selector.startswith("@"):
                yield selector, piece, holds


def _keys(selectors: str) -> Iterator[tuple[str, bool]]:
    """Yield of each selector in a list what its elements are known by, and whether that is all."""
    for selector in map(str.strip, selectors.split(",")):
        if any(moment in selector for moment in OF_MOMENTS):
            continue
        last = re.sub(r"[>+~]", " ", selector).split()[-1:]
        if last and (found := re.match(SIMPLE, last[0])):
            name, mark, of = found.groups()
            key = f"{'' if name in (None, '*') else name}{mark or ''}{of or ''}" or "*"
            yield key, found[0] == selector
