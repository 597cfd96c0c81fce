"""Texts of the page about a demo, the commands that it offers, and suggestions to try."""

from __future__ import annotations

from localslack.manifest import SlashCommand
from localslack.page.about import About, Fact, Suggestion

from bot.domain.pull_requests.models import Repository
from handlers.commands.registry import COMMANDS as DECLARED
from handlers.commands.registry import CommandRegistry


def list_commands(registry: CommandRegistry) -> tuple[SlashCommand, ...]:
    """List the commands for the page."""
    return tuple(SlashCommand(each.name, each.hint, each.description) for each in registry.commands)


COMMANDS = list_commands(DECLARED)
_COMMON_TEXTS = {
    "title": "prdigest in a local Slack",
    "program": "demo",
    "command": "prdigest demo",
    "without_script": "The same day in the terminal: prdigest demo --text",
    "example": "*Hello* from <https://github.com/vllm-project/vllm|vLLM>",
}

SAMPLE_ABOUT = About(
    **_COMMON_TEXTS,
    line="The bot is real, the day is a sample: vLLM's 28 February 2026, on the morning after. No model is asked.",
    facts=(
        Fact(
            "Sample",
            "The 18 pull requests: numbers, titles, authors, files, counts and times are those of a public day of "
            "vllm-project/vllm. The summaries were written for this sample, from the whole diffs, which are not "
            "here.",
        ),
        Fact(
            "Computed here",
            "Everything else, by the bot that you would run: the schedule that posted the digest, risk and its "
            "reasons, areas and filters, every message, button, window and form. Questions are answered by rules "
            "in the place of a model, with the bot's real tools; what rules can't tell, they say so.",
        ),
        Fact(
            "Needs a key",
            "Your repository and today: GITHUB_TOKEN. Summaries and answers by a model, with quotes that are "
            "checked against the diff and link to its lines: ANTHROPIC_API_KEY. With both of them set: "
            "prdigest demo --live --repo owner/repo.",
        ),
    ),
    tries=(
        Suggestion("/prsummary 35617"),
        Suggestion("/prrisks"),
        Suggestion("@prdigest what may break our API callers?"),
        Suggestion("/prdigest subscribe at 09:00 path:vllm/v1"),
        Suggestion("/prdigest schedule"),
        Suggestion("which of these touch ROCm?", in_thread=True),
        Suggestion("and the second one?", in_thread=True),
        Suggestion("why is #35441 risky?", in_thread=True),
        Suggestion("what changed in the Anthropic endpoint?", in_thread=True),
    ),
)


def build_live_about(repository: Repository) -> About:
    """Build the text about a live demo of a repository."""
    return About(
        **_COMMON_TEXTS,
        line=f"Live: {repository} as it is now, read from GitHub and by Claude. Only Slack is a local one.",
        facts=(
            Fact("Local", "Slack: this page. What is said here is forgotten when the demo ends."),
            Fact(
                "Real",
                "Pull requests and diffs from GitHub with your token; summaries and answers by Claude with your "
                "key. What was read and written is kept for the next live demo, so that it costs nothing again.",
            ),
            Fact(
                "Needs more",
                "A workspace: create a Slack app from what prdigest manifest prints, then prdigest run.",
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
