"""``prdigest demo``: the sample day in the terminal, and one question for a reader to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bot.demo.sample.sources import NOTE, Sample
from bot.domain.errors import PullRequestNotFound, UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import parse_reference
from bot.render.blocks import terminal
from bot.render.digest.post import render_digest

_NEXT = (
    "To see your own repository: set GITHUB_TOKEN and ANTHROPIC_API_KEY (`prdigest env` explains every setting), "
    "then run\n  prdigest digest --repo owner/repo --dry-run"
)


def demo(ask: Callable[[str], str | None]) -> Iterator[str]:
    """What the demo shows, piece by piece. ``ask`` puts a question to the reader; None is "no more"."""
    sample = Sample()
    digest = sample.digest()
    rendered = render_digest(digest)
    yield NOTE
    yield _titled("In the channel", terminal.format_message(rendered.lead))
    for place, post in enumerate(rendered.thread, 1):
        yield _titled(f"In its thread, message {place} of {len(rendered.thread)}", terminal.format_message(post))
    if rendered.attachment:
        yield _titled(f"Attached to the thread: {rendered.attachment.name}", rendered.attachment.text.rstrip())
    yield from _summary(sample, digest.repository, ask)
    yield _NEXT


def _summary(sample: Sample, repository: Repository, ask: Callable[[str], str | None]) -> Iterator[str]:
    example = sample.numbers[2]
    while answer := ask(f"Summary of which pull request? (such as {example}; Enter to leave) "):
        try:
            pull = sample.fetch_pull_request(repository, parse_reference(answer, repository).number)
        except (UsageError, PullRequestNotFound) as error:
            yield str(error)
            continue
        yield _titled(f"/prsummary {pull.number}", terminal.format_summary(sample.reader.read(pull)))
        return


def _titled(title: str, body: str) -> str:
    return f"───── {title} ─────\n\n{body}\n"
