"""``prdigest init``: four questions, the tokens, a check, the history, and a test that one person sees.

Each answer is in ``.env`` before the next question, and the store remembers the days whose history it has. So the
same command goes on after an interruption, wherever that came.
"""

from __future__ import annotations

import os
import re
import secrets
import select
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING
from urllib.parse import quote

import click
from dotenv import dotenv_values, set_key

from bot import read_shipped_file
from bot.cli.base import format_example, get_current_time, open_command_app
from bot.cli.maintain import format_report, load_history
from bot.dates import Span, get_yesterday, parse_time, parse_zone
from bot.errors import ConfigurationError, PrdigestError, UsageError
from bot.platform.finding import CheckStatus
from bot.settings import DOTENV, check_channel_id, load_usable_settings
from impact.repository import Repository
from impact.text.strings import quote_input

if TYPE_CHECKING:
    from bot.app import App

# ten more than the rules need before they rate by history (bot/features/merges/risk.py, MIN_HISTORY)
_HISTORY_DAYS = 100
# seconds that a paste may pause between two of its lines
_PASTE_PAUSE = 0.3
# seconds for opening Slack and sending a code
_CODE_SECONDS = 180
# as Slack's menu of a channel copies it, under Copy link
_CHANNEL_LINK = re.compile(r"https?://[\w.-]+/(?:archives|client/T\w+)/([CGD][A-Z0-9]{2,})(?:[/?].*)?", re.ASCII)


# --- what .env has


def _list_usable() -> Mapping[str, str]:
    """Return where each setting that can be used comes from, by its variable. Raises ConfigurationError."""
    usable = load_usable_settings()
    if reason := usable.problems.get(DOTENV):
        raise ConfigurationError(f"{DOTENV} can't be used: {reason}.")
    names = {name.upper() for name in usable.settings.model_fields_set} - usable.problems.keys()
    return {name: "the environment" if os.environ.get(name) else DOTENV for name in names}


def _put_values(values: Mapping[str, str]) -> None:
    """Write values to ``.env``, and keep its other lines. It is replaced as a whole, and only its owner reads it.

    Raises UsageError if it can't be written.
    """
    file = Path(DOTENV)
    try:
        if file.exists() or file.is_symlink():
            # a link in a folder of somebody else may lead to any file
            if not stat.S_ISREG(file.lstat().st_mode):
                raise UsageError(f"{file} is not an ordinary file: move it away.")
            file.chmod(0o600)
        for name, value in values.items():
            # a new file begins as a temporary one, which only its owner reads
            set_key(file, name, value, quote_mode="never")
    except OSError as error:
        raise UsageError(f"{file} can't be written ({error.strerror}).") from error


# --- questions


@dataclass(frozen=True, slots=True)
class _Question:
    """A question. ``parse`` returns values by their variables, ``variable`` among them, or raises UsageError."""

    option: str
    variable: str
    text: str
    parse: Callable[[str], dict[str, str]]
    default: str | None = None


def _parse_repository(text: str) -> dict[str, str]:
    return {"PRDIGEST_REPO": str(Repository.parse(text, load_usable_settings().settings.github_web_url))}


def _parse_channel(text: str) -> dict[str, str]:
    link = _CHANNEL_LINK.fullmatch(text.strip())
    try:
        return {"PRDIGEST_CHANNEL": check_channel_id(link[1] if link else text.strip()) or ""}
    except ValueError as error:
        advice = "paste what Copy link in its menu copies, or its id, such as C0123ABCD."
        raise UsageError(f"{quote_input(text)} is not a channel: {advice}") from error


def _parse_post_time(text: str) -> dict[str, str]:
    """Parse a time, and perhaps a zone after it: ``9:30 am Europe/Berlin``."""
    *first, last = text.split() or [""]
    has_zone = bool(first) and last.lower() not in ("am", "pm")
    zone = {"PRDIGEST_TIMEZONE": parse_zone(last).key} if has_zone else {}
    return {"PRDIGEST_POST_AT": f"{parse_time(' '.join(first if has_zone else [*first, last])):%H:%M}", **zone}


def _parse_model(text: str) -> dict[str, str]:
    if text.strip().lower() not in ("claude", "none"):
        raise UsageError(f"{quote_input(text)} is neither claude nor none.")
    # the key says that it is Claude; without one, this line says that the question was answered
    return {} if text.strip().lower() == "claude" else {"PRDIGEST_MODEL_PROVIDER": "anthropic"}


