"""Markdown as HTML: Slack's ``markdown`` blocks and streams, and whole documents.

HTML in the text is escaped, and an image becomes a link with its description. Links lead to web pages or mail
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from localslack.blockkit.emoji import replace_names
from localslack.blockkit.links import get_safe_address, render_link
from localslack.blockkit.mrkdwn import render_bare
from localslack.blockkit.names import Names
from localslack.blockkit.tokens import TOKEN, render_token

# the depth of lists and quotes, below which the rest is text
_MAX_NESTING = 20
_PRE = Markup('<pre class="bk-pre"><code>{}</code></pre>\n')
_TABLE = '<div class="bk-scroll" tabindex="0" role="group" aria-label="Table"><table class="bk-table">\n'


def render_markdown(text: str, names: Names) -> Markup:
    """Render the text of a ``markdown`` block; Slack resolves names in it as well."""
    return Markup('<div class="bk-markdown">{}</div>').format(_render_html(text, names))


def render_document(text: str) -> Markup:
    """Render a whole Markdown document."""
    return Markup('<article class="bk-report">{}</article>').format(_render_html(text, None))


def _render_html(text: str, names: Names | None) -> Markup:
    # the library's renderer or the functions below have escaped every text in it
    return Markup(_make_parser(in_slack=names is not None).render(text, {"names": names}))  # noqa: S704


@cache
def _make_parser(*, in_slack: bool) -> MarkdownIt:
    options = {"html": False, "linkify": False, "xhtmlOut": False, "breaks": in_slack, "maxNesting": _MAX_NESTING}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: bool(get_safe_address(url))  # type: ignore[method-assign]
    parser.core.ruler.push("sanitize", _sanitize_tokens)
    if in_slack:
        parser.inline.ruler.before("autolink", "slack", _parse_token)
        parser.add_render_rule("text", _render_text)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _parse_token(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (the library passes it by position)
    """Parse a name, link or date between angle brackets."""
    match = TOKEN.match(state.src, state.pos)
    shown = render_token(match[1], state.env["names"]) if match else None
    if match is None or shown is None:
        return False
    if not silent:
        # links can't be nested
        state.push("slack", "", 0).content = escape(shown.striptags()) if state.linkLevel else shown
    state.pos = match.end()
    return True


def _sanitize_tokens(state: StateCore) -> None:
    """Change the parsed tokens so that the page can show them safely."""
    for token in state.tokens:
        _align_by_class(token)
        _shrink_heading(token, in_slack=state.env["names"] is not None)
        _open_links_in_new_tab(token.children or ())


def _open_links_in_new_tab(parts: Sequence[Token]) -> None:
    """Make links open in a new tab; keep only the label of a link that is nested or has no safe address.

    Each piece of text records whether it is part of a link.
    """
    around: list[bool] = []
    for part in parts:
        if part.type == "link_open":
            around.append(bool(get_safe_address(part.attrGet("href"))) and not any(around))
            part.hidden = not around[-1]
            part.attrs.pop("title", None)
            part.attrs |= {"class": "bk-link", "target": "_blank", "rel": "noopener noreferrer"}
        elif part.type == "link_close":
            part.hidden = not around.pop()
        part.meta["linked"] = any(around)


def _align_by_class(token: Token) -> None:
    """Align by class: the page's content security policy allows no inline style."""
    style = str(token.attrs.pop("style", ""))
    if style:
        token.attrSet("class", f"bk-align-{style.removeprefix('text-align:')}")


def _shrink_heading(token: Token, *, in_slack: bool) -> None:
    """Turn headings of a message into large text, since the page's own headings rank above them."""
    if in_slack and token.type in ("heading_open", "heading_close"):
        token.attrs = {"class": f"bk-md-{token.tag}"} if token.nesting == 1 else {}
        token.tag = "h4"


def _render_text(
    self: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[at]
    return str(escape(replace_names(token.content)) if token.meta["linked"] else render_bare(token.content))


def _render_image(
    self: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """Render an image as a link with its description, or as plain text inside a link."""
    token = tokens[at]
    url = token.attrGet("src")
    label = "".join(part.content for part in token.children or ()) or str(url)
    return str(escape(label) if token.meta["linked"] else render_link(url, label))


def _render_token(
    self: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    return tokens[at].content


def _render_fence(
    self: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    return str(_PRE.format(tokens[at].content))


def _render_table(
    self: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    return _TABLE if tokens[at].nesting == 1 else "</table></div>\n"


_RULES: dict[str, Any] = {
    "slack": _render_token,
    "image": _render_image,
    "fence": _render_fence,
    "code_block": _render_fence,
    "table_open": _render_table,
    "table_close": _render_table,
}
