"""``prdigest demo``: the sample day, or the user's own repository, in a local Slack."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress

import click

from bot.cli.base import configure_logging, format_example, get_current_time, repo_option, require_repository
from bot.errors import UsageError
from bot.platform.slack.terminal import wrap_text
from bot.settings import load_settings

# longer lines are hard to read
_MAX_COLUMNS = 100


@click.command(
    "demo",
    short_help="Try everything in a local Slack in your browser.",
    epilog=format_example("prdigest demo --open"),
)
@click.option("--text", "is_text", is_flag=True, help="Print the sample day in the terminal, without a browser.")
@click.option("--report", "with_report", is_flag=True, help="With --text: print the Markdown report too.")
@click.option(
    "--live",
    "is_live",
    is_flag=True,
    help=(
        "Use GitHub and a model instead of the sample. Needs --repo and GITHUB_TOKEN. Without ANTHROPIC_API_KEY "
        "or the settings of another provider, it has facts only."
    ),
)
@click.option(
    "--profile",
    "with_profile",
    is_flag=True,
    help="Add a sample team: its digest begins with the merges that touch its code.",
)
@click.option(
    "--agent",
    "is_agent",
    is_flag=True,
    help="Make the bot an agent of Slack, with prompts and a button to stop answers.",
)
@repo_option
@click.option(
    "--port", default=0, type=click.IntRange(0, 65_535), help="Port of the page. Default: any free port."
)
@click.option("--open", "is_opened", is_flag=True, help="Also open the page in the browser.")
def demo_command(
    *,
    is_text: bool,
    with_report: bool,
    is_live: bool,
    with_profile: bool,
    is_agent: bool,
    repo: str | None,
    port: int,
    is_opened: bool,
) -> None:
    """Try the bot in a local Slack in your browser. You need no key, account or server."""
    _check_options(is_text=is_text, with_report=with_report, is_live=is_live, repo=repo)
    if with_profile and (is_text or is_live):
        raise UsageError("--profile adds a team to the sample day in Slack: leave out --text and --live.")
    if is_text and is_agent:
        raise UsageError("--agent shows the bot in Slack: leave out --text.")
    if is_text:
        from bot.demo.text_demo import render_demo  # noqa: PLC0415

        for piece in render_demo(_read_line, with_report=with_report):
            click.echo(_fit_terminal(piece))
        return
    from bot.demo.run import (  # noqa: PLC0415
        build_live_stage,
        build_sample_stage,
        run_demo,
    )

    configure_logging("WARNING")

    def announce_address(address: str) -> None:
        stays = "data and summaries are kept for the next live demo" if is_live else "nothing is kept"
        click.echo(f"prdigest in a local Slack: {address}\nPress Ctrl-C to stop; {stays}.")
        if is_opened:
            click.launch(address)

    if is_live:
        settings = load_settings()
        stage = build_live_stage(settings, require_repository(settings, repo), get_current_time)
        click.echo(stage.about.line)
    else:
        stage = build_sample_stage(with_profile=with_profile)
    run_demo(stage, port, announce_address, is_agent=is_agent)
    _exit_process()


def _check_options(*, is_text: bool, with_report: bool, is_live: bool, repo: str | None) -> None:
    if with_report and not is_text:
        raise UsageError("--report goes with --text: the page has the report in the digest's thread.")
    if repo and not is_live:
        raise UsageError("The sample day has its own repository: add --live to use another one.")
    if is_text and is_live:
        raise UsageError("--text works with the sample day only: leave out --live or --text.")


def _exit_process() -> None:
    """End without the threads that still wait for GitHub or for the model: nobody would read the answer."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(0)


def _fit_terminal(text: str) -> str:
    """Wrap a text to the terminal; what goes to a file or a pipe stays as it is."""
    if not sys.stdout.isatty():
        return text
    return wrap_text(text, min(shutil.get_terminal_size().columns, _MAX_COLUMNS))


def _read_line(question: str) -> str | None:
    try:
        return input(question).strip() or None
    except EOFError:
        return None
