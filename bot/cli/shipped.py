"""``prdigest manifest`` and ``prdigest env``: the files for the set-up, also without a checkout."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import click

from bot.cli.grouped_help import format_example
from bot.platform.slack.app_manifest import add_previews
from bot.settings import load_settings

# the folder of the wheel, and the top of a checkout, which has no copy in that folder
_SHIPPED_FOLDERS = (Path(__file__).parents[1] / "shipped", Path(__file__).parents[2])


@click.command(
    "manifest",
    short_help="Print the manifest that a Slack app is created from.",
    epilog=format_example("prdigest manifest > manifest.json"),
)
@click.option("--previews", is_flag=True, help="With what previews of links need, which are off without it.")
def manifest_command(*, previews: bool) -> None:
    """Print the manifest for creating the Slack app."""
    content = _read_shipped_file("manifest.json")
    if previews:
        manifest = add_previews(json.loads(content), urlsplit(load_settings().github_web_url).netloc)
        content = f"{json.dumps(manifest, indent=2)}\n".encode()
    click.echo(content, nl=False)


@click.command(
    "env",
    short_help="Print .env.example, which explains every setting.",
    epilog=format_example("prdigest env > .env"),
)
def env_command() -> None:
    """Print .env.example with all settings. Save it as .env and fill it in."""
    click.echo(_read_shipped_file(".env.example"), nl=False)


def _read_shipped_file(name: str) -> bytes:
    """Return the bytes of the file of that name."""
    place = next(place for place in _SHIPPED_FOLDERS if (place / name).is_file())
    return (place / name).read_bytes()
