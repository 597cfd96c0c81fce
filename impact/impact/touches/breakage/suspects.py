"""Suspects: the merges of a range whose changes explain an error, the likeliest first."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from impact.contract.models import ChangeKind, ContractChange, FileVersions, MergeContract, cover_contracts
from impact.coverage import COMPLETE, Coverage, CoveredList
from impact.errors import attempt_all
from impact.history.merges import WrittenMerge
from impact.history.reverts import RevertIndex, list_reverted_numbers, select_standing
from impact.touches.breakage.explanations import (
    GONE,
    ChangeNames,
    Explanation,
    Kinship,
    explain_error,
    show_name,
)
from impact.touches.breakage.traceback_names import Frame, TraceNames

# points, from 0 to 100, below which a merge explains nothing
LEAST_SCORE = 35.0
# the most that an explanation, the code on the way and names in the text can give
_SHARES = (0.9, 0.5, 0.4)
# a merge that was reverted before the end of the range has no effect there
_REVERTED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Suspect:
    """A merge that may have caused an error.

    ``reason`` is a clause that goes on from "it". ``change`` is what it rests on, None if only titles or files
    say so. ``reverted_by`` is the number of the merge that reverted it within the range.
    """

    number: int
    title: str
    commit: str
    merged_at: datetime
    score: float
    reason: str
    change: ContractChange | None = None
    reverted_by: int | None = None


@dataclass(frozen=True, slots=True)
class SuspectRange:
    """The merges between two commits; ``reverts`` has, by the number of a reverted merge, that of its revert."""

    contracts: Sequence[MergeContract]
    reverts: Mapping[int, int]
    # of what else was to be read, such as lists of days
    coverage: Coverage = COMPLETE

    @classmethod
    def build(
        cls, contracts: Sequence[MergeContract], merges: Sequence[WrittenMerge], coverage: Coverage = COMPLETE
    ) -> SuspectRange:
        """Return a range; ``merges`` are all of it, and say what they revert."""
        held = select_standing(RevertIndex(merges).reverts, merges)
        reverted = list_reverted_numbers(held)
        reverts = {each.number: each.by for each in held if each.number in reverted and not each.is_partial}
        return cls(contracts, reverts, coverage)


@dataclass(frozen=True, slots=True)
class SuspectReport:
    """The suspects for an error among ``merges`` merges.

    ``since`` and ``until`` name the ends of the range as the reader wrote them. ``omitted`` suspects fit less than
    those that are listed.
    """

    trace: TraceNames
    since: str
    until: str
    merges: int
    suspects: CoveredList[Suspect] = field(default_factory=CoveredList)
    omitted: int = 0


def build_report(
    trace: TraceNames, merges: SuspectRange, since: str, until: str, limit: int, kinship: Kinship
) -> SuspectReport:
    def rank(contracts: Sequence[MergeContract]) -> tuple[Suspect, ...]:
        return rank_suspects(trace, SuspectRange(contracts, merges.reverts), kinship)

    suspects, failed = attempt_all(rank, merges.contracts, lambda contract: f"#{contract.number}")
    listed = CoveredList(suspects[:limit], merges.coverage + cover_contracts(merges.contracts, failed))
    return SuspectReport(trace, since, until, len(merges.contracts), listed, max(0, len(suspects) - limit))


def rank_suspects(
    trace: TraceNames, merges: SuspectRange, kinship: Kinship, least: float = LEAST_SCORE
) -> tuple[Suspect, ...]:
    """Return the merges that explain an error with at least ``least`` points, the likeliest first."""
    index = _MentionIndex(trace, merges.contracts)
    suspects = []
    for place, contract in enumerate(merges.contracts):
        sides = (_explain_errors(trace, contract, kinship), index.rate_frames(contract), index.rate_names(place))
        shares = [share * each.strength for share, each in zip(_SHARES, sides, strict=True)]
        best = sides[shares.index(max(shares))]
        score = round(100 * (1 - math.prod(1 - share for share in shares)), 1)
        by = merges.reverts.get(contract.number)
        if by is not None:
            score = round(score * _REVERTED_SHARE, 1)
        merge = contract.number, contract.title, contract.commit, contract.merged_at
        suspects.append(Suspect(*merge, score, best.clause, best.change, by))
    fitting = (each for each in suspects if each.score >= least)
    return tuple(sorted(fitting, key=lambda each: (each.score, each.merged_at), reverse=True))


_NOTHING = Explanation(0.0, "")


def _explain_errors(trace: TraceNames, contract: MergeContract, kinship: Kinship) -> Explanation:
    explanations = (
        explain_error(error, names, kinship) or _NOTHING
        for names in map(ChangeNames, contract.changes)
        for error in trace.errors
    )
    return max(explanations, key=lambda each: each.strength, default=_NOTHING)


# --- what merges share with an error

# the frames nearest to the error that count, and how much less each further one does
_MAX_NEAR_FRAMES = 20
_FRAME_DECAY = 0.85
_MAX_PATH_PARTS = 12
_MAX_TITLE_WORDS = 60
# a changed line says less than a changed name; what a body does says less than how it is called
_KIND_WEIGHTS = {ChangeKind.BEHAVIOUR: 0.6, ChangeKind.ADDED: 0.7, ChangeKind.DEPRECATED: 0.5}
# a name that can still be used
_SHIM_WEIGHT = 0.3
_FILE_WEIGHT = 0.35
_MEMBER_STRENGTH = 0.9
_NAME_SHARE, _WORD_SHARE = 0.6, 0.15
_WORD = re.compile(r"[A-Za-z_]\w{1,120}")
# names that every error has say nothing
_COMMON = re.compile(r"(?:\w{0,80}(?:Error|Exception)|self|cls|__init__|__call__|forward|None|torch|vLLM)")


@dataclass(frozen=True)
class _Tokens:
    """The tokens of an error that a merge has; ``member`` is a change of one whose class is named too."""

    hits: Mapping[str, tuple[float, ContractChange | None]]
    words: frozenset[str]
    member: ContractChange | None


class _MentionIndex:
    """Index of what the merges of a range share with an error. Names that many merges touch count little."""

    def __init__(self, trace: TraceNames, contracts: Sequence[MergeContract]) -> None:
        self._names = _list_names(trace)
        # people write FusedMoe for FusedMoE
        self._classes = tuple(name.lower() for name in self._names if name[:1].isupper() and len(name) > 4)
        self._frames = _index_frames(trace.frames)
        self._words = trace.words
        self._tokens = [self._read_tokens(contract) for contract in contracts]
        self._counts = Counter(name for tokens in self._tokens for name in (*tokens.hits, *tokens.words))
        self._counts.update(path for each in contracts for path in set(each.files) if path in self._frames)
        self._total = len(contracts)

    def rate_names(self, place: int) -> Explanation:
        """Return how much the names of the error's text speak for the merge at a place in the range."""
        tokens = self._tokens[place]
        if tokens.member:
            return _explain_change(_MEMBER_STRENGTH, tokens.member)
        weights = {name: weight * self._rate_share(name) for name, (weight, _) in tokens.hits.items()}
        rest = math.prod(1 - _NAME_SHARE * weight for weight in weights.values())
        rest *= math.prod(1 - _WORD_SHARE * self._rate_share(word) for word in tokens.words)
        if not weights:
            return Explanation(1 - rest, "has words of the error in its title")
        best = max(weights, key=lambda name: weights[name])
        if explaining := tokens.hits[best][1]:
            return _explain_change(1 - rest, explaining)
        return Explanation(1 - rest, f"names {show_name(best)} in its title or its files")

    def rate_frames(self, contract: MergeContract) -> Explanation:
        """Return how much the code on the way to the error speaks for a merge."""
        return max(self._list_frames(contract), key=lambda each: each.strength, default=_NOTHING)

    def _list_frames(self, contract: MergeContract) -> Iterator[Explanation]:
        way = ", which is on the way to the error"
        for change in contract.changes:
            depth = self._frames.get(change.path, {}).get(change.name.rpartition(".")[2])
            if depth is not None:
                yield _explain_change(_FRAME_DECAY**depth * _KIND_WEIGHTS.get(change.kind, 0.9), change, way)
        for path in contract.files:
            if functions := self._frames.get(path):
                weight = _FILE_WEIGHT * _FRAME_DECAY ** min(functions.values())
                yield Explanation(weight * (0.3 + 0.7 * self._rate_share(path)), f"changes {show_name(path)}{way}")

    def _read_tokens(self, contract: MergeContract) -> _Tokens:
        title = _WORD.findall(contract.title)[:_MAX_TITLE_WORDS]
        tokens: list[tuple[str, float, ContractChange | None]] = []
        for change in contract.changes:
            tokens += ((name, weight, change) for name, weight in _list_change_tokens(change))
        tokens += ((word, 0.6, None) for word in title)
        tokens += ((path.rpartition("/")[2].partition(".")[0], 0.5, None) for path in contract.files)
        hits: dict[str, tuple[float, ContractChange | None]] = {}
        for name, weight, source in tokens:
            if name in self._names and weight > hits.get(name, (0.0, None))[0]:
                hits[name] = weight, source
        members = (change for change in contract.changes if self._names_member(change))
        return _Tokens(hits, self._words & {word.lower() for word in title}, next(members, None))

    def _names_member(self, change: ContractChange) -> bool:
        names = ChangeNames(change)
        if change.kind is ChangeKind.BEHAVIOUR or not names.owner or names.last not in self._names:
            return False
        return names.owner_name.lower().endswith(self._classes)

    def _rate_share(self, token: str) -> float:
        """Return 1 for what one merge has, and 0 for what all have."""
        if self._total < 2:
            return 1.0
        return max(0.0, 1 - math.log(max(1, self._counts[token])) / math.log(self._total))


