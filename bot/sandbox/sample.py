"""The sample day: facts of a public day, with summaries written for the sample."""

from __future__ import annotations

from datetime import datetime
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from bot.domain.days import LocalDay, date_of, zone_of
from bot.domain.digest import CountCheck, Digest, Entry, Overview, Theme
from bot.domain.errors import PullRequestNotFound
from bot.domain.pulls import Account, ChangedFile, PullRequest, Repository
from bot.domain.summaries import Summary
from bot.ports import Merged
from bot.services.daily import DailyDigest
from bot.services.reading import Reader
from bot.services.summarise import Summarised

NOTE = (
    "Sample day: the facts (numbers, titles, authors, files, counts, times) are those of a public day of "
    "vllm-project/vllm; the summaries were written for this sample, no model was asked."
)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SamplePull(_Record):
    """One pull request of the sample file."""

    number: int
    title: str
    author: str
    merged_by: str
    merged_at: datetime
    merge_commit_sha: str
    additions: int
    deletions: int
    files: tuple[ChangedFile, ...]
    summary: Summary


class SampleTheme(_Record):
    """One theme of the sample file."""

    title: str
    pull_requests: tuple[int, ...]


class SampleDay(_Record):
    """The sample file. ``pulls`` are newest first."""

    note: str
    repository: str
    name: str
    date: str
    timezone: str
    overview: str
    themes: tuple[SampleTheme, ...]
    pulls: tuple[SamplePull, ...]


class Sample:
    """The sample day in the place of GitHub and the model: pull requests, summaries and an overview."""

    def __init__(self) -> None:
        text = files("bot.sandbox").joinpath("sample", "day.json").read_text(encoding="utf-8")
        self._day = SampleDay.model_validate_json(text)
        self._repository = Repository.parse(self._day.repository)
        self._pulls = {pull.number: _pull(self._repository, pull) for pull in self._day.pulls}
        self._summaries = {pull.number: pull.summary for pull in self._day.pulls}

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the day, newest merge first."""
        return tuple(self._pulls)

    @property
    def daily(self) -> DailyDigest:
        """The service that builds real digests, over the sample."""
        return DailyDigest(self, self.reader.read, self.overview, self.reader.with_files, workers=1)

    @property
    def reader(self) -> Reader:
        """The service that reads pull requests, over the sample."""
        return Reader(self, self.summarise)

    def digest(self) -> Digest:
        """The digest of the sample day."""
        day = LocalDay(date_of(self._day.date), zone_of(self._day.timezone))
        return self.daily.build(self._repository, day, self._day.name)

    def merged_on(self, repository: Repository, day: LocalDay) -> Merged:
        """The whole sample, whatever is asked for."""
        return Merged(tuple(self._pulls.values()), CountCheck(len(self._pulls), f"the sample of {repository}"))

    def pull(self, repository: Repository, number: int) -> PullRequest:
        """One pull request. Raises PullRequestNotFound."""
        if number not in self._pulls:
            raise PullRequestNotFound(f"The sample day of {repository} has no pull request #{number}.")
        return self._pulls[number]

    def with_files(self, pull: PullRequest) -> PullRequest:
        """The pull request: its files are in the sample, without patches."""
        return pull

    def summarise(self, pull: PullRequest) -> Summarised:
        """The summary that was written for the sample."""
        return Summarised(self._summaries[pull.number])

    def overview(self, repository: Repository, day: LocalDay, entries: tuple[Entry, ...]) -> Overview:
        """The overview that was written for the sample."""
        themes = tuple(Theme(theme.title, theme.pull_requests) for theme in self._day.themes)
        return Overview(self._day.overview, themes)


def _pull(repository: Repository, record: SamplePull) -> PullRequest:
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
        files=record.files,
    )
