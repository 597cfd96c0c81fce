"""Messages and views as Slack's API has them, as HTML that looks and works as it does in Slack."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from localslack.blockkit.names import Names
from localslack.blockkit.scene import Scene
from localslack.state.element_values import named

Json = Mapping[str, Any]


def message_html(message: Json, names: Names, place: str = "") -> Markup:
    """What a message says: its blocks, or else its text; then attachments and files.

    ``place`` tells a message that is on a page more than once from itself, as ids on a page are unique.
    """
    scene = Scene(names, f"{place}/{message.get('channel')}/{message.get('ts')}", _values(message))
    return _shown("message", message, scene)


def view_html(view: Json, names: Names, place: str = "") -> Markup:
    """The inside of a modal or of Home, its fields as ``state`` says that they are set."""
    scene = Scene(names, f"{place}/{view.get('id')}", _values(view))
    return _shown("view", view, scene)


def _values(shown: Json) -> Mapping[str, Json]:
    state = shown.get("state")
    return (state.get("values") or {}) if isinstance(state, Mapping) else {}


def _shown(macro: str, shown: Json, scene: Scene) -> Markup:
    module = _environment().get_template("message.html").module
    blocks = named(list(shown.get("blocks") or ()))
    return Markup(getattr(module, macro)({**shown, "blocks": blocks}, scene))  # noqa: S704 (a macro of templates that escape)


@cache
def _environment() -> Environment:
    """Missing keys are empty: what Slack refuses never comes here, and what it takes need not be whole."""
    return Environment(
        loader=PackageLoader("localslack.blockkit"),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
