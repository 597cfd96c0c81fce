import pytest
from markdown_it import MarkdownIt

from bot.platform.markdown import escape_line, write_code

PARSER = MarkdownIt("commonmark")


@pytest.mark.parametrize("text", ["", "\u200b", "\n", "\0", "\u202e\u2066"])
def test_code_without_a_text_says_so(text: str) -> None:
    assert write_code(text).strip() != "``"
    (line,) = [
        each
        for each in PARSER.parse(f"{write_code(text)} {escape_line('<b>')} {write_code(text)}")
        if each.children
    ]
    assert [child.type for child in line.children or ()] == ["code_inline", "text", "code_inline"]