def _find_zone() -> str:
    """Return the time zone of this machine, UTC where it does not say."""
    name = os.environ.get("TZ") or str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2] or "UTC"
    try:
        return parse_zone(name).key
    except UsageError:
        return "UTC"


def _list_questions() -> tuple[_Question, ...]:
    return (
        _Question("repo", "PRDIGEST_REPO", "Repository, as owner/name", _parse_repository),
        _Question(
            "channel", "PRDIGEST_CHANNEL", "Slack channel (Copy link in its menu, or its id)", _parse_channel
        ),
        _Question("at", "PRDIGEST_POST_AT", "Time of the digest", _parse_post_time, f"09:00 {_find_zone()}"),
        _Question(
            "model",
            "ANTHROPIC_API_KEY",
            "Secrets: those of GitHub and Slack, and a key for Claude, which writes summaries? (claude, none)",
            _parse_model,
            "claude",
        ),
    )


def _keep_answers(options: Mapping[str, str | None], *, replaces: bool, is_asking: bool) -> None:
    """Write each answer at once: that of an option, else of the question, unless the settings have one."""
    for question in _list_questions():
        text, origins = options[question.option], _list_usable()
        if text is not None:
            values, written = question.parse(text), dotenv_values(DOTENV, interpolate=False)
            for name in (name for name, value in values.items() if written.get(name) not in (None, "", value)):
                if not (replaces or (is_asking and click.confirm(f"{DOTENV} has another {name}. Replace it?"))):
                    raise UsageError(f"{DOTENV} has another {name}: add --replace to change it.")
            _put_values(values)
        elif question.variable in origins:
            click.echo(f"{question.variable} is set in {origins[question.variable]}.")
        elif is_asking and not (question.option == "model" and _needs_no_key()):
            _put_values(_ask(question))


def _ask(question: _Question) -> dict[str, str]:
    while True:
        text = str(click.prompt(question.text, default=question.default))
        if tokens := find_tokens(text):
            _put_values(tokens)
            click.echo(
                f"That is a token: it is kept as {', '.join(tokens)}. It stands on this screen: clear that."
            )
            continue
        try:
            return question.parse(text)
        except UsageError as error:
            click.echo(str(error))


def _needs_no_key() -> bool:
    """Return whether another model was chosen than Claude by its own key, or none."""
    if load_usable_settings().settings.prdigest_model_provider != "anthropic":
        return True
    # a copy of .env.example has both lines
    return "PRDIGEST_MODEL_PROVIDER" in _list_usable() and "ANTHROPIC_API_KEY" not in dotenv_values(DOTENV)


# --- tokens

# what each looks like, what it is called, and where it is, in the order in which people get them
_TOKENS = {
    "ANTHROPIC_API_KEY": (r"sk-ant-[\w-]{16,}", "key for Claude", "from its console, API keys"),
    "GITHUB_TOKEN": (
        r"(?:gh[opsu]_|github_pat_)\w{16,}|[0-9a-f]{40}",
        "GitHub token",
        "Settings, Developer settings, Fine-grained tokens: reads Contents and Pull requests",
    ),
    "SLACK_BOT_TOKEN": (r"(?:xoxe\.)?xoxb-[\w-]{16,}", "bot token", "place 2, begins with xoxb-"),
    "SLACK_APP_TOKEN": (r"xapp-[\w-]{16,}", "app token", "place 3, begins with xapp-"),
}
_OTHER_SECRETS = {
    r"xox[ac-z]-.*": "a token of a person: the bot's begins with xoxb-",
    r"[0-9a-f]{32}": "the signing secret or the client secret, which Socket Mode does not need",
}
_TOKEN_START = re.compile(r"(?=xoxe\.xoxb-|(?<!xoxe\.)xoxb-|xapp-|gh[opsu]_|github_pat_|sk-ant-)")
# the name of a variable, quotation marks, or how a terminal frames a paste
_AROUND_TOKEN = re.compile(r"(?:\bexport\s+)?\b[A-Z][A-Z_]+=|[\"'`<>]|\x1b\[20[01]~")


def find_tokens(text: str) -> dict[str, str]:
    """Return the whole tokens of a pasted text by their variables, wherever it has blanks and line ends."""
    joined = "".join(each for each in _AROUND_TOKEN.sub(" ", text) if each.isprintable() and each != " ")
    return {
        name: piece
        for piece in _TOKEN_START.split(joined)
        for name, (shape, *_) in _TOKENS.items()
        if re.fullmatch(shape, piece, re.ASCII)
    }


