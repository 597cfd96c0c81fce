"""The emoji that Slack's users write most, by Slack's names."""

from __future__ import annotations

import re

# pairs of a name and its character; Slack has some 3,000, and custom ones that have only a name
_NAMES_AND_SIGNS = (
    "tada 🎉 rocket 🚀 fire 🔥 warning ⚠️ x ❌ heavy_check_mark ✔️ white_check_mark ✅ "
    "thumbsup 👍 +1 👍 thumbsdown 👎 -1 👎 eyes 👀 heart ❤️ wave 👋 smile 😄 "
    "slightly_smiling_face 🙂 grinning 😀 joy 😂 thinking_face 🤔 bulb 💡 memo 📝 pencil ✏️ "
    "bug 🐛 lock 🔒 unlock 🔓 key 🔑 wrench 🔧 hammer 🔨 gear ⚙️ package 📦 books 📚 book 📖 mag 🔍 "
    "link 🔗 bell 🔔 no_bell 🔕 calendar 📅 date 📅 spiral_calendar_pad 🗓️ clock1 🕐 "
    "hourglass ⌛ hourglass_flowing_sand ⏳ stopwatch ⏱️ chart_with_upwards_trend 📈 "
    "chart_with_downwards_trend 📉 bar_chart 📊 zap ⚡ star ⭐ sparkles ✨ boom 💥 "
    "construction 🚧 rotating_light 🚨 red_circle 🔴 large_blue_circle 🔵 "
    "large_green_circle 🟢 large_yellow_circle 🟡 white_circle ⚪ black_circle ⚫ arrow_up ⬆️ "
    "arrow_down ⬇️ arrow_right ➡️ arrow_left ⬅️ arrows_counterclockwise 🔄 repeat 🔁 "
    "leftwards_arrow_with_hook ↩️ question ❓ exclamation ❗ no_entry ⛔ no_entry_sign 🚫 "
    "octagonal_sign 🛑 speech_balloon 💬 robot_face 🤖 pray 🙏 clap 👏 muscle 💪 ok_hand 👌 "
    "point_right 👉 point_down 👇 raised_hands 🙌 100 💯 wastebasket 🗑️ paperclip 📎 pushpin 📌 "
    "email 📧 computer 💻 test_tube 🧪 shield 🛡️ recycle ♻️ new 🆕 sunny ☀️ snowflake ❄️ "
    "coffee ☕ beers 🍻 cake 🍰 checkered_flag 🏁 trophy 🏆 dart 🎯"
).split()
EMOJI = dict(zip(_NAMES_AND_SIGNS[::2], _NAMES_AND_SIGNS[1::2], strict=True))
_TONES = {f"skin-tone-{number}": chr(0x1F3F9 + number) for number in range(2, 7)}
_NAME = re.compile(r":([A-Za-z0-9_+'-]{1,60}):")
_CODES = re.compile(r"[0-9a-f]{1,6}(?:-[0-9a-f]{1,6}){0,9}", re.I)


def get_emoji(name: str) -> str:
    """Return the character for this name, or the name between colons if it is not in the table."""
    return EMOJI.get(name.lower()) or _TONES.get(name) or f":{name}:"


def replace_names(text: str) -> str:
    """Return the text with each emoji name replaced by its character."""
    return _NAME.sub(lambda match: get_emoji(match[1]), text)


def get_rich_emoji(name: str, codes: str = "") -> str:
    """Return the emoji of a rich text element: by its code points (``1f44b-1f3fb``), or else by name."""
    points = [int(code, 16) for code in codes.split("-")] if _CODES.fullmatch(codes) else []
    drawn = all(0x20 <= point < 0xD800 or 0xE000 <= point <= 0x10FFFF for point in points)
    return "".join(map(chr, points)) if points and drawn else get_emoji(name)