def _explain_change(strength: float, change: ContractChange, addition: str = "") -> Explanation:
    names = ChangeNames(change)
    return Explanation(strength, f"{names.verb} {names.quoted}{addition}", change)


def _list_names(trace: TraceNames) -> frozenset[str]:
    """Return the names of an error's text and of its errors, without those that say nothing."""
    names = {part for each in trace.identifiers for part in (each, *each.replace("::", ".").split(".")[-2:])}
    for error in trace.errors:
        names.update((*error.names, error.owner.rpartition(".")[2], error.function))
    return frozenset(name for name in names if len(name) > 2 and not _COMMON.fullmatch(name))


def _list_change_tokens(change: ContractChange) -> Iterable[tuple[str, float]]:
    """Yield the tokens of a change, with how much each says of an error that has it."""
    names, weight = ChangeNames(change), _KIND_WEIGHTS.get(change.kind, 0.8)
    if change.kind in GONE:
        weight = _SHIM_WEIGHT if change.is_importable else 1.0
    yield change.name, weight
    yield names.last, weight * 0.8
    if names.owner:
        yield names.shown, weight
        yield names.owner_name, weight * 0.5
    if change.new_name:
        yield change.new_name.rpartition(".")[2], weight * 0.7
    for parameter in names.old_parameters.keys() ^ names.new_parameters.keys():
        yield parameter, weight * 0.6


