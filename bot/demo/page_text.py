"""Texts of the page about a demo, the commands that it offers, and suggestions to try."""

from __future__ import annotations

from dataclasses import replace

from localslack.manifest import Manifest, Shortcut, ShortcutKind, SlashCommand
from localslack.page.about import About, Fact, Suggestion

from bot.platform.models import ModelProvider
from bot.platform.slack.notices import HELP_QUESTION
from handlers import COMMANDS as DECLARED
from handlers.declaration import Commands
from handlers.summaries import SHORTCUTS
from impact.repository import Repository


def list_commands(commands: Commands) -> tuple[SlashCommand, ...]:
    return tuple(SlashCommand(each.name, each.hint, each.description) for each in commands)


APP = Manifest(
    commands=list_commands(DECLARED),
    shortcuts=tuple(Shortcut(each.callback_id, each.name, ShortcutKind(each.kind)) for each in SHORTCUTS),
)
_COMMON_TEXTS = {
    "title": "prdigest in a local Slack",
    "program": "demo",
    "command": "prdigest demo",
    "without_script": "The same day in the terminal: prdigest demo --text",
    "example": "*Hello* from <https://github.com/vllm-project/vllm|vLLM>",
}

SAMPLE_ABOUT = About(
    **_COMMON_TEXTS,
    line=(
        "The bot is real, the day is a sample: 28 February 2026 of vLLM, seen the next morning. The demo "
        "uses no model."
    ),
    facts=(
        Fact(
            "Sample",
            "The 18 pull requests: numbers, titles, authors, files, counts and times are from a public day "
            "of vllm-project/vllm. The summaries and the answers to questions were written for this sample, from "
            "the full diffs. Of these, only the lines that answers quote are included.",
        ),
        Fact(
            "Computed here",
            "Everything else comes from the real bot: the schedule, risk ratings, areas, filters, and every "
            "message, button, window and form. An answer is found by its likeness to your question, and its "
            "quotes are checked as a model's are. If there is none, it says so.",
        ),
        Fact(
            "Needs a key",
            "Your repository, today: set GITHUB_TOKEN. Summaries and answers by a model: set ANTHROPIC_API_KEY. "
            "With both, run prdigest demo --live --repo owner/repo.",
        ),
    ),
    tries=(
        Suggestion("/prsummary 35617"),
        Suggestion("/prrisks"),
        Suggestion("@prdigest what may break our API callers?"),
        Suggestion("/prdigest subscribe at 09:00 path:vllm/v1"),
        Suggestion("/prdigest schedule"),
        Suggestion(HELP_QUESTION, in_thread=True),
        Suggestion("and the second one?", in_thread=True),
        Suggestion("why is #35441 risky?", in_thread=True),
        Suggestion("what changed in the Anthropic endpoint?", in_thread=True),
    ),
)

TEAM_ABOUT = replace(
    SAMPLE_ABOUT,
    command="prdigest demo --profile",
    facts=(
        Fact(
            "A team",
            "The profile satellite is a small team invented for this demo. It serves a model with vLLM, and its "
            "five files were scanned for what they use of it. The digest begins with the merges that touch them.",
        ),
        *SAMPLE_ABOUT.facts,
    ),
    tries=(
        Suggestion("/prdigest touches 7d"),
        Suggestion("/prdigest upgrade 4292e3b807"),
        Suggestion("/prdigest contract 2026-02-28"),
        Suggestion(
            "/prdigest broke TypeError: SamplingParams.__init__() got an unexpected keyword argument "
            "'truncate_prompt_tokens' since 2026-02-28"
        ),
        *SAMPLE_ABOUT.tries,
    ),
)


def build_live_about(repository: Repository, provider: ModelProvider, *, has_model: bool) -> About:
    """Return the texts of a live demo; without a model, they say that it has facts only, and what is to be set."""
    without_model = f"without a model: {provider.key_variable} is not set, so summaries contain facts only"
    written = f" Summaries and answers come from {provider.name}, with your settings."
    return About(
        **{**_COMMON_TEXTS, "command": f"prdigest demo --live --repo {repository}"},
        line=(
            f"Live: {repository}, with GitHub{f' and {provider.name}' if has_model else f', {without_model}'}. "
            "Only Slack is local."
        ),
        facts=(
            Fact("Local", "Slack: this page. Messages here are deleted when the demo ends."),
            Fact(
                "Real",
                f"Pull requests and diffs come from GitHub, with your token.{written if has_model else ''} They "
                "are kept for the next live demo, so that you pay only once.",
            ),
            Fact(
                "Needs more",
                "A workspace: create a Slack app from the output of prdigest manifest, then start prdigest run.",
            ),
        ),
        tries=(
            Suggestion("/prrisks 2d"),
            Suggestion("/prdigest today"),
            Suggestion("@prdigest what may break our callers?"),
            Suggestion("/prdigest schedule"),
            Suggestion("which of these need action from us?", in_thread=True),
            Suggestion("what was reverted?", in_thread=True),
        ),
    )
