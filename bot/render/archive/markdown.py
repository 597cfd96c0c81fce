"""Markdown of summaries as HTML that nothing can be hidden in: emphasis, code, lists and quotations alone."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup

# what could load, link, or look like a part of the page; html and linkify are off by the options
_LEFT_OUT = (
    "autolink",
    "entity",
    "heading",
    "hr",
    "html_block",
    "html_inline",
    "image",
    "lheading",
    "link",
    "reference",
)


def render_markdown(text: str) -> Markup:
    """Render a text as HTML. All of it that is not emphasis, code, a list or a quotation is shown as it is."""
    # all text passes through the escaping of the parser, as no rule for HTML is left
    return Markup(_get_parser().render(text))  # noqa: S704


@cache
def _get_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "maxNesting": 10}).disable(_LEFT_OUT)
