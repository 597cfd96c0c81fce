"""The command that scans a tree on this machine; it belongs to those about profiles."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from bot.adapters.git import open_clone_trees
from bot.adapters.records.cleaning import clean_code
from bot.cli.base import check_writable, get_current_time, write_text
from bot.cli.grouped_help import format_example
from bot.cli.profile.store import profile_group
from bot.domain.errors import UsageError
from bot.render.profile.overview import format_profile, format_profile_yaml
from impact.clones.tree_scan import ScanSource, scan_tree
from impact.git.working_tree import find_head, read_working_tree
from impact.profile.manual import MAX_BYTES, ManualFile, parse_manual
from impact.profile.profile_json import dump_profile

__all__ = ["profile_group", "scan_command"]

_DEFAULT_PACKAGE = "vllm"
_YAML = frozenset({".yaml", ".yml"})


@profile_group.command(
    "scan",
    short_help="Scan a folder for its uses of an upstream repository.",
    epilog=format_example("prdigest profile scan ../vllm-ascend --upstream ../vllm --out ascend.yaml"),
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="Name of the profile. Default: the folder's.")
@click.option(
    "--upstream",
    metavar="CLONE",
    type=click.Path(path_type=Path),
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
@click.option(
    "--manual",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A YAML file of what to add by hand and what to ignore.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
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
    --upstream, each use is linked to where upstream defines it, and what only the team defines is left out.
    """
    check_writable(out)
    rules = _read_manual(manual)
    source = ScanSource(name or path.resolve().name, str(path), find_head(path), packages)
    with ExitStack() as stack:
        trees = stack.enter_context(open_clone_trees(upstream)) if upstream else None
        profile = scan_tree(
            source, read_working_tree(path, clean_code), get_current_time(), upstream=trees, manual=rules
        )
    if out:
        write_text(out, format_profile_yaml(profile) if out.suffix in _YAML else dump_profile(profile))
    click.echo(format_profile(profile))


def _read_manual(path: Path | None) -> ManualFile | None:
    """Return what a file adds and ignores. Raises UsageError if it can't be read or is wrong."""
    if path is None:
        return None
    try:
        with path.open(encoding="utf-8") as file:
            return parse_manual(file.read(MAX_BYTES + 1))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read as text: choose another file.") from error
