"""The sample day as sources, instead of GitHub and a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.dates import LocalDay, parse_zone
from bot.demo.stand_in import PreparedChatModel, SamplePull, load_contracts, load_sample_day
from bot.errors import (
    DayUnavailable,
    DiscussionUnavailable,
    ModelRequestRejected,
    PullRequestNotFound,
    RepositoryNotFound,
    UsageError,
)
from bot.features.digest.rules import Digest, Overview
from bot.features.merges.review import BugReview, ReviewCoverage
from bot.features.merges.risk import assess_pull_request
from bot.features.merges.summary import SummarisedPullRequest
from bot.features.merges.timeline import DayContext
from bot.features.merges.view import Entry
from bot.platform.git.tag_history import CommitCopy, CommitWay, Tag, TagHistory
from bot.platform.models import ChatModel, Completion, Model, Prompt
from bot.platform.models.completion import AnswerShape
from bot.platform.pulls.models import Account, PullRequest
from bot.platform.pulls.paths import determine_area, get_default_classes
from bot.platform.pulls.sources import (
    CountCheck,
    DayMerges,
    Discussion,
    PullRequestBackground,
    PullRequests,
    RateAllowance,
    Releases,
)
from bot.text import format_count
from bot.usage import NO_USAGE
from impact.contract.deprecations import Release
from impact.repository import Repository
from impact.text.strings import parse_date, quote_input

SAMPLE_NOTE = (
    "Sample day: the facts (numbers, titles, authors, files, counts, times) are from a public day of "
    "vllm-project/vllm. The summaries and AI bug reviews were written for this sample, without a model."
)
_STAND_IN_NOTE = (
    "This demo uses no model: its answers, summaries and AI bug reviews were prepared for the sample, from the "
    "full diffs."
)
_MAX_NUMBERS = 6
# no release that there was has this name
INVENTED_TAG = "v0.16.99"
# the beginnings of prompts (bot/platform/models/changes.py and bot/features/digest/overview.py); the rest
# of a prompt is text of strangers
_PULL_PATTERN = re.compile(r'<pull_request id="\w+">\n\S+ #(\d{1,9}): ')
_DAY_ENTRY_PATTERN = re.compile(r"^#(\d{1,9}) \[", re.M)
_NUMBER_PATTERN = re.compile(r"#(\d{1,9})\b")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+")


class SampleSources:
    """``Sources`` of one public day. ``sleep`` waits so many seconds while an answer is written.

    With the current time from ``now`` there is an invented release after that day, which appears at ``tagged_at``.
    """

    # the sample has no files or limits
    source_files = source_versions = source_trees = open_pulls = source_mirror = source_search = None
    stands_in = _STAND_IN_NOTE

    def __init__(
        self, sleep: Callable[[float], None] = lambda seconds: None, now: Callable[[], datetime] | None = None
    ) -> None:
        self._record = load_sample_day()
        self.repository = Repository.parse(self._record.repository)
        self.day = LocalDay(parse_date(self._record.date), parse_zone(self._record.timezone))
        self.name = self._record.name
        self._pulls = {pull.number: _build_pull_request(self.repository, pull) for pull in self._record.pulls}
        self._summaries = {pull.number: pull.summary for pull in self._record.pulls}
        self._reviews = {pull.number: pull.review for pull in self._record.pulls}
        self.chat: ChatModel = PreparedChatModel(self._record, sleep)
        self.tagged_at = self.day.end.astimezone(self.day.zone).replace(hour=9, minute=1)
        self._now = now
        # oldest first
        self._numbers = {pull.commit: number for number, pull in reversed(self._pulls.items())}
        self._commits = [*self._numbers]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the day, newest merge first."""
        return tuple(self._pulls)

    @property
    def last_commit(self) -> str:
        return self._commits[-1]

    # Sources

    @property
    def pulls(self) -> PullRequests:
        return self

    @property
    def background(self) -> PullRequestBackground:
        return self

    @property
    def model(self) -> Model:
        return self

    @property
    def releases(self) -> Releases:
        return self

    @property
    def tag_history(self) -> TagHistory | None:
        return self if self._now else None

    def get_written_review(self, pull: PullRequest) -> BugReview | None:
        return self._reviews.get(pull.number)

    def list_allowances(self) -> Iterable[RateAllowance]:
        return ()

    def open_sources(self) -> None:
        pass

    def close(self) -> None:
        pass

    # PullRequests

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List the merges of the day, without files. Raises RepositoryNotFound, DayUnavailable for other days."""
        self._require_repository(repository)
        pulls = tuple(replace(pull, files=None) for pull in self._pulls.values() if pull.merge_time in day)
        if (day.start, day.end) == (self.day.start, self.day.end):
            return DayMerges(pulls, CountCheck(len(pulls), "the sample"))
        sample_day = f"{self.day.date:%-d %B %Y}" + (f" ({self.day.zone})" if day.zone != self.day.zone else "")
        if not pulls:
            raise DayUnavailable(f"The sample holds {sample_day} only.", "not in the sample")
        return DayMerges(
            pulls, CountCheck(None, "the sample", note=f"only a part of this day: the sample holds {sample_day}")
        )

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Return a pull request without files. Raises PullRequestNotFound or RepositoryNotFound."""
        self._require_repository(repository)
        return replace(self._find_pull_request(number), files=None)

    def load_files(self, pull: PullRequest) -> PullRequest:
        return replace(pull, files=self._find_pull_request(pull.number).files)

    # PullRequestBackground

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        """Raise DiscussionUnavailable, or PullRequestNotFound or RepositoryNotFound."""
        self._require_repository(repository)
        self._find_pull_request(number)
        raise DiscussionUnavailable("The sample day has no discussions and no linked issues.")

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        self._require_repository(repository)
        return {
            commit: replace(pull, files=None)
            for commit in commits
            for pull in self._pulls.values()
            if (pull.merge_commit or "").startswith(commit)
        }

    # TagHistory

    def update(self, repository: Repository) -> None:
        self._require_repository(repository)

    def list_tags(self, repository: Repository, commit: str = "") -> tuple[Tag, ...]:
        is_there = self._now is not None and self._now() >= self.tagged_at
        return (Tag(INVENTED_TAG, self.tagged_at, self.last_commit),) if is_there else ()

    def list_way(self, repository: Repository, start: str, end: str) -> CommitWay:
        first, last = self._commits.index(start) + 1, self._commits.index(end) + 1
        return CommitWay({commit: self._numbers[commit] for commit in self._commits[first:last]})

    def is_part(self, repository: Repository, commit: str, of: str) -> bool:
        return self._commits.index(commit) <= self._commits.index(of)

    def find_copies(self, repository: Repository, commit: str, number: int, title: str) -> tuple[CommitCopy, ...]:
        return (CommitCopy(commit, title, self.list_tags(repository)),)

    # Releases

    def list_releases(self, repository: Repository) -> Sequence[Release]:
        return ()

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Raise UsageError that says which merge to name in place of a tag, but for the invented one."""
        if tag == INVENTED_TAG and self.list_tags(repository):
            return self.last_commit
        first = self._pulls[self.numbers[-1]]
        raise UsageError(
            f"The sample doesn't have vLLM's tags, so I can't look up {quote_input(tag)}: write /prdigest "
            f"upgrade {first.commit[:10]} to begin with the first merge of its day."
        )

    def _find_pull_request(self, number: int) -> PullRequest:
        if number not in self._pulls:
            named = ", ".join(map(str, self.numbers[:_MAX_NUMBERS]))
            more = format_count(len(self.numbers) - _MAX_NUMBERS, "other")
            raise PullRequestNotFound(f"The sample day has no pull request #{number}: it has {named} and {more}.")
        return self._pulls[number]

    def _require_repository(self, repository: Repository) -> None:
        if str(repository).lower() != str(self.repository).lower():
            raise RepositoryNotFound(f"The sample has {self.repository} only, not {repository}.")

    # Model

    def complete(self, prompt: Prompt) -> Completion:
        """Return the sample's text at no cost. Raises ModelRequestRejected if the sample has none."""
        # what shows the sample as text asks nobody, and needs no store
        from bot.features.digest.overview import OVERVIEW_VERSION  # noqa: PLC0415
        from bot.features.summaries.reading import SUMMARY_VERSION  # noqa: PLC0415

        readers = {SUMMARY_VERSION: self._answer_summary, OVERVIEW_VERSION: self._answer_overview}
        if prompt.version not in readers:
            raise ModelRequestRejected("the sample has summaries and an overview alone")
        return Completion(readers[prompt.version](prompt.user).model_dump_json(), NO_USAGE)

    def _answer_summary(self, prompt: str) -> AnswerShape:
        from bot.features.summaries.reading import RiskAnswer, SummaryAnswer  # noqa: PLC0415

        match = _PULL_PATTERN.match(prompt)
        summary = self._summaries.get(int(match[1])) if match else None
        if summary is None:
            raise ModelRequestRejected("the sample has no summary of it")
        names = SummaryAnswer.model_fields.keys() - {"evidence", "risks"}
        fields: dict[str, Any] = {name: getattr(summary, name) for name in names}
        # evidence would be quotes of diffs, of which the sample has only those that answers quote
        risks = [RiskAnswer(claim=risk.claim, where=risk.where, kind=risk.kind) for risk in summary.risks]
        return SummaryAnswer(**fields, risks=risks)

    def _answer_overview(self, prompt: str) -> AnswerShape:
        """Return the overview, with the sentences that name the prompt's pull requests and no others."""
        from bot.features.digest.overview import OverviewAnswer, ThemeAnswer  # noqa: PLC0415

        asked = {int(number) for number in _DAY_ENTRY_PATTERN.findall(prompt)}
        sentences = []
        for sentence in _SENTENCE_ENDS.split(self._record.overview):
            numbers = {int(number) for number in _NUMBER_PATTERN.findall(sentence)}
            if numbers and numbers <= asked:
                sentences.append(sentence)
        overview = " ".join(sentences) or "The sample's overview speaks of other pull requests than these."
        themes = [
            ThemeAnswer(title=theme.title, pull_requests=list(theme.pull_requests))
            for theme in self._record.themes
        ]
        return OverviewAnswer(overview=overview, themes=themes)

    # the digest without a store, for the terminal

    def build_digest(self) -> Digest:
        merged, classes = self.list_merged(self.repository, self.day), get_default_classes(self.repository)
        read, around = (
            [*map(self._read, merged.pulls)],
            replace(DayContext.from_pulls(merged.pulls), is_sample=True),
        )
        pulls = [each.pull for each in read]
        rated = tuple(map(Entry.from_summarised, read, around.assess_pulls(pulls, pulls, classes)))
        entries = tuple(replace(entry, review=self._reviews[entry.number]) for entry in rated)
        reviewed = sum(entry.review is not None for entry in entries)
        return Digest(
            repository=self.repository,
            name=self.name,
            day=self.day,
            entries=entries,
            overview=Overview(self._record.overview),
            count=merged.count,
            outcomes=around.outcomes,
            review_coverage=ReviewCoverage(reviewed, reviewed),
            contracts=tuple(load_contracts()[entry.number] for entry in entries),
            claims=around.claims,
        )

    def _read(self, pull: PullRequest) -> SummarisedPullRequest:
        loaded = self.load_files(pull)
        return SummarisedPullRequest(loaded, self._summaries[pull.number], determine_area(loaded))

    def build_entry(self, pull: PullRequest) -> Entry:
        """Return a pull request of the sample day as ``/prsummary`` shows it, rated without history."""
        read = self._read(pull)
        risk = replace(assess_pull_request(read.pull), without_history=False)
        return Entry.from_summarised(read, risk, self.get_written_review(read.pull))


def _build_pull_request(repository: Repository, record: SamplePull) -> PullRequest:
    return PullRequest(
        repository=repository,
        number=record.number,
        title=record.title,
        body="",
        author=Account(record.author),
        merged_by=Account(record.merged_by),
        merged_at=record.merged_at,
        merge_commit=record.merge_commit_sha,
        head_commit=record.merge_commit_sha,
        additions=record.additions,
        deletions=record.deletions,
        changed_files=len(record.files),
        files=tuple(file if file.patch else replace(file, patch="") for file in record.files),
    )
