"""``python -m docs.site.drawings``: draws the pages of Slack on which an app is set up, as SVG.

They are drawings of ours, not pictures of Slack's pages: they show what is where, and what to click in which
order. They follow the reader's choice of light or dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parents[1] / "pictures"
_WIDTH, _SIDEBAR, _ROW, _MARGIN = 720, 210, 34, 20
_SPACE = 'xmlns="http://www.w3.org/2000/svg"'
_STYLE = """
  .paper { fill: #ffffff; stroke: #8a8f98 } .side { fill: #f1f3f5 } .text { fill: #1c1f23 } .soft { fill: #5a6068 }
  .box { fill: #ffffff; stroke: #8a8f98 } .chosen { fill: #dbe7f5 } .go { fill: #0b6b50 } .on { fill: #ffffff }
  .step { fill: #b3261e } text { font: 14px system-ui, sans-serif } .title { font-weight: 600; font-size: 16px }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #1b1e23; stroke: #7d838c } .side { fill: #24282e } .text { fill: #eceef1 }
    .box { fill: #14171b; stroke: #7d838c } .soft { fill: #b3b9c2 } .chosen { fill: #2f4257 }
    .go { fill: #14805f } .step { fill: #d1453b }
  }
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a page. ``step`` is the number of the click or of what is typed there, 0 for none.

    ``kind`` is ``title``, ``text``, ``field`` (with a ``value``), ``button``, or ``choice``.
    """

    kind: str
    label: str
    value: str = ""
    step: int = 0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A page: its address, the entries of its sidebar with the chosen one, and its rows from the top.

    ``description`` says the same in words, for readers who don't see it.
    """

    name: str
    address: str
    description: str
    rows: Sequence[Row]
    sidebar: Sequence[str] = ()
    chosen: str = ""
    sidebar_step: int = 0


_SETTINGS = ("Basic Information", "Collaborators", "Socket Mode", "Install App", "App Home", "OAuth & Permissions")

DRAWINGS = (
    Drawing(
        "create-app",
        "api.slack.com/apps",
        "The page Your Apps: click Create New App, then From a manifest.",
        (
            Row("title", "Your Apps"),
            Row("button", "Create New App", step=1),
            Row("title", "Create an app"),
            Row("choice", "From a manifest", step=2),
            Row("choice", "From scratch"),
        ),
    ),
    Drawing(
        "paste-manifest",
        "api.slack.com/apps",
        "The dialog for a manifest: choose the workspace, paste into the JSON tab, click Next, then Create.",
        (
            Row("title", "Create an app from a manifest"),
            Row("field", "Pick a workspace", "Your workspace", step=1),
            Row("choice", "JSON", step=2),
            Row("choice", "YAML"),
            Row("field", "Manifest", '{ "_metadata": { "major_version": 2, …', step=3),
            Row("button", "Next", step=4),
            Row("text", "Review summary & create your app"),
            Row("button", "Create", step=5),
        ),
    ),
    Drawing(
        "install-app",
        "api.slack.com/apps/A0123ABCD/install-on-team",
        "The page Install App: click Install to your workspace, then Allow on the page that opens.",
        (
            Row("title", "Install App"),
            Row("button", "Install to Your workspace", step=2),
            Row("title", "prdigest is requesting permission to access …"),
            Row("text", "What will prdigest be able to view? What will it be able to do?"),
            Row("button", "Allow", step=3),
        ),
        sidebar=_SETTINGS,
        chosen="Install App",
        sidebar_step=1,
    ),
    Drawing(
        "bot-token",
        "api.slack.com/apps/A0123ABCD/oauth",
        "The page OAuth & Permissions: copy the Bot User OAuth Token, which begins with xoxb.",
        (
            Row("title", "OAuth Tokens"),
            Row("field", "Bot User OAuth Token", "xoxb-…"),
            Row("button", "Copy", step=2),
            Row("text", "Its place in the settings: SLACK_BOT_TOKEN"),
        ),
        sidebar=_SETTINGS,
        chosen="OAuth & Permissions",
        sidebar_step=1,
    ),
    Drawing(
        "app-token",
        "api.slack.com/apps/A0123ABCD/general",
        "The page Basic Information: under App-Level Tokens generate a token with the scope connections:write.",
        (
            Row("title", "App-Level Tokens"),
            Row("button", "Generate Token and Scopes", step=2),
            Row("title", "Generate an app-level token"),
            Row("field", "Token Name", "prdigest", step=3),
            Row("field", "Add Scope", "connections:write", step=4),
            Row("button", "Generate", step=5),
            Row("field", "Token", "xapp-…", step=6),
            Row("text", "Its place in the settings: SLACK_APP_TOKEN"),
        ),
        sidebar=_SETTINGS,
        chosen="Basic Information",
        sidebar_step=1,
    ),
    Drawing(
        "invite-bot",
        "Slack",
        "A channel in Slack: send /invite @prdigest, click the channel's name, and copy its id under About.",
        (
            Row("choice", "# merges", step=2),
            Row("field", "Message #merges", "/invite @prdigest", step=1),
            Row("title", "About"),
            Row("text", "Topic, description, created by …"),
            Row("field", "Channel ID", "C0123ABCD", step=3),
            Row("text", "Its place in the settings: PRDIGEST_CHANNEL"),
        ),
        sidebar=("# general", "# merges", "# random"),
        chosen="# merges",
    ),
)


def render_drawing(drawing: Drawing) -> str:
    """Return the SVG of a drawing."""
    words = escape(drawing.description)
    left = _SIDEBAR + _MARGIN if drawing.sidebar else _MARGIN
    lines, top = [], 62
    for row in drawing.rows:
        if row.kind == "title" and row is not drawing.rows[0]:
            top += 12
        lines += _render_row(row, left, top)
        top += _ROW + 6
    height = max(top, 62 + len(drawing.sidebar) * _ROW) + _MARGIN
    return "\n".join(
        [
            f'<svg {_SPACE} viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{words}">',
            f"<title>{words}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="paper" x="1" y="1" width="{_WIDTH - 2}" height="{height - 2}" rx="10"/>',
            *_render_sidebar(drawing, height),
            f'<rect class="side" x="2" y="2" width="{_WIDTH - 4}" height="36" rx="9"/>',
            _render_text("soft", _MARGIN, 25, drawing.address),
            *lines,
            "</svg>",
            "",
        ]
    )


def _render_sidebar(drawing: Drawing, height: int) -> list[str]:
    if not drawing.sidebar:
        return []
    lines = [f'<rect class="side" x="2" y="38" width="{_SIDEBAR - 2}" height="{height - 48}"/>']
    for number, entry in enumerate(drawing.sidebar):
        top = 50 + number * _ROW
        if entry == drawing.chosen:
            lines.append(f'<rect class="chosen" x="8" y="{top}" width="{_SIDEBAR - 16}" height="28" rx="6"/>')
            if drawing.sidebar_step:
                lines += _render_step(drawing.sidebar_step, _SIDEBAR - 22, top + 14)
        lines.append(_render_text("text", 18, top + 19, entry))
    return lines


def _render_row(row: Row, left: int, top: int) -> list[str]:
    """Return the lines of a row whose upper edge is at ``top``."""
    wide = _WIDTH - left - 60
    match row.kind:
        case "title":
            lines = [_render_text("text title", left, top + 22, row.label)]
            end = left
        case "button":
            end = left + 30 + 8 * len(row.label)
            lines = [
                f'<rect class="go" x="{left}" y="{top}" width="{end - left}" height="30" rx="6"/>',
                _render_text("on", left + 14, top + 20, row.label),
            ]
        case "choice":
            end = left + 30 + 8 * len(row.label)
            lines = [
                f'<rect class="box" x="{left}" y="{top}" width="{end - left}" height="30" rx="6"/>',
                _render_text("text", left + 14, top + 20, row.label),
            ]
        case "field":
            end = left + wide
            lines = [
                _render_text("soft", left, top + 20, row.label),
                f'<rect class="box" x="{left + 160}" y="{top}" width="{wide - 160}" height="30" rx="6"/>',
                _render_text("text", left + 172, top + 20, row.value),
            ]
        case _:
            end = left
            lines = [_render_text("soft", left, top + 20, row.label)]
    return lines + (_render_step(row.step, end + 20, top + 15) if row.step else [])


def _render_step(number: int, x: int, y: int) -> list[str]:
    return [
        f'<circle class="step" cx="{x}" cy="{y}" r="12"/>',
        f'<text class="on" x="{x}" y="{y + 5}" text-anchor="middle">{number}</text>',
    ]


def _render_text(kind: str, x: int, y: int, text: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'


def render_all() -> dict[Path, str]:
    """Return the text of each drawing by its file."""
    return {FOLDER / f"{drawing.name}.svg": render_drawing(drawing) for drawing in DRAWINGS}


def main() -> None:
    """Write all drawings."""
    FOLDER.mkdir(exist_ok=True)
    for path, text in render_all().items():
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
