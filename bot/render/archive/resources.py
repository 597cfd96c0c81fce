"""The templates, the style and the script, as they stand beside the code."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from bot.render.archive import sentences
from bot.render.archive.markdown import render_markdown

# raise it when code changes what pages look like; templates count by themselves
_CODE_VERSION = 1
_TEMPLATES = ("base.html", "day.html", "entry.html", "index.html", "merge.html")
ASSETS = ("icon.svg", "search.js", "style.css")
_WEB_SCHEMES = ("https://", "http://")


@cache
def get_environment() -> Environment:
    """Return the environment of the templates: it escapes all values, and refuses those that are missing."""
    environment = Environment(
        loader=FunctionLoader(_read_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["markdown"] = render_markdown
    environment.filters["web_url"] = require_web_url
    environment.globals["say"] = sentences
    return environment


@cache
def compute_rendering_version() -> str:
    """Compute a text that differs if the templates make other pages."""
    texts = "\0".join([str(_CODE_VERSION), *map(_read_template, _TEMPLATES)])
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


@cache
def read_asset(name: str) -> bytes:
    """Return a file that pages load."""
    return (files(__package__) / "assets" / name).read_bytes()


def require_web_url(url: str) -> str:
    """Return an address of the web; any other one becomes the page itself, as ``javascript:`` would run."""
    return url if url.startswith(_WEB_SCHEMES) else "#"


def _read_template(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")
