"""The command that plans the way from a pin to a later commit of the upstream repository."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.base import (
    check_writable,
    out_option,
    show_progress_bar,
    write_text,
)
from bot.cli.clone_options import make_branch_option, make_clone_option
from bot.cli.grouped_help import format_example
from bot.cli.touches.profile_option import load_profile
from bot.domain.pull_requests.models import Repository
from bot.platform.git.clones import open_clone_trees
from bot.render.touches.upgrade import render_upgrade
from impact.clones.clone_upgrade import HEAD, CloneUpgradeReader
from impact.touches.profile_index import ProfileIndex
from impact.touches.upgrade import build_upgrade_plan


@click.command(
    "upgrade",
    short_help="Plan the way from a pin to a later commit, as a checklist.",
    epilog=format_example("prdigest upgrade --upstream ../vllm --from 97f2f160fd --profile ../vllm-ascend"),
)
@click.option("--from", "start", metavar="PIN", required=True, help="The upstream commit or tag in use.")
@click.option("--to", "end", metavar="COMMIT", default=HEAD, help="The commit or tag to go to. Default: HEAD.")
@click.option(
    "--profile",
    "profile_text",
    metavar="NAME|FILE|CLONE",
    required=True,
    help="A profile of the bot, one in a file, or a clone of the code that builds on upstream.",
)
@make_clone_option("--upstream", " of the upstream repository")
@make_branch_option("--branch", " of the upstream clone")
@click.option(
    "--at", metavar="COMMIT", default="", help="Commit of the clone that is the profile. Default: its newest."
)
@click.option(
    "--package", "packages", metavar="NAME", multiple=True, help="Upstream package. Default: its own ones."
)
@click.option("--repo", metavar="OWNER/NAME", help="Upstream repository. Default: that of the clone's origin.")
@out_option
def upgrade_command(
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
        profile = load_profile(profile_text, at, packages or reader.detect_packages(start))
        way = reader.read_range(start, end)
        index = ProfileIndex(reader.link_profile(profile, way.start))
    text = render_upgrade(build_upgrade_plan(way, index), way.url, start)
    if out:
        write_text(out, text)
    else:
        click.echo(text, nl=False)
