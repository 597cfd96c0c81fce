"""The digest of one local day: list, read and summarise every pull request, then look at the whole."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from bot.domain.days import LocalDay
from bot.domain.digest import Digest, Entry, Overview
from bot.domain.pulls import PullRequest, Repository
from bot.domain.reverts import reverts_among
from bot.ports import PullRequests

Progress = Callable[[int, int], None]


def unseen(_done: int, _all: int) -> None:
    """Progress that nobody watches."""


class DailyDigest:
    """Builds digests. ``workers`` pull requests are read and summarised at a time."""

    def __init__(
        self,
        pulls: PullRequests,
        entry: Callable[[PullRequest], Entry],
        overview: Callable[[Repository, LocalDay, tuple[Entry, ...]], Overview],
        workers: int,
    ) -> None:
        self._pulls = pulls
        self._entry = entry
        self._overview = overview
        self._workers = workers

    def build(self, repository: Repository, day: LocalDay, name: str, progress: Progress = unseen) -> Digest:
        """The digest of a day. ``progress`` is told (done, all) as pull requests are finished.

        Raises:
            PrdigestError: the list of the day can't be had. A single pull request that can't be read does not
                end a digest; it is shown with what is known and counted as not read.
        """
        merged = self._pulls.merged_on(repository, day)
        entries = self._entries(merged.pulls, progress)
        return Digest(
            repository=repository,
            name=name,
            day=day,
            entries=entries,
            overview=self._overview(repository, day, entries),
            count=merged.count,
            reverts=reverts_among(entry.pull for entry in entries),
        )

    def _entries(self, pulls: tuple[PullRequest, ...], progress: Progress) -> tuple[Entry, ...]:
        progress(0, len(pulls))
        done: dict[int, Entry] = {}
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="digest")
        try:
            for future in as_completed([pool.submit(self._entry, pull) for pull in pulls]):
                entry = future.result()
                done[entry.number] = entry
                progress(len(done), len(pulls))
        finally:
            # after an error or Ctrl-C, what has not begun never begins
            pool.shutdown(wait=True, cancel_futures=True)
        return tuple(done[pull.number] for pull in pulls)
