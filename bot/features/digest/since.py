"""One page on all that was merged since a day: no model is called for it, and no file is read."""

from __future__ import annotations

from bot.app import App
from bot.dates import Span
from bot.features.digest.stories import SincePage, build_stories, render_since
from bot.features.merges.entry import Entry
from bot.features.merges.timeline import LOOK_AHEAD, LOOK_BACK, DayContext, MergeList
from bot.features.touches.contracts import get_kept_contract, list_merges
from bot.features.touches.requests import SinceRequest
from bot.features.touches.service import find_profile
from bot.platform.jobs import LONG_RETRIES, QueueName, job
from bot.platform.pulls.models import Reference, remove_duplicates
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.platform.slack.buttons import SHARE_DIGEST, make_details_menu
from bot.platform.slack.requests import Audience, SlackRequest
from impact.profile.models import Profile
from impact.repository import Repository
from impact.touches.judgement import judge_merges


@job("since", QueueName.LONG, LONG_RETRIES)
def answer_since(app: App, asker: SlackRequest, request: SinceRequest, audience: Audience) -> None:
    def make() -> Answer:
        known = request.require_known(app.repositories)
        profile = find_profile(app, known.profile, known.repository)
        page = build_since_page(app, known.repository, known.span, profile)
        menu = make_details_menu(entry.pull for entry in page.riskiest)
        return build_answer(asker.name, render_since(page), Share(SHARE_DIGEST, known), menu, "")

    started = f"Collecting what I know of {request.repository} since {request.span.first}…"
    app.replies.give_answer(asker, "since", audience, make, started)


def build_since_page(app: App, repository: Repository, span: Span, profile: Profile | None = None) -> SincePage:
    """Build the page of some days. ``profile`` is one of this repository.

    Raises:
        PrdigestError: the merges of no day can be listed, or the store does not answer.
    """
    return build_page_of(app, repository, span, list_merges(app, repository, span), profile)


def build_page_of(
    app: App, repository: Repository, span: Span, merged: MergeList, profile: Profile | None
) -> SincePage:
    """Build the page of some merges, such as those of a range of commits. Raises StoreUnavailable."""
    references = (Reference(repository, pull.number) for pull in merged.pulls)
    read = [each for reference in references if (each := app.get_summary(reference))]
    # for the rules that look back; without a summary nothing is rated
    since, until = span.days[0].start - LOOK_BACK, span.days[-1].end + LOOK_AHEAD
    around = app.timeline.read_merges_or_none(repository, since, until) if read else ()
    index = app.timeline.index_pulls(remove_duplicates([*merged.pulls, *around]))
    stories = build_stories(index.select(pull.number for pull in merged.pulls))
    entries: dict[int, Entry] = {}
    if read:
        loaded = [each.pull for each in read]
        context = DayContext.from_index(index, (pull.number for pull in loaded))
        risks = context.assess_pulls(loaded, loaded, app.paths.get_path_classes(repository))
        for each, risk in zip(read, risks, strict=True):
            entries[each.number] = Entry.from_summarised(each, risk, app.get_review(each.pull))
    report, unread = None, 0
    if profile:
        shown = [pull for story in stories.stories for pull in story.pulls]
        contracts = [contract for pull in shown if (contract := get_kept_contract(app, pull))]
        report, unread = judge_merges(profile.name, profile, contracts), len(shown) - len(contracts)
    name = app.name_repository(repository)
    return SincePage(name, span, len(merged.pulls), stories, entries, report, unread, merged.caveats)
