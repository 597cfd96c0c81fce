"""The command that plans the way from a pin to a later commit of the upstream repository."""

from __future__ import annotations

from pathlib import Path

import click

from bot.adapters.git import open_clone_trees
from bot.cli.base import (
    check_writable,
    get_current_time,
    open_command_foundation,
    show_progress_bar,
    write_text,
)
from bot.cli.grouped_help import format_example
from bot.cli.touches import read_list
from bot.domain.errors import UsageError
from bot.domain.profile.models import Profile
from bot.domain.profile.names import parse_profile_name
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import quote_input
from bot.domain.touches.profile_index import ProfileIndex
from bot.domain.touches.upgrade import build_upgrade_plan
from bot.ports.profile_json import parse_profile
from bot.render.touches.upgrade import render_upgrade
from bot.services.touches.clone_upgrade import HEAD, CloneUpgradeReader, scan_clone


@click.command(
    "upgrade",
    short_help="Plan the way from a pin to a later commit, as a checklist.",
    epilog=format_example("prdigest upgrade --upstream ../vllm --from 97f2f160fd --profile ../vllm-ascend"),
)
@click.option("--from", "start", metavar="PIN", required=True, help="The upstream commit that is in use.")
@click.option("--to", "end", metavar="COMMIT", default=HEAD, help="The upstream commit to go to. Default: HEAD.")
@click.option(
    "--profile",
    "profile_text",
    metavar="NAME|FILE|CLONE",
    required=True,
    help="A profile of the bot, one in a file, or a clone of the code that builds on upstream.",
)
@click.option(
    "--upstream",
    metavar="CLONE",
    required=True,
    type=click.Path(path_type=Path),
    help="A local git clone of the upstream repository. It is only read.",
)
@click.option("--branch", help="Branch of the upstream clone. Default: its default branch.")
@click.option(
    "--at", metavar="COMMIT", default="", help="Commit of the clone that is the profile. Default: its newest."
)
@click.option(
    "--package", "packages", metavar="NAME", multiple=True, help="Upstream package. Default: its own ones."
)
@click.option("--repo", metavar="OWNER/NAME", help="Upstream repository. Default: that of the clone's origin.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write. Default: stdout.")
def upgrade_command(  # noqa: PLR0913 (one argument for each option)
    start: str,
    end: str,
    profile_text: str,
    upstream: Path,
    *,
    branch: str | None,
    at: str,
    packages: tuple[str, ...],
    repo: str | None,
    out: Path | None,
) -> None:
    """Plan the way from a pin to a later commit: what is different at its end, by file of ours.

    What was changed and changed back on the way is left out. The result is Markdown, which a canvas takes.
    """
    check_writable(out)
    with open_clone_trees(upstream, branch) as trees, show_progress_bar("merge", "Merges") as show:
        reader = CloneUpgradeReader(trees, Repository.parse(repo) if repo else None, show)
        # before the merges, whose reading takes minutes
        profile = _load_profile(profile_text, at, packages or reader.detect_packages(start))
        way = reader.read_range(start, end)
        index = ProfileIndex(reader.link_profile(profile, way.start))
    text = render_upgrade(build_upgrade_plan(way, index), way.url)
    if out:
        write_text(out, text)
    else:
        click.echo(text, nl=False)


def _load_profile(text: str, at: str, packages: tuple[str, ...]) -> Profile:
    """Return the profile of a clone, a file or the store. Raises UsageError if there is none."""
    path = Path(text)
    if path.is_dir():
        with open_clone_trees(path) as trees:
            origin = trees.read_facts().repository
            name = origin.name if origin else path.resolve().name
            return scan_clone(trees, name, at, packages, get_current_time())
    if at:
        raise UsageError("--at needs a clone as --profile: leave it out.")
    return parse_profile(read_list(path)) if path.is_file() else _get_kept_profile(text)


def _get_kept_profile(text: str) -> Profile:
    """Return a profile of the store. Raises UsageError if there is none, and StoreUnavailable."""
    try:
        name = parse_profile_name(text)
    except UsageError as error:
        raise UsageError(f"There is no profile, file or clone {quote_input(text)}: name another one.") from error
    with open_command_foundation() as base:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        from bot.container.touches import build_profile_store  # noqa: PLC0415

        profile = build_profile_store(base).get_profile(name)
    if profile is None:
        raise UsageError(f"There is no profile, file or clone {quote_input(text)}: name another one.")
    return profile
