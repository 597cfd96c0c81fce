"""Settings of Sphinx, which builds the site from the Markdown of this repository.

``uv run --group docs sphinx-build -W -c docs/site . dist/site`` builds it. The pages stay plain Markdown, which
can be read where they are. What only the site needs, such as its table of contents, is added while it is built.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)(?=[)#])")
_SECTIONS = {
    "Set it up": ("install", "deploy", "settings", "permissions"),
    "Use it": ("slack", "touches", "mcp", "risk", "reports"),
    "Run it": ("operations", "load", "monitoring", "troubleshooting", "cost", "privacy"),
    "Project": (
        "glossary",
        "releasing",
        "decisions/README",
        "/CHANGELOG",
        "/ARCHITECTURE",
        "/CONTRIBUTING",
        "/SECURITY",
    ),
}

project = "prdigest"
release = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
html_title = f"prdigest {release}"
html_show_copyright = html_show_sphinx = False
html_copy_source = False
html_theme = "furo"
html_favicon = html_logo = str(_ROOT / "bot" / "demo" / "icon.svg")
extensions = ["myst_parser"]
# the pages in docs, those beside README.md, and what they link to
include_patterns = [
    "docs/*.md",
    "docs/decisions/*.md",
    "[ACS]*.md",
    "benchmarks/*.md",
    "evals/**/*.md",
    "tests/README.md",
    "impact/README.md",
    "localslack/README.md",
]
root_doc = "docs/index"
# a link to a section that does not exist is an error, as one to a page is
myst_heading_anchors = 4
highlight_language = "none"
# a picture and its alternative text say the same in the site's index
suppress_warnings = ["toc.not_included"]


def setup(app: Any) -> None:
    """Have Sphinx call us for each page that it reads."""
    app.connect("source-read", _complete_page)


def _complete_page(app: Any, name: str, source: list[str]) -> None:
    """Point links to folders at their ``README.md``, and add the tables of contents."""
    folder = posixpath.dirname(name)

    def find_page(match: re.Match[str]) -> str:
        is_folder = (_ROOT / folder / match[1]).is_dir()
        return posixpath.join(match[1], "README.md") if is_folder else match[1]

    source[0] = _LINK.sub(find_page, source[0])
    if name == root_doc:
        source[0] += "".join(_render_contents(title, pages) for title, pages in _SECTIONS.items())
    if name == "docs/decisions/README":
        source[0] += _render_contents("", sorted(path.stem for path in (_ROOT / folder).glob("0*.md")))


def _render_contents(title: str, pages: Any) -> str:
    """Return a table of contents; with a title it is shown at the side alone."""
    options = f":hidden:\n:caption: {title}\n" if title else ":maxdepth: 1\n"
    return "\n\n```{toctree}\n" + options + "\n" + "\n".join(pages) + "\n```\n"
