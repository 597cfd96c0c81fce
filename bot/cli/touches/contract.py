"""The command that prints what merges change for others."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.base import show_progress_bar
from bot.cli.clone_options import branch_option, dates_options, parse_dates
from bot.cli.grouped_help import format_example
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.platform.git.clones import open_clone_trees
from bot.render.contract.table import format_contract_json, format_contract_table
from bot.settings import load_settings
from impact.clones.clone_contracts import read_clone_contracts
from impact.contract.table import list_net_rows, list_rows, select_rows


@click.command(
    "contract",
    short_help="Print what merges change for those who build on the code.",
    epilog=format_example("prdigest contract --clone ../vllm --since 2026-02-22 --until 2026-02-28"),
)
@dates_options
@click.option(
    "--clone", metavar="PATH", type=click.Path(path_type=Path), help="A local git clone. It is only read."
)
@click.option("--repo", metavar="OWNER/NAME", help="Repository. Default: the one that its merges name.")
@branch_option
@click.option("--net", "is_net", is_flag=True, help="Print only what is different after all merges together.")
@click.option("--json", "for_scripts", is_flag=True, help="Print a JSON list.")
def contract_command(
    since: str,
    until: str,
    clone: Path | None,
    repo: str | None,
    branch: str | None,
    *,
    is_net: bool,
    for_scripts: bool,
) -> None:
    """Print what the merges of some dates change for others, by class, what was removed first.

    Python names, signatures, variables, flags, configuration fields, endpoints, metrics, wire formats, ops, entry
    points and dependencies. Both versions of each changed file are compared; no model is asked.
    """
    dates = parse_dates(since, until)
    if clone is None:
        raise UsageError("No clone: pass --clone with the folder of a git clone of the repository.")
    settings = load_settings()
    repository = Repository.parse(repo, settings.github_web_url) if repo else None
    with open_clone_trees(clone, branch) as trees, show_progress_bar("merge", "Merges") as show:
        contracts = read_clone_contracts(trees, dates, repository, show)
    choose_rows = list_net_rows if is_net else list_rows
    rows = select_rows(choose_rows(contracts, settings.github_web_url))
    click.echo(format_contract_json(rows) if for_scripts else format_contract_table(rows, len(contracts.merges)))
