"""Messages and views as Slack's API has them, as HTML that looks and works as it does in Slack."""

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
    """Render a message: its blocks, or else its text; then attachments and files.

    ``place`` tells a message that is on a page more than once from itself, as ids on a page are unique.
    """
    scene = Scene(names, f"{place}/{message.get('channel')}/{message.get('ts')}", _read_values(message))
    return _render_macro("message", message, scene)


def render_view(view: Json, names: Names, place: str = "") -> Markup:
    """Render the inside of a modal or of Home, its fields as ``state`` says that they are set."""
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
    """Return the templates. Missing keys are empty: what Slack takes need not be whole."""
    return Environment(
        loader=PackageLoader("localslack.blockkit"),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