def _index_frames(frames: Sequence[Frame]) -> dict[str, dict[str, int]]:
    """Return, by each path that a frame's file may have in a repository, its functions with their depth."""
    index: dict[str, dict[str, int]] = {}
    for depth, frame in enumerate(frames[:_MAX_NEAR_FRAMES]):
        parts = [part for part in frame.path.split("/") if part not in ("", ".", "..")][-_MAX_PATH_PARTS:]
        # a file's bare name stands for too many files
        for start in range(len(parts) - 1):
            index.setdefault("/".join(parts[start:]), {}).setdefault(frame.function, depth)
    return index


# --- which merges are read at all

_CLASS = re.compile(r"^class (\w{1,200})", re.M)
_ANY_WORD = re.compile(r"[A-Za-z_]\w{0,200}")
_PATH_WORD = re.compile(r"[\w-]{1,200}")


class RelevanceFilter:
    """Filter of merges: a name of the error is in a changed line or path, or a class that its class may extend."""

    def __init__(self, trace: TraceNames, kinship: Kinship) -> None:
        self._names = frozenset(
            part for name in _list_names(trace) for part in _ANY_WORD.findall(name.replace("-", "_"))
        )
        self._paths = frozenset(_index_frames(trace.frames))
        # an error that names an argument or a member is explained by a line that has it
        self._owners = tuple({error.owner for error in trace.errors if error.owner and not error.names})
        self._kinship = kinship

    def is_relevant(self, versions: Sequence[FileVersions]) -> bool:
        return any(self._is_near(each) for each in versions)

    def _is_near(self, pair: FileVersions) -> bool:
        for path in (file.path for file in (pair.old, pair.new) if file):
            if path in self._paths or not self._names.isdisjoint(_PATH_WORD.findall(path)):
                return True
        old, new = (file.text if file else "" for file in (pair.old, pair.new))
        changed = "\n".join(set(old.split("\n")) ^ set(new.split("\n")))
        if not self._names.isdisjoint(_ANY_WORD.findall(changed.replace("-", "_"))):
            return True
        return self._has_kin(old) or (new != old and self._has_kin(new))

    def _has_kin(self, text: str) -> bool:
        """Return whether a class of a file may be a base of the class that an error is about."""
        if not self._owners:
            return False
        classes = set(_CLASS.findall(text))
        return any(self._kinship.measure(owner, each) for owner in self._owners for each in classes)
