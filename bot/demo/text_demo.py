"""``prdigest demo --text``: the sample day in the terminal, and one question for the reader to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bot.demo.sample.sources import SAMPLE_NOTE, SampleSources
from bot.errors import PullRequestNotFound, UsageError
from bot.features.digest.view import render_digest
from bot.features.summaries.view import format_summary
from bot.platform.pulls.models import parse_reference
from bot.platform.slack import terminal


def render_demo(ask: Callable[[str], str | None], *, with_report: bool = False) -> Iterator[str]:
    """Yield the demo's text in pieces. ``ask`` puts a question to the reader; None or an empty text ends it."""
    sample = SampleSources()
    digest = sample.build_digest()
    rendered = render_digest(digest)
    yield SAMPLE_NOTE
    yield _add_title("In the channel", terminal.format_message(rendered.lead))
    for place, post in enumerate(rendered.thread, 1):
        yield _add_title(
            f"In its thread, message {place} of {len(rendered.thread)}", terminal.format_message(post)
        )
    if rendered.attachment and with_report:
        yield _add_title(f"Attached to the thread: {rendered.attachment.name}", rendered.attachment.text.rstrip())
    elif rendered.attachment:
        name = rendered.attachment.name
        yield f"Attached to the thread: {name} (to read it: prdigest demo --text --report).\n"
    # until there is a pull request
    question = f"Which pull request should I summarize? (such as {sample.numbers[2]}; press Enter to leave) "
    while answer := ask(question):
        try:
            number = parse_reference(answer, digest.repository).number
            pull = sample.fetch_pull_request(digest.repository, number)
        except (UsageError, PullRequestNotFound) as error:
            yield str(error)
            continue
        yield _add_title(f"/prsummary {pull.number}", format_summary(sample.build_entry(pull)))
        break
    yield (
        "To see your own repository, set GITHUB_TOKEN and ANTHROPIC_API_KEY (`prdigest env` explains every "
        "setting). Then run\n  prdigest digest --repo owner/repo --dry-run"
    )


def _add_title(title: str, body: str) -> str:
    return f"───── {title} ─────\n\n{body}\n"