def _explain_other(text: str) -> str:
    """Return what a text without a whole token seems to be; it is never repeated."""
    plain = "".join(text.split())
    for shape, meaning in _OTHER_SECRETS.items():
        if re.fullmatch(shape, plain, re.ASCII):
            return f"That is {meaning}."
    begun = [label for shape, label, _ in _TOKENS.values() if re.match(shape.partition(r"[\w")[0], plain)]
    return f"That is not a whole {begun[0]}: copy it again." if begun else "That is no token that is needed here."


@contextmanager
def _hide_input() -> Iterator[None]:
    """Show nothing of what is typed or pasted, also not between two prompts."""
    import termios  # noqa: PLC0415 (not on Windows)

    before = termios.tcgetattr(sys.stdin)
    hidden = [*before]
    # by lines, the terminal would cut at 4,096 characters
    hidden[3] = before[3] & ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _can_read(seconds: float) -> bool:
    return bool(select.select([sys.stdin], [], [], seconds)[0])


def _read_paste(prompt: str) -> str:
    """Read what is pasted until it pauses after a line end. Raises Abort at the end of the input."""
    click.echo(f"{prompt}: ", nl=False)
    pasted = b""
    while not pasted.endswith((b"\n", b"\r")) or _can_read(_PASTE_PAUSE):
        part = b""
        with suppress(OSError):
            part = os.read(sys.stdin.fileno(), 4_096)
        # the connection is lost, or Ctrl-D
        if not part or b"\x04" in part:
            raise click.Abort
        pasted = (pasted + part)[-20_000:]
    click.echo()
    return pasted.decode(errors="replace")


def _read_tokens(names: tuple[str, ...]) -> None:
    """Ask for tokens until all are there. What is pasted says what it is, so that their order does not matter."""
    for name in names:
        _, label, place = _TOKENS[name]
        while name not in _list_usable():
            text = _read_paste(f"Paste the {label}, which is not shown ({place})")
            tokens = find_tokens(text)
            _put_values(tokens)
            for other in tokens.keys() - {name}:
                click.echo(f"That is the {_TOKENS[other][1]}, not the {label}: it is kept as {other}.")
            if name in tokens:
                click.echo(f"{name} is kept in {DOTENV}.")
            elif text.strip() and not tokens:
                click.echo(_explain_other(text))


def _list_missing() -> tuple[str, ...]:
    there, needs_no_key = _list_usable(), _needs_no_key()
    spared = {"GITHUB_TOKEN": "GITHUB_APP_ID", "SLACK_APP_TOKEN": "SLACK_SIGNING_SECRET"}
    needed = [name for name in _TOKENS if name not in there and spared.get(name) not in there]
    return tuple(name for name in needed if not (needs_no_key and name == "ANTHROPIC_API_KEY"))


def _gather_tokens() -> None:
    missing = _list_missing()
    of_slack = tuple(name for name in missing if name.startswith("SLACK"))
    _read_tokens(missing[: len(missing) - len(of_slack)])
    if of_slack:
        manifest = read_shipped_file("manifest.json").decode()
        link = quote(re.sub(r"\n\s*", "", manifest), safe="")
        click.echo(
            f"\n{manifest}\n"
            "The Slack app is made in three places.\n"
            "1. Open the link below, choose your workspace, click Next and Create. If the page comes without the\n"
            "   manifest, choose From a manifest, and paste the one above.\n"
            f"https://api.slack.com/apps?new_app=1&manifest_json={link}\n"
            "2. Install App: click Install, then Allow, and copy the Bot User OAuth Token.\n"
            "3. Basic Information, App-Level Tokens: generate one with the scope connections:write, and copy it.\n"
            "Then send /invite @prdigest in the channel.\n"
        )
    _read_tokens(of_slack)


# --- the command


