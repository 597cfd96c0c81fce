"""The commands about the profiles that the bot keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.base import open_command_app, repo_option, require_repository
from bot.cli.grouped_help import format_example
from bot.domain.errors import UsageError
from bot.domain.profile.entries import ProfileEntry
from bot.domain.pull_requests.models import Repository
from bot.render.profile import sentences as render
from impact.profile.models import Profile
from impact.profile.names import parse_profile_name
from impact.profile.profile_json import NOT_A_PROFILE, dump_profile, parse_profile

if TYPE_CHECKING:
    from bot.services.profile.registry import ProfileRegistry

# a profile of vllm-ascend takes about 1 MB
_MAX_BYTES = 50 * 2**20


@click.group(
    "profile",
    help="Scan what a team's own tree uses of a repository, and keep it fresh.",
    epilog=format_example(
        "prdigest profile add ascend --repo vllm-project/vllm-ascend --upstream vllm-project/vllm"
    ),
)
def profile_group() -> None:
    """Group the commands about profiles."""


@profile_group.command(
    "add",
    short_help="Add a profile of a repository or of a file.",
    epilog=format_example(
        "prdigest profile add ascend --repo vllm-project/vllm-ascend --upstream vllm-project/vllm"
    ),
)
@click.argument("name")
@repo_option
@click.option("--upstream", metavar="OWNER/NAME", help="Repository that it builds on. Default: PRDIGEST_REPO.")
@click.option(
    "--file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A profile that prdigest profile scan wrote, in place of --repo.",
)
@click.option(
    "--package",
    "packages",
    metavar="NAME",
    multiple=True,
    help="Top-level package of the upstream. You can repeat it. Default: the name of the upstream.",
)
def add_command(
    name: str, repo: str | None, upstream: str | None, file: Path | None, packages: tuple[str, ...]
) -> None:
    """Add a profile: what a team's tree uses of a repository.

    With --repo, the bot scans that repository each day; its token needs to read it. With --file, the profile stays
    as it is until you add it again. It stays in the bot's store, and no model sees it.
    """
    if bool(repo) == bool(file):
        raise UsageError("Name what to add: either --repo owner/name or --file FILE.")
    profile = _read_profile(file) if file else None
    with _open_registry() as (registry, base_repository, web):
        from bot.services.profile.refresher import build_entry  # noqa: PLC0415 (imports the domain of scans)

        target = Repository.parse(upstream, web) if upstream else base_repository()
        source = Repository.parse(repo, web) if repo else None
        chosen = packages or (profile.packages if profile else ())
        entry = build_entry(parse_profile_name(name), target, chosen, source)
        registry.add(entry, profile)
        _print_result(registry.scan_now(entry.name) or entry)


@profile_group.command("list", short_help="List the profiles.", epilog=format_example("prdigest profile list"))
def list_command() -> None:
    """List the profiles that the bot keeps."""
    with _open_registry() as (registry, _, _):
        entries = registry.list_entries()
    for entry in entries:
        click.echo(render.format_entry(entry))
    if not entries:
        click.echo(render.NO_PROFILES, err=True)


@profile_group.command(
    "show", short_help="Show what a profile holds.", epilog=format_example("prdigest profile show ascend --uses")
)
@click.argument("name")
@click.option("--uses", "has_uses", is_flag=True, help="Show each use with its file and line.")
@click.option("--json", "is_json", is_flag=True, help="Print the profile as JSON, as --file takes it.")
def show_command(name: str, *, has_uses: bool, is_json: bool) -> None:
    """Show what a profile holds."""
    with _open_registry() as (registry, _, _):
        entry, profile = registry.get_profile(parse_profile_name(name))
    if is_json:
        if profile is None:
            raise UsageError(f"The profile {entry.name} was not scanned yet.")
        click.echo(dump_profile(profile))
        return
    for line in render.format_profile(entry, profile):
        click.echo(line)
    for line in render.format_uses(profile.uses if profile and has_uses else ()):
        click.echo(line)


@profile_group.command(
    "remove", short_help="Remove a profile.", epilog=format_example("prdigest profile remove ascend")
)
@click.argument("name")
def remove_command(name: str) -> None:
    """Remove a profile, with its hits and what people said about them."""
    with _open_registry() as (registry, _, _):
        registry.remove(parse_profile_name(name))
    click.echo("Removed.")


@contextmanager
def _open_registry() -> Iterator[tuple[ProfileRegistry, Callable[[], Repository], str]]:
    """Yield the registry, what returns the repository of the settings, and the address of GitHub's pages."""
    with open_command_app() as app:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        settings = app.settings
        yield app.profile_registry, lambda: require_repository(settings, None), settings.github_web_url


def _read_profile(file: Path) -> Profile:
    """Return the profile of a file. Raises UsageError."""
    if file.stat().st_size > _MAX_BYTES:
        raise UsageError(f"{file} is too large for a profile.")
    try:
        return parse_profile(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(NOT_A_PROFILE) from error


def _print_result(entry: ProfileEntry) -> None:
    """Print what was added. Raises UsageError if the scan failed."""
    if entry.problem:
        raise UsageError(f"{entry.name} was added, but the scan failed: {entry.problem} The clock tries each day.")
    click.echo(render.format_entry(entry))
