"""What the templates ask for: texts as HTML, ids that are one of their kind on a page, what fields are set to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2s
from typing import Any

from markupsafe import Markup, escape

from localslack.blockkit import tokens
from localslack.blockkit.dates import render_date
from localslack.blockkit.emoji import get_rich_emoji, replace_names
from localslack.blockkit.links import get_safe_address, render_link
from localslack.blockkit.markdown import render_markdown
from localslack.blockkit.mrkdwn import render_mrkdwn
from localslack.blockkit.names import Names
from localslack.state.element_values import KINDS

Json = Mapping[str, Any]
_BREAK = Markup("<br>")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_SIZES = ((1_000_000, "MB"), (1_000, "kB"))


@dataclass(frozen=True, slots=True)
class Scene:
    """One message or view for one reader. ``values`` is the state of its fields, as Slack tells apps of it.

    ``place`` tells it from all others on the page.
    """

    names: Names
    place: str
    values: Mapping[str, Json]

    def render_text(self, value: Any) -> Markup:
        """Render a text object."""
        if not isinstance(value, Mapping):
            return escape("" if value is None else value)
        if value.get("type") == "mrkdwn":
            return render_mrkdwn(str(value.get("text")), self.names, verbatim=bool(value.get("verbatim")))
        return self.render_lines(self.read_plain_text(value))

    def read_plain_text(self, value: Any) -> str:
        """Read a text object in which there is no markup, or only the signs of it are seen."""
        if not isinstance(value, Mapping):
            return ""
        said = str(value.get("text"))
        return said if value.get("emoji") is False else replace_names(said)

    def render_lines(self, text: object) -> Markup:
        """Render literal text with its line breaks."""
        return _BREAK.join(str(text).split("\n"))

    def render_mrkdwn(self, text: object) -> Markup:
        """Render a text that is markup wherever it stands, such as that of a message."""
        return render_mrkdwn(str(text), self.names)

    def render_markdown(self, text: object) -> Markup:
        """Render a text that is Markdown wherever it stands."""
        return render_markdown(str(text), self.names)

    def get_safe_address(self, url: object) -> str:
        """Return the address if it may be followed, else nothing."""
        return get_safe_address(url)

    def render_link(self, url: object, label: str) -> Markup:
        """Render a link, or its label alone."""
        return render_link(url, label)

    def render_user(self, known: object) -> Markup:
        """Render a user's name."""
        return tokens.render_user(str(known), self.names)

    def render_channel(self, known: object) -> Markup:
        """Render a channel's name."""
        return tokens.render_channel(str(known), self.names)

    def render_group(self, name: object) -> Markup:
        """Render a group's name, or that of everybody in a place."""
        return tokens.render_group(str(name))

    def get_emoji(self, element: Json) -> str:
        """Return the sign of a rich text's emoji."""
        tone = element.get("skin_tone")
        codes = str(element.get("unicode") or "")
        sign = get_rich_emoji(str(element.get("name")), codes)
        return sign + get_rich_emoji(f"skin-tone-{tone}") if tone and not codes else sign

    def is_color(self, value: object) -> bool:
        """Return whether it is a colour and nothing else, such as an address to fetch one from."""
        return isinstance(value, str) and _COLOR.fullmatch(value) is not None

    def render_date(self, element: Json) -> Markup:
        """Render the instant of a rich text's date."""
        said = (str(element.get(key) or "") for key in ("format", "url", "fallback"))
        form, url, fallback = said
        return render_date(element.get("timestamp"), form, self.names, url, fallback)

    def make_identifier(self, block: Json, element: Json, part: str = "") -> str:
        """Return an id that nothing else on the page has."""
        named = "\0".join((self.place, str(block.get("block_id")), str(element.get("action_id")), part))
        return f"bk-{blake2s(named.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"

    def is_shown(self, element: Json) -> bool:
        """Return whether the reader is among those for whom it is."""
        return self.names.reader in element.get("visible_to_user_ids", [self.names.reader])

    def encode_confirmation(self, element: Json) -> str:
        """Return what is asked before it is used, as JSON; nothing if nothing is asked."""
        asked = element.get("confirm")
        if not isinstance(asked, Mapping):
            return ""
        told = {name: self.read_plain_text(asked.get(name)) for name in ("title", "text", "confirm", "deny")}
        return json.dumps({**told, "style": str(asked.get("style") or "")}, ensure_ascii=False)

    def list_chosen_options(self, block: Json, element: Json) -> list[Json]:
        """Return the options that are chosen."""
        found = self._read_setting(block, element)
        return [found] if isinstance(found, Mapping) else list(found or ())

    def read_field_value(self, block: Json, element: Json) -> str:
        """Return what a field holds that has no options."""
        return str(self._read_setting(block, element) or "")

    def list_menu_entries(self, element: Json, known: str) -> list[tuple[str, str]]:
        """Return ids and names that a menu of users or conversations has, and the one that it is set to."""
        is_users = element.get("type") == "users_select"
        names = self.names.users if is_users else _filter_conversations(self.names.channels, element.get("filter"))
        there = {**({known: known} if known else {}), **names}
        named = ((each, f"{'@' if is_users or _is_direct(each) else '#'}{name}") for each, name in there.items())
        return sorted(named, key=lambda pair: pair[1].lower())

    def format_size(self, count: Any) -> str:
        """Format a number of bytes for people."""
        if not isinstance(count, int):
            return ""
        unit = next((unit for unit in _SIZES if count >= unit[0]), None)
        return f"{count / unit[0]:.1f} {unit[1]}" if unit else f"{count} bytes"

    def _read_setting(self, block: Json, element: Json) -> Any:
        """Return the setting as the state has it, or as the app says it is at first where it has none."""
        kind = KINDS[str(element.get("type"))]
        settings = self.values.get(str(block.get("block_id"))) or {}
        setting = settings.get(str(element.get("action_id")))
        return setting.get(kind.value_key) if isinstance(setting, Mapping) else element.get(kind.initial_key)


def _is_direct(conversation: str) -> bool:
    """Return whether it is direct messages: Slack's ids say it by their first letter."""
    return conversation.startswith("D")


def _filter_conversations(conversations: Mapping[str, str], wanted: object) -> Mapping[str, str]:
    """Return those of the kinds that a menu asks for: by default of all."""
    kinds = wanted.get("include") if isinstance(wanted, Mapping) else None
    if not kinds:
        return conversations
    rooms = not {"public", "private"}.isdisjoint(kinds)
    return {each: name for each, name in conversations.items() if ("im" in kinds if _is_direct(each) else rooms)}