@click.command(
    "init", short_help="Set the bot up: questions, tokens, checks.", epilog=format_example("prdigest init")
)
@click.option("--repo", metavar="OWNER/NAME", help="Repository to read.")
@click.option("--channel", metavar="ID", help="Slack channel of the digest: its id, or a link to it.")
@click.option("--at", metavar="TIME", help='Time of the digest, such as "09:00 Europe/Berlin".')
@click.option("--model", metavar="NAME", help="What writes summaries: claude, or none.")
@click.option("--replace", "replaces", is_flag=True, help="Replace what .env has for these options.")
@click.option(
    "--history",
    metavar="DAYS",
    type=click.IntRange(0, 365),
    default=_HISTORY_DAYS,
    show_default=True,
    help="Days of history to load for risk ratings.",
)
def init_command(*, replaces: bool, history: int, **options: str | None) -> None:
    """Set the bot up: ask, write .env, wait for the tokens, check all, load history, send a test.

    Run it again after an interruption: it goes on where it was. Without a terminal, the options are the answers,
    and the tokens come from the environment.
    """
    is_asking = sys.stdin.isatty() and sys.stdout.isatty() and find_spec("termios") is not None
    _keep_answers(options, replaces=replaces, is_asking=is_asking)
    if is_asking:
        with _hide_input():
            _gather_tokens()
            while not _check():
                text = _read_paste("\nFix this, then press Enter to check again. A new token can be pasted here")
                tokens = find_tokens(text)
                _put_values(tokens)
                if text.strip():
                    click.echo(f"Replaced: {', '.join(tokens)}." if tokens else _explain_other(text))
    else:
        _require_all()
        if not _check():
            sys.exit(1)
    with open_command_app() as app:
        if history:
            _load_history(app, history, is_asking=is_asking)
        if is_asking and app.settings.slack_app_token:
            _send_test(app)
        at = f"{app.settings.prdigest_post_at:%H:%M} {app.settings.prdigest_timezone}"
    click.echo(f"\nAll is set. Start the bot with `prdigest run`. It posts every day at {at}.")


def _require_all() -> None:
    """Raise UsageError for what can't be asked."""
    there = _list_usable()
    missing = [f"--{each.option}" for each in _list_questions()[:2] if each.variable not in there]
    if tokens := [name for name in _list_missing() if name != "ANTHROPIC_API_KEY"]:
        missing.append(f"in the environment {' and '.join(tokens)}")
    if missing:
        raise UsageError(f"There is no terminal to ask on. Missing: {', '.join(missing)}.")


def _check() -> bool:
    """Print what doctor says, or only what is to be fixed; return whether that is nothing."""
    from bot.doctor.checkup import run_checks  # noqa: PLC0415

    click.echo("\nChecking…")
    findings = list(run_checks(load_usable_settings(), get_current_time, time.sleep))
    failed = [each for each in findings if each.status is CheckStatus.FAILED]
    click.echo(format_report(failed or findings, sys.stdout.encoding))
    return not failed


def _load_history(app: App, days: int, *, is_asking: bool) -> None:
    last = get_yesterday(app.now(), app.settings.prdigest_timezone)
    span = Span(last.date - timedelta(days=days - 1), last.date, last.zone)
    click.echo(f"\nLoading {days} days of history for risk ratings, newest first.")
    if is_asking:
        click.echo("Ctrl-C ends that: the test comes all the same, and the same command loads the rest.")
    try:
        load_history(app, app.repositories.default, span, None)
    except KeyboardInterrupt:
        if not is_asking:
            raise


def _send_test(app: App) -> None:
    """Send the digest of yesterday to the person at this terminal, who proves it by a code in Slack."""
    from bot.features.digest.rules import DigestSpec  # noqa: PLC0415
    from bot.web import receive_direct_messages  # noqa: PLC0415

    code, messages = f"{secrets.randbelow(1_000_000):06}", SimpleQueue[tuple[str, str]]()
    until, channel = time.monotonic() + _CODE_SECONDS, ""
    while _can_read(0) and os.read(sys.stdin.fileno(), 4_096):
        # what was typed before this question is no answer to it
        pass
    click.echo(f"\nFor a test that only you see, open prdigest in Slack, under Apps, and send it {code}.")
    click.echo("Press Enter here to do without.")
    with receive_direct_messages(app, lambda *message: messages.put(message)):
        while not channel:
            if _can_read(0):
                return
            if time.monotonic() > until:
                raise PrdigestError("The code did not come: check Socket Mode, and run the same command again.")
            try:
                place, text = messages.get(timeout=0.2)
            except Empty:
                continue
            channel = place if text.strip() == code else ""
    click.echo("It came. The test takes a minute…")
    day = get_yesterday(app.now(), app.settings.prdigest_timezone)
    spec = DigestSpec(channel, app.repositories.default, Span(day.date, day.date, day.zone))
    note = "A test, which only you see. The thread comes with the digest in the channel."
    lead = app.compose_digest(spec, [note], is_preview=True).lead
    app.messenger.post_message(channel, lead.build_payload(), f"init:{code}")
    click.echo("It is in your direct messages with prdigest.")
