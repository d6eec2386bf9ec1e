"""The lines that the page on texts shows for other tokenizers run, where these are installed."""

import re
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "text.md"
BLOCKS = re.findall(r"```python\n(import (\w+)\n.+?)```", PAGE.read_text("utf-8"), re.DOTALL)
TEXTS = {
    "jieba": ["我喜欢这家酒店", "房间很脏服务很差"],
    "fugashi": ["この映画は面白い", "部屋が汚くて最悪だった"],
    "spacy": ["Das Zimmer war schön", "Das Essen war schlecht"],
}


def test_the_page_has_them():
    assert [module for _, module in BLOCKS] == list(TEXTS)


@pytest.mark.parametrize(("lines", "module"), BLOCKS, ids=[module for _, module in BLOCKS])
def test_lines_of_the_page_run(lines, module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages that are not ours
        pytest.importorskip(module)
        good, bad = TEXTS[module]
        names = {"texts": [good, bad] * 10, "labels": ["+", "-"] * 10}
        exec(lines, names)  # noqa: S102  (they are of our own page)
    assert names["nb"].predict([good, bad]).tolist() == ["+", "-"]
    (words,) = [group.analyser.tokens(good) for group in names["nb"].schema_.groups]
    assert 2 <= len(words) < len(good)
