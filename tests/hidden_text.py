"""Ways to hide text in HTML from its reader, and what looks like one of them and hides nothing.

In each, TEXT is where the text comes. `test_hidden_text.py` asks the filter about them, and
`browser/test_hidden_text.py` a browser.
"""

from __future__ import annotations

# What is hidden by style, within a paragraph or beside it.
TRICKS = {
    "display": '<div style="display:none">TEXT</div>',
    "display of a part": '<span style="display: none">TEXT</span>',
    "important": '<div style="DISPLAY : none !important; display:block">TEXT</div>',
    "comments in style": '<div style="display/**/:/* no */none">TEXT</div>',
    "escapes in style": r'<div style="d\69splay:n\6f ne">TEXT</div>',
    "entities in style": '<div style="display&#58;n&#111;ne">TEXT</div>',
    "visibility": '<div style="visibility:hidden">TEXT</div>',
    "visibility of a parent": '<div style="visibility:hidden"><table><tr><td>TEXT</table></div>',
    "opacity": '<div style="opacity:0">TEXT</div>',
    "opacity of a parent": '<div style="opacity:0"><p style="opacity:1">TEXT</p></div>',
    "size 0": '<span style="font-size:0">TEXT</span>',
    "size 1px": '<span style="font-size:1px;line-height:1px">TEXT</span>',
    "size by font": '<div style="font: 0/0 a">TEXT</div>',
    "size of a size": '<div style="font-size:1px"><p style="font-size:90%">TEXT</p></div>',
    "white": '<font color="white">TEXT</font>',
    "nearly white": '<font color="#fffffe">TEXT</font>',
    "white without a number sign": "<font color=FFFFFF>TEXT</font>",
    "white by style": '<div style="color:rgb(255, 255, 255)">TEXT</div>',
    "white in each paragraph": "<div><font color=white><p>TEXT<p>TEXT</div>",
    "white, of a paragraph that ended": "<div><p><font color=white><p>TEXT</font></div>",
    "white, in parts that overlap": "<b><font color=white></b>TEXT</font>",
    "black on black": '<table bgcolor="#000000" width=300><tr><td><font color=black>TEXT</table>',
    "on a ground by style": '<div style="background:#123456 none;color:#123456">TEXT</div>',
    "no colour": '<div style="color:transparent">TEXT</div>',
    "colour of no weight": '<div style="color:rgba(0,0,0,0)">TEXT</div>',
    "indent": '<div style="text-indent:-9999px">TEXT</div>',
    "off the page": '<div style="position:absolute;left:-9999px">TEXT</div>',
    "above the page": '<div style="position:absolute;top:-200em">TEXT</div>',
    "margin": '<div style="margin-left:-9999px">TEXT</div>',
    "no height": '<div style="height:0;overflow:hidden">TEXT</div>',
    "no width": '<div style="max-width:0px;max-height:0px;overflow:hidden">TEXT</div>',
    "no width of a block": '<span style="display:block;height:0;overflow:hidden">TEXT</span>',
    "clip": '<div style="position:absolute;clip:rect(0px, 1px,0 ,0)">TEXT</div>',
    "clip path": '<div style="clip-path:inset(50%)">TEXT</div>',
    "scale": '<div style="transform: scale(0)">TEXT</div>',
    "attribute": "<div hidden>TEXT</div>",
    "a tag's rule": "<style>big {display:none}</style><big>TEXT</big>",
    "a class's rule": "<style>.a, .b {opacity:0}</style><div class='x B b'>TEXT</div>",
    "an id's rule": "<style>#a {font-size:0 !important}</style>"
    "<div id=a style='font-size:9px'>TEXT</div>",
    "a rule for screens": "<style>@media screen { p.q {display:none} }</style>"
    "<p class=q>TEXT</p>",
    "the later rule": "<style>.a {display:block} .b {display:none}</style>"
    "<div class='b a'>TEXT</div>",
    "the more special rule": "<style>#a {display:none} .b {display:block}</style>"
    "<div class=b id=a>TEXT</div>",
    "a rule among others": "<style>@import 'x'; @font-face {src:url(y)} "
    'p:before {content:"}"} .a {display:none}</style><div class=a>TEXT</div>',
    "a rule behind a comment without an end": "<style>a { /* </style>"
    "<style>.a {display:none}</style><div class=a>TEXT</div>",
    "title": "<title>TEXT</title>",
}  # fmt: skip
# What a reader sees, though it looks like one of these.
SHOWN = {
    "display of what ended": '<span style="display:none"></span>TEXT',
    "size of a child": '<div style="font-size:0"><p style="font-size:16px">TEXT</p></div>',
    "visibility of a child": '<div style="visibility:hidden">'
    '<p style="visibility:visible">TEXT</p></div>',
    "white on black": "<table bgcolor=black><tr><td><font color=white>TEXT</table>",
    "white on black by style": '<div style="background:#000"><p style="color:#fff">TEXT</p></div>',
    "white on what a parent has": "<div bgcolor=white style='background:navy'>"
    "<span style='color:white'>TEXT</span></div>",
    "clip of what stands in its place": '<div style="clip:rect(0,0,0,0)">TEXT</div>',
    "clip by commas and spaces": '<div style="position:absolute;clip:rect(0, 0 0 0)">TEXT</div>',
    "clip of a part": '<div style="clip-path:inset(5%);transform:scale(0.9)">TEXT</div>',
    "white that ended": "<font color=white><b></font>TEXT</b>",
    "white that ended within a box": "<font color=white><p></font>TEXT</p>",
    "white in a cell that ended": "<table><tr><td><font color=white></td><td>TEXT</table>",
    "a part that a box ended": '<p><span style="display:none"><p>TEXT',
    "a link in white": "<font color=white><a href='http://a.example/'>TEXT</a></font>",
    "width of a part": '<span style="width:0;overflow:hidden">TEXT</span>',
    "height of a cell": '<table><tr><td style="height:0;overflow:hidden">TEXT</table>',
    "overflow that shows": '<div style="height:0">TEXT</div>',
    "left of nowhere": '<div style="left:-9999px">TEXT</div>',
    "hover": "<style>p:hover {display:none}</style><p>TEXT</p>",
    "print": "<style>@media print { p {display:none} }</style><p>TEXT</p>",
    "a sheet for print": "<style media=print>p {display:none}</style><p>TEXT</p>",
    "a narrow screen": "<style>@media (max-width: 1px) { p {display:none} }</style><p>TEXT</p>",
    "elsewhere": "<style>td p {display:none}</style><p>TEXT</p>",
    "shown again": "<style>.a {display:none} div .a {display:block}</style>"
    "<div><p class=a>TEXT</p></div>",
    "the later rule": "<style>.a {display:none} .b {display:block}</style>"
    "<div class='b a'>TEXT</div>",
    "a font after a size": '<div style="font-size:0;font:12px serif">TEXT</div>',
    "an address": '<div style="background:url(x;display:none)">TEXT</div>',
    "a string": "<style>p:before {content:'} p {display:none}'}</style><p>TEXT</p>",
    "a word in a comment": '<div style="dis/**/play:none">TEXT</div>',
    "no unit that there is": '<div style="opacity:0x;font-size:0foo">TEXT</div>',
    "half as strong": '<div style="opacity:.5">TEXT</div>',
    "a name of a colour": '<font color="whiteish">TEXT</font>',
}  # fmt: skip
# What parts the letters of a word, and shows nothing; and the kind of evidence that it is.
WITHIN_WORDS = {
    "<!-- x -->": "comment",
    "<!lunch>": "comment",
    "<b></b>": "markup",
    "<font size=1></font>": "markup",
    "<x-y>": "markup",
    "</zz>": "markup",
    "<span style='display:none'>lunch</span>": "style",
    "<i style='font-size:0'>at noon</i>": "style",
    "&shy;": "soft_hyphen",
} | {
    chr(code): "zero_width"
    for code in (
        *range(0x200B, 0x2010), *range(0x202A, 0x202E), *range(0x2060, 0x206A), 0xFEFF, 0x34F,
        0x180E, 0x61C, 0xFE00, 0xFE0F, 0xE0001, 0xE0041, 0xE007F, 0xE0100,
    )
}  # fmt: skip
