"""The commands about profiles: those that the bot keeps, and a scan of a tree on this machine."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from bot.cli.base import (
    CLONE,
    FILE,
    check_writable,
    find_kept_repository,
    format_example,
    get_current_time,
    open_command_app,
    show_progress_bar,
    write_text,
)
from bot.errors import UsageError
from bot.features.profiles import view
from bot.platform.cleaning import clean_code
from bot.platform.git.reading import open_clone_trees
from bot.settings.values import parse_slack_ids
from impact.clones.kept_readings import find_kept_readings
from impact.clones.tree_scan import scan_tree
from impact.git.working_tree import read_working_tree
from impact.profile.manual import MAX_BYTES, ManualFile, parse_manual
from impact.profile.models import NOT_A_PROFILE, Profile, dump_profile, parse_profile, parse_profile_name
from impact.repository import Repository

# a profile of vllm-ascend takes about 1 MB
_MAX_BYTES = 50 * 2**20
_DEFAULT_PACKAGE = "vllm"
_ADD_EXAMPLE = format_example(
    "prdigest profile add ascend --repo vllm-project/vllm-ascend --upstream vllm-project/vllm"
)


@click.group(
    "profile", help="Scan what a team's own tree uses of a repository, and keep it fresh.", epilog=_ADD_EXAMPLE
)
def profile_group() -> None:
    pass


@profile_group.command("add", short_help="Add a profile of a repository or of a file.", epilog=_ADD_EXAMPLE)
@click.argument("name")
@click.option("--repo", metavar="OWNER/NAME", help="Repository of the team's tree, which the bot scans each day.")
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
@click.option(
    "--for",
    "owners",
    metavar="ID",
    multiple=True,
    help="Channel (C…) or person (U…) that may see it. You can repeat it. Default: as before, else all.",
)
def add_command(
    name: str,
    repo: str | None,
    upstream: str | None,
    file: Path | None,
    packages: tuple[str, ...],
    owners: tuple[str, ...],
) -> None:
    """Add a profile: what a team's tree uses of a repository.

    With --repo, the bot scans that repository each day; its token needs to read it. With --file, the profile stays
    as it is until you add it again. It stays in the bot's store, and no model sees it.

    Guests and people of other workspaces see it in channels whose digests use it, and where --for says so.
    """
    if bool(repo) == bool(file):
        raise UsageError("Name what to add: either --repo owner/name or --file FILE.")
    profile = _read_profile(file) if file else None
    with open_command_app() as app:
        from bot.features.profiles.service import ProfileEntry  # noqa: PLC0415
        from bot.features.touches.tasks import add_profile  # noqa: PLC0415

        web = app.settings.github_web_url
        source = Repository.parse(repo, web) if repo else None
        target = find_kept_repository(app, upstream)
        chosen = packages or (profile.packages if profile else ())
        added = ProfileEntry.build(parse_profile_name(name), target, chosen, source)
        before = app.profiles.get_entry(added.name)
        known_owners = sorted(parse_slack_ids(",".join(owners))) if owners else before.owners if before else ()
        entry = add_profile(app, replace(added, owners=tuple(known_owners)), profile)
    if entry.problem and profile is None:
        raise UsageError(f"{entry.name} was added, but the scan failed: {entry.problem} The clock tries each day.")
    click.echo(view.format_entry(replace(entry, problem="")))
    if entry.problem:
        # the file has all that the scan found; its names are looked up in upstream later
        click.echo(
            f"Its names are not looked up in {entry.upstream} yet; the clock tries each day: {entry.problem}"
        )


@profile_group.command("list", short_help="List the profiles.", epilog=format_example("prdigest profile list"))
def list_command() -> None:
    """List the profiles that the bot keeps."""
    with open_command_app() as app:
        entries = app.profiles.list_entries()
    for entry in entries:
        click.echo(view.format_entry(entry))
    if not entries:
        click.echo("No profiles yet: prdigest profile add NAME --repo owner/name adds one.", err=True)


@profile_group.command(
    "show", short_help="Show what a profile holds.", epilog=format_example("prdigest profile show ascend --uses")
)
@click.argument("name")
@click.option("--uses", "has_uses", is_flag=True, help="Show each use with its file and line.")
@click.option("--json", "is_json", is_flag=True, help="Print the profile as JSON, as --file takes it.")
def show_command(name: str, *, has_uses: bool, is_json: bool) -> None:
    """Show what a profile holds."""
    with open_command_app() as app:
        from bot.features.touches.tasks import require_entry  # noqa: PLC0415

        entry = require_entry(app, parse_profile_name(name))
        profile = app.profiles.get_profile(entry.name)
    if is_json:
        if profile is None:
            raise UsageError(f"The profile {entry.name} was not scanned yet.")
        click.echo(dump_profile(profile))
        return
    for line in view.format_kept_profile(entry, profile, has_uses=has_uses):
        click.echo(line)


@profile_group.command(
    "remove", short_help="Remove a profile.", epilog=format_example("prdigest profile remove ascend")
)
@click.argument("name")
def remove_command(name: str) -> None:
    """Remove a profile, with its warnings and what people said about them."""
    with open_command_app() as app:
        from bot.features.touches.tasks import remove_profile  # noqa: PLC0415

        remove_profile(app, parse_profile_name(name))
    click.echo("Removed.")


def _read_profile(file: Path) -> Profile:
    """Return the profile of a file. Raises UsageError."""
    if file.stat().st_size > _MAX_BYTES:
        raise UsageError(f"{file} is too large for a profile.")
    try:
        return parse_profile(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(NOT_A_PROFILE) from error


@profile_group.command(
    "scan",
    short_help="Scan a folder for its uses of an upstream repository.",
    epilog=format_example("prdigest profile scan ../vllm-ascend --upstream ../vllm --out ascend.yaml"),
)
@click.argument("path", type=CLONE)
@click.option("--name", help="Name of the profile. Default: the folder's.")
@click.option(
    "--upstream",
    metavar="CLONE",
    type=CLONE,
    help="A local git clone of upstream, to find out where it defines what is used. It is only read.",
)
@click.option(
    "--package",
    "packages",
    metavar="NAME",
    multiple=True,
    default=(_DEFAULT_PACKAGE,),
    show_default=True,
    help="A top-level Python package of upstream. Repeat it for several.",
)
@click.option("--manual", metavar="FILE", type=FILE, help="A YAML file of what to add by hand and what to ignore.")
@click.option(
    "--out",
    metavar="FILE",
    type=FILE,
    help="Write every use to this file: YAML to review if it ends in .yaml, JSON otherwise.",
)
def scan_command(
    path: Path,
    name: str | None,
    upstream: Path | None,
    packages: tuple[str, ...],
    manual: Path | None,
    out: Path | None,
) -> None:
    """Scan a folder for its uses of an upstream repository, and print what there is of each kind.

    PATH is a folder or a git clone; the files are read as they are on disk, and none of them is run. With
    --upstream, each use is linked to where upstream defines it, and what only the team defines is left out. It is
    read at the commit or version that the tree pins, or else at its newest commit.
    """
    check_writable(out)
    rules = _read_manual(manual)
    files, kept = read_working_tree(path, clean_code), find_kept_readings(os.environ)
    with ExitStack() as stack:
        trees = stack.enter_context(open_clone_trees(upstream)) if upstream else None
        show = stack.enter_context(show_progress_bar("file", "Files"))
        now = get_current_time()
        scan = scan_tree(path, name, packages, files, now, upstream=trees, manual=rules, progress=show, kept=kept)
    if out:
        is_yaml = out.suffix in (".yaml", ".yml")
        write_text(out, view.format_profile_yaml(scan.profile) if is_yaml else dump_profile(scan.profile))
    click.echo(view.format_scan(scan))


def _read_manual(path: Path | None) -> ManualFile | None:
    """Return what a file adds and ignores. Raises UsageError if it can't be read or is wrong."""
    if path is None:
        return None
    try:
        with path.open(encoding="utf-8") as file:
            return parse_manual(file.read(MAX_BYTES + 1))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read as text: choose another file.") from error
