"""Messages and views of Slack's API as HTML that looks and works as in Slack."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from localslack.blockkit.names import Names
from localslack.blockkit.scene import Scene
from localslack.state.element_values import add_default_ids

Json = Mapping[str, Any]


def render_message(message: Json, names: Names, place: str = "") -> Markup:
    """Render a message: its blocks or else its text, then its attachments and files.

    ``place`` distinguishes copies of one message on a page, since ids on a page are unique.
    """
    scene = Scene(names, f"{place}/{message.get('channel')}/{message.get('ts')}", _read_values(message))
    return _render_macro("message", message, scene)


def render_view(view: Json, names: Names, place: str = "") -> Markup:
    """Render the content of a modal or of App Home, with its fields set as in the view's ``state``."""
    scene = Scene(names, f"{place}/{view.get('id')}", _read_values(view))
    return _render_macro("view", view, scene)


def _read_values(shown: Json) -> Mapping[str, Json]:
    state = shown.get("state")
    return (state.get("values") or {}) if isinstance(state, Mapping) else {}


def _render_macro(macro: str, shown: Json, scene: Scene) -> Markup:
    module = _make_environment().get_template("message.html").module
    blocks = add_default_ids(list(shown.get("blocks") or ()))
    return Markup(getattr(module, macro)({**shown, "blocks": blocks}, scene))  # noqa: S704 (a macro of templates that escape)


@cache
def _make_environment() -> Environment:
    """Return the template environment. Missing keys are empty, since Slack accepts incomplete objects."""
    return Environment(
        loader=PackageLoader("localslack.blockkit"),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
