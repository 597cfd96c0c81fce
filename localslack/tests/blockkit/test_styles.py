"""The colours can be told apart in both themes, and the styles ask nobody for anything."""

import re
from importlib.resources import files

import pytest

STATIC = files("localslack.page").joinpath("static")
THEME = STATIC.joinpath("theme.css").read_text(encoding="utf-8")
BLOCKS = STATIC.joinpath("blocks.css").read_text(encoding="utf-8")
TEMPLATES = [
    template.read_text(encoding="utf-8")
    for template in files("localslack.blockkit").joinpath("templates").iterdir()
    if template.name.endswith(".html")
]
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", THEME)
}
GROUNDS = ("bg", "bg-side", "hover")
TEXTS = [
    *((text, ground) for text in ("fg", "muted", "link", "error", "good") for ground in GROUNDS),
    *((f"{name}-fg", name) for name in ("accent", "primary", "danger", "rail", "rail-on")),
    *((f"{name}-fg", f"{name}-bg") for name in ("code", "mention", "mine")),
    ("fg", "code-bg"),
    ("bg", "link"),
]
# what is no text: frames of fields and what shows the focus
FRAMES = [(name, "bg") for name in ("edge", "focus")]


def luminance(colour: str) -> float:
    """As WCAG 2.2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Of two colours, from 1 to 21."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground", "least"), [*((*pair, 4.5) for pair in TEXTS), *((*pair, 3) for pair in FRAMES)]
)
def test_what_is_read_stands_out(text: str, ground: str, least: float, theme: int) -> None:
    assert contrast(COLOURS[text][theme], COLOURS[ground][theme]) >= least


def test_every_colour_that_is_used_is_one_of_the_theme() -> None:
    used = set(re.findall(r"var\(--([\w-]+)\)", BLOCKS))
    assert used - {*COLOURS, "shadow"} == set()


@pytest.mark.parametrize("sheet", [THEME, BLOCKS], ids=["theme", "blocks"])
def test_styles_load_nothing(sheet: str) -> None:
    assert re.findall(r"@import|url\(|@font-face|https?:", sheet) == []


def test_templates_have_no_styles_scripts_or_images_of_their_own() -> None:
    assert re.findall(r"<script|<style|<img|<iframe|\sstyle=|\son\w+=|\|\s*safe", "".join(TEMPLATES)) == []


def test_every_class_of_a_template_has_a_style() -> None:
    named = set(re.findall(r"(?<![\w{-])bk-[a-z][a-z-]*[a-z](?![\w{-])", "".join(TEMPLATES)))
    # what only says of what kind something is
    plain = {"bk-good", "bk-bad", "bk-rich"}
    assert {name for name in named - plain if f".{name}" not in BLOCKS} == set()
