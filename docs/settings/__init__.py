"""What is generated from the settings: ``.env.example``, ``docs/settings.md`` and the chart's list of secrets."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic.fields import FieldInfo

from bot.platform.models import ModelProvider
from bot.platform.models.registry import PROVIDERS
from bot.settings import GROUPS, Process, SettingsGroup, format_default, get_setting_use, is_secret

_TEMPLATES = Path(__file__).parent
_ROOT = _TEMPLATES.parents[1]
_WIDTH = 115  # characters, as in the code
_CHART_HELPERS = _ROOT / "deploy" / "chart" / "templates" / "_helpers.tpl"
# secrets are in a Secret of their own, and no values of the chart; REDIS_URL has a password or none
_MAYBE_SECRET = "REDIS_URL"  # noqa: S105 (the name of a setting)


def render_documents() -> dict[Path, str]:
    """Return each document's text by its path."""
    # the output is no HTML, and an .env must not be escaped
    jinja = Environment(  # noqa: S701
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters.update(comment=wrap_comment, cell=format_cell)
    groups = [(group.heading, describe_group(group)) for group in GROUPS]
    targets = {_ROOT / ".env.example": "env.jinja", _ROOT / "docs" / "settings.md": "markdown.jinja"}
    pages = {path: jinja.get_template(name).render(groups=groups) for path, name in targets.items()}
    return {**pages, _CHART_HELPERS: list_secrets(_CHART_HELPERS.read_text(encoding="utf-8"))}


def list_secrets(helpers: str) -> str:
    """Return the templates of the chart with the settings that its values may not have.

    Raises:
        LookupError: the templates have no such list.
    """
    fields = (item for group in GROUPS for item in group.model_fields.items())
    secrets = [name.upper() for name, field in fields if is_secret(field) and name.upper() != _MAYBE_SECRET]
    names = " ".join(f'"{name}"' for name in secrets)
    text, count = re.subn(r"(?<=\$secrets := list )[^-]*(?= -)", names, helpers)
    if count != 1:
        raise LookupError(f"{_CHART_HELPERS.name} has no list of refused settings")
    return text


def describe_group(group: type[SettingsGroup]) -> list[dict[str, object]]:
    """Return what the templates show of each setting of a group."""
    return [describe_setting(name.upper(), field) for name, field in group.model_fields.items()]


def describe_setting(variable: str, field: FieldInfo) -> dict[str, object]:
    """Return what the templates show of a setting. Raises LookupError where it has no description."""
    if not field.description:
        raise LookupError(f"{variable} has no description")
    use = get_setting_use(field)
    examples = field.examples or []
    return {
        "variable": variable,
        "description": field.description.replace("{providers}", list_providers()),
        "default": format_default(field),
        "examples": [each for each in examples if "\n" not in each],
        "files": [each for each in examples if "\n" in each],
        "read_by": "all" if set(use.processes) == set(Process) else ", ".join(use.processes),
        "secret": "" if not is_secret(field) else "may be" if use.may_be_secret else "yes",
    }


def list_providers(providers: Sequence[ModelProvider] = PROVIDERS) -> str:
    """Return the names of the providers of models, each with where its models run."""
    *others, last = (f"`{each.choice}` ({each.place})" for each in providers)
    return f"{', '.join(others)} or {last}"


def wrap_comment(text: str) -> str:
    """Return a paragraph as comment lines."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def format_cell(text: str) -> str:
    """Return text for a cell of a Markdown table, with bars escaped."""
    return text.replace("|", r"\|")
