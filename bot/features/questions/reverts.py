"""What was taken back: by which pull request and for which reasons, also where it was merged long before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from bot.errors import PrdigestError, PullRequestNotFound, StoreUnavailable
from bot.features.merges.outcomes import RevertIndex
from bot.features.questions.reading import ReadingSession
from bot.platform.pulls.models import PullRequest
from impact.history.outcomes import find_outcomes
from impact.history.revert_claims import RevertClaim
from impact.text.strings import collapse_lines, remove_comments, truncate_text

# 19 of 20 reverts come within a month of what they revert
_LOOK_BACK = timedelta(days=60)
# reverts that are looked up, and numbers of each that GitHub is asked for
_MAX_REVERTS, _MAX_NUMBERS = 5, 5
_MAX_REASON_LENGTH = 800


def describe_reverts(session: ReadingSession, watched: tuple[PullRequest, ...], numbers: set[int]) -> list[str]:
    """Return lines on the reverts of, or by, the pull requests with these numbers. Raises StoreUnavailable."""
    index = RevertIndex(watched)
    outcomes = find_outcomes(index)
    pairs = [outcome for outcome in outcomes if outcome.pull.number in numbers]
    lines = [
        f"{_name(outcome.pull)} was {outcome.kind} by #{outcome.by.number} on "
        f"{outcome.by.merge_time:%Y-%m-%d %H:%M}Z. {_quote_reason(outcome.by)}"
        for outcome in pairs
        if outcome.stands
    ]
    lines += [
        f"#{outcome.pull.number} was {outcome.kind} by #{outcome.by.number}, which was itself reverted"
        for outcome in pairs
        if not outcome.stands
    ]
    paired = {outcome.by.number for outcome in outcomes}
    older = [pull for pull in watched if pull.number in numbers - paired and index.is_revert(pull.number)]
    reverted = find_reverted(session, older, {pull.number: index.claims[pull.number] for pull in older})
    for pull in older:
        names = ", ".join(map(_name, reverted.get(pull.number, ()))) or "something whose number is not known"
        lines.append(f"#{pull.number} takes back {names}, merged before these days. {_quote_reason(pull)}")
    return lines or ["Nothing of these days was taken back."]


def _name(pull: PullRequest) -> str:
    return f"#{pull.number} ({collapse_lines(pull.title)})"


def _quote_reason(pull: PullRequest) -> str:
    body = collapse_lines(remove_comments(pull.body))
    return f"{_name(pull)} says: {truncate_text(body, _MAX_REASON_LENGTH) or 'nothing'}"


def find_reverted(
    session: ReadingSession, reverts: Sequence[PullRequest], claims: Mapping[int, RevertClaim]
) -> dict[int, list[PullRequest]]:
    """Return the merged pull requests that each of the first five reverts means, by the revert's number.

    They are found by number, else by commit with one call to GitHub, else among recorded merges. Raises
    StoreUnavailable. What else fails is recorded as a gap.
    """
    asked = reverts[:_MAX_REVERTS]
    reverted = {pull.number: _find_by_numbers(session, pull, claims[pull.number]) for pull in asked}
    if missing := [pull for pull in asked if not reverted[pull.number]]:
        reverted |= _find_by_commits(session, missing, claims)
    if missing := [pull for pull in asked if not reverted[pull.number]]:
        since = min(pull.merge_time for pull in missing) - _LOOK_BACK
        until = max(pull.merge_time for pull in missing)
        recorded = session.read_history(missing[0].repository, since, until)
        index = RevertIndex((*recorded, *missing), {pull.number: claims[pull.number] for pull in missing})
        by_number = index.merges.by_number
        for pull in missing:
            reverted[pull.number] = [by_number[each.number] for each in index.list_reverts_by(pull.number)]
    return reverted


def _find_by_numbers(session: ReadingSession, revert: PullRequest, claim: RevertClaim) -> list[PullRequest]:
    pulls = []
    numbers = dict.fromkeys(mention.number for mention, _ in claim.exact if mention.number)
    for number in list(numbers)[:_MAX_NUMBERS]:
        try:
            pulls.append(session.fetch_facts(revert.repository, number))
        except StoreUnavailable:
            raise
        except PullRequestNotFound:
            continue
        except PrdigestError:
            session.provenance.add_gap(f"#{number} (it could not be loaded)")
    return _select_earlier(revert, pulls)


def _find_by_commits(
    session: ReadingSession, reverts: Sequence[PullRequest], claims: Mapping[int, RevertClaim]
) -> dict[int, list[PullRequest]]:
    """Return what the commits that reverts name were merged as; some may be of a revert's own branch."""
    commits = {
        pull.number: [
            mention.commit.lower()
            for mention, _ in (*claims[pull.number].exact, *claims[pull.number].possible)
            if mention.commit
        ]
        for pull in reverts
    }
    hashes = list(dict.fromkeys(commit for listed in commits.values() for commit in listed))
    if not hashes:
        return {}
    try:
        merges = session.find_commit_pulls(reverts[0].repository, hashes)
    except StoreUnavailable:
        raise
    except PrdigestError:
        session.provenance.add_gap("the pull requests of reverted commits (they could not be loaded)")
        return {}
    return {
        pull.number: _select_earlier(pull, (merges[each] for each in commits[pull.number] if each in merges))
        for pull in reverts
    }


def _select_earlier(revert: PullRequest, pulls: Iterable[PullRequest]) -> list[PullRequest]:
    """Return those that were merged before a revert, each once: its own commits name the revert itself."""
    earlier = {pull.number: pull for pull in pulls if pull.is_merged and pull.merge_time < revert.merge_time}
    return [pull for number, pull in earlier.items() if number != revert.number]
