"""The context of the templates: texts as HTML, ids that are unique on a page, and the values of fields."""

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
    """The template context of one message or view for one reader.

    ``values`` is the state of its fields, as in Slack's payloads. ``place`` distinguishes it from all others on
    the page.
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
        """Return the characters of a text object, without interpreting any markup in it."""
        if not isinstance(value, Mapping):
            return ""
        text = str(value.get("text"))
        return text if value.get("emoji") is False else replace_names(text)

    def render_lines(self, text: object) -> Markup:
        """Render literal text with its line breaks."""
        return _BREAK.join(str(text).split("\n"))

    def render_mrkdwn(self, text: object) -> Markup:
        """Render a text that is always mrkdwn, such as a message's text."""
        return render_mrkdwn(str(text), self.names)

    def render_markdown(self, text: object) -> Markup:
        """Render a text that is always Markdown."""
        return render_markdown(str(text), self.names)

    def get_safe_address(self, url: object) -> str:
        """Return the address if a link may lead to it, else an empty string."""
        return get_safe_address(url)

    def render_link(self, url: object, label: str) -> Markup:
        """Render a link, or only its label where the address is not safe."""
        return render_link(url, label)

    def render_user(self, user_id: object) -> Markup:
        """Render a user's name."""
        return tokens.render_user(str(user_id), self.names)

    def render_channel(self, channel_id: object) -> Markup:
        """Render a channel's name."""
        return tokens.render_channel(str(channel_id), self.names)

    def render_group(self, name: object) -> Markup:
        """Render the name of a user group, or a broadcast such as ``here``."""
        return tokens.render_group(str(name))

    def get_emoji(self, element: Json) -> str:
        """Return the character of an emoji in rich text."""
        tone = element.get("skin_tone")
        codes = str(element.get("unicode") or "")
        sign = get_rich_emoji(str(element.get("name")), codes)
        return sign + get_rich_emoji(f"skin-tone-{tone}") if tone and not codes else sign

    def is_color(self, value: object) -> bool:
        """Return whether it is a color and nothing else, such as an address to fetch."""
        return isinstance(value, str) and _COLOR.fullmatch(value) is not None

    def render_date(self, element: Json) -> Markup:
        """Render the date of a rich text element."""
        texts = (str(element.get(key) or "") for key in ("format", "url", "fallback"))
        form, url, fallback = texts
        return render_date(element.get("timestamp"), form, self.names, url, fallback)

    def make_identifier(self, block: Json, element: Json, part: str = "") -> str:
        """Return an id that is unique on the page."""
        path = "\0".join((self.place, str(block.get("block_id")), str(element.get("action_id")), part))
        return f"bk-{blake2s(path.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"

    def is_shown(self, element: Json) -> bool:
        """Return whether the reader may see the element."""
        return self.names.reader in element.get("visible_to_user_ids", [self.names.reader])

    def encode_confirmation(self, element: Json) -> str:
        """Return the confirmation dialog of an element as JSON, or an empty string if it has none."""
        dialog = element.get("confirm")
        if not isinstance(dialog, Mapping):
            return ""
        texts = {name: self.read_plain_text(dialog.get(name)) for name in ("title", "text", "confirm", "deny")}
        return json.dumps({**texts, "style": str(dialog.get("style") or "")}, ensure_ascii=False)

    def list_chosen_options(self, block: Json, element: Json) -> list[Json]:
        """Return the chosen options."""
        setting = self._read_setting(block, element)
        return [setting] if isinstance(setting, Mapping) else list(setting or ())

    def read_field_value(self, block: Json, element: Json) -> str:
        """Return the value of a field that has no options."""
        return str(self._read_setting(block, element) or "")

    def list_menu_entries(self, element: Json, current: str) -> list[tuple[str, str]]:
        """Return the ids and names in a menu of users or conversations, its current value among them."""
        is_users = element.get("type") == "users_select"
        names = self.names.users if is_users else _filter_conversations(self.names.channels, element.get("filter"))
        entries = {**({current: current} if current else {}), **names}
        named = ((each, f"{'@' if is_users or _is_direct(each) else '#'}{name}") for each, name in entries.items())
        return sorted(named, key=lambda pair: pair[1].lower())

    def format_size(self, count: Any) -> str:
        """Format a number of bytes for people."""
        if not isinstance(count, int):
            return ""
        unit = next((unit for unit in _SIZES if count >= unit[0]), None)
        return f"{count / unit[0]:.1f} {unit[1]}" if unit else f"{count} bytes"

    def _read_setting(self, block: Json, element: Json) -> Any:
        """Return the value in the state, or the app's initial value where the state has none."""
        kind = KINDS[str(element.get("type"))]
        settings = self.values.get(str(block.get("block_id"))) or {}
        setting = settings.get(str(element.get("action_id")))
        return setting.get(kind.value_key) if isinstance(setting, Mapping) else element.get(kind.initial_key)


def _is_direct(conversation: str) -> bool:
    """Return whether it is a direct message conversation, which Slack's ids show by their first letter."""
    return conversation.startswith("D")


def _filter_conversations(conversations: Mapping[str, str], condition: object) -> Mapping[str, str]:
    """Return the conversations of the kinds in a menu's filter; by default all."""
    kinds = condition.get("include") if isinstance(condition, Mapping) else None
    if not kinds:
        return conversations
    rooms = not {"public", "private"}.isdisjoint(kinds)
    return {each: name for each, name in conversations.items() if ("im" in kinds if _is_direct(each) else rooms)}
