"""Which pull requests a revert means that was merged after all that is at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from bot.domain.errors import PrdigestError, PullRequestNotFound, StoreUnavailable
from bot.domain.history.pull_outcomes import RevertIndex
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.services.questions.tools.reading_session import ReadingSession
from impact.history.revert_claims import RevertClaim

# 19 of 20 reverts come within a month of what they revert
_LOOK_BACK = timedelta(days=60)
# reverts that are looked up, and numbers of each that GitHub is asked for
_MAX_REVERTS, _MAX_NUMBERS = 5, 5

Reverted = dict[int, list[PullRequest]]


class RevertedPulls:
    """Finder of what reverts mean: by number, else by commit with one call to GitHub, else by recorded merges."""

    def __init__(self, session: ReadingSession) -> None:
        self._session = session

    def find_reverted(self, reverts: Sequence[PullRequest], claims: Mapping[int, RevertClaim]) -> Reverted:
        """Return the merged pull requests that each of the first five reverts means, by the revert's number.

        ``claims`` are those of the reverts, by number.

        Raises StoreUnavailable. What else fails is recorded as a gap.
        """
        asked = reverts[:_MAX_REVERTS]
        known = {
            pull.number: _select_earlier(pull, self._fetch_named(pull, claims[pull.number])) for pull in asked
        }
        known |= self._find_by_commits([pull for pull in asked if not known[pull.number]], claims)
        return known | self._find_in_history([pull for pull in asked if not known[pull.number]], claims)

    def _fetch_named(self, revert: PullRequest, claim: RevertClaim) -> list[PullRequest]:
        """Return the pull requests that a revert names by number, as far as GitHub knows them."""
        targets = dict.fromkeys(mention.number for mention, _ in claim.exact if mention.number)
        fetched = (self._fetch_facts(revert.repository, number) for number in list(targets)[:_MAX_NUMBERS])
        return [pull for pull in fetched if pull]

    def _fetch_facts(self, repository: Repository, number: int) -> PullRequest | None:
        try:
            return self._session.fetch_facts(repository, number)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            if not isinstance(error, PullRequestNotFound):
                self._session.provenance.add_gap(f"#{number} (it could not be loaded)")
            return None

    def _find_by_commits(self, reverts: Sequence[PullRequest], claims: Mapping[int, RevertClaim]) -> Reverted:
        """Return what the commits that reverts name were merged as."""
        commits = {pull.number: _list_commits(claims[pull.number]) for pull in reverts}
        hashes = list(dict.fromkeys(commit for listed in commits.values() for commit in listed))
        if not hashes:
            return {}
        try:
            merges = self._session.find_commit_pulls(reverts[0].repository, hashes)
        except StoreUnavailable:
            raise
        except PrdigestError:
            self._session.provenance.add_gap("the pull requests of reverted commits (they could not be loaded)")
            return {}
        return {
            pull.number: _select_earlier(pull, (merges[each] for each in commits[pull.number] if each in merges))
            for pull in reverts
        }

    def _find_in_history(self, reverts: Sequence[PullRequest], claims: Mapping[int, RevertClaim]) -> Reverted:
        """Return what reverts mean by title, commit or number among the recorded merges before them."""
        if not reverts:
            return {}
        since = min(pull.merge_time for pull in reverts) - _LOOK_BACK
        until = max(pull.merge_time for pull in reverts)
        recorded = self._session.read_history(reverts[0].repository, since, until)
        own = {pull.number: claims[pull.number] for pull in reverts}
        index = RevertIndex((*recorded, *reverts), own)
        by_number = index.merges.by_number
        return {
            pull.number: [by_number[each.number] for each in index.list_reverts_by(pull.number)]
            for pull in reverts
        }


def _list_commits(claim: RevertClaim) -> list[str]:
    """Return the commits that a revert names, also those that may belong to its own branch."""
    return [mention.commit.lower() for mention, _ in (*claim.exact, *claim.possible) if mention.commit]


def _select_earlier(revert: PullRequest, pulls: Iterable[PullRequest]) -> list[PullRequest]:
    """Return those that were merged before a revert, each once: its own commits name the revert itself."""
    earlier = {pull.number: pull for pull in pulls if pull.is_merged and pull.merge_time < revert.merge_time}
    return [pull for number, pull in earlier.items() if number != revert.number]
