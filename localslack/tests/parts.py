"""Builders of Slack's blocks and of what is in them."""

from typing import Any

Json = dict[str, Any]


def mrkdwn(text: str, **more: Any) -> Json:
    return {"type": "mrkdwn", "text": text, **more}


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def section(text: Any = "x", **more: Any) -> Json:
    return {"type": "section", "text": mrkdwn(text) if isinstance(text, str) else text, **more}


def header(text: str = "x") -> Json:
    return {"type": "header", "text": plain(text)}


def button(**more: Any) -> Json:
    return {"type": "button", "text": plain("x"), **more}


def option(value: str = "x", **more: Any) -> Json:
    return {"text": plain(value[:75]), "value": value, **more}


def options(count: int, start: int = 0) -> list[Json]:
    return [option(str(n)) for n in range(start, start + count)]


def group(*choices: Json, label: str = "x") -> Json:
    return {"label": plain(label), "options": list(choices)}


def menu(kind: str = "static_select", *choices: Json, **more: Any) -> Json:
    """An element with choices, named after its kind; without choices, one that finds its own."""
    return {"type": kind, "action_id": kind, **({"options": list(choices)} if choices else {}), **more}


def entry(element: Json, **more: Any) -> Json:
    """An input block."""
    return {"type": "input", "label": plain("x"), "element": element, **more}


def confirm(**more: Any) -> Json:
    return {"title": plain("x"), "text": plain("x"), "confirm": plain("x"), "deny": plain("x"), **more}


def modal(*blocks: Json, **more: Any) -> Json:
    return {"type": "modal", "title": plain("x"), "submit": plain("x"), "blocks": list(blocks), **more}


def home(*blocks: Json, **more: Any) -> Json:
    return {"type": "home", "blocks": list(blocks), **more}


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements), **more}


def context(*elements: Json) -> Json:
    return {"type": "context", "elements": list(elements)}


def rich(*elements: Json) -> Json:
    return {"type": "rich_text", "elements": list(elements)}


def part(kind: str, *elements: Json, **more: Any) -> Json:
    return {"type": f"rich_text_{kind}", "elements": list(elements), **more}


def word(text: str = "x", **more: Any) -> Json:
    return {"type": "text", "text": text, **more}


def link(url: str = "https://example.com/1", **more: Any) -> Json:
    return {"type": "link", "url": url, **more}


def inline(*elements: Json) -> Json:
    return rich(part("section", *elements))


def bullets(**more: Any) -> Json:
    return rich(part("list", part("section", word()), **{"style": "bullet", **more}))


def table(rows: int = 1, columns: int = 1, text: str = "x", **more: Any) -> Json:
    cells = [[{"type": "raw_text", "text": text} for _ in range(columns)] for _ in range(rows)]
    return {"type": "table", "rows": cells, **more}


def data_table(rows: int = 2, **more: Any) -> Json:
    return {"caption": "x", **table(rows), "type": "data_table", **more}


def markdown(text: str = "x") -> Json:
    return {"type": "markdown", "text": text}


IMAGE: Json = {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "x"}
FEEDBACK: Json = {
    "type": "feedback_buttons",
    "positive_button": {"text": plain("Good"), "value": "good"},
    "negative_button": {"text": plain("Bad"), "value": "bad"},
}
