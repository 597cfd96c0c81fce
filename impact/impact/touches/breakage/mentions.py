"""What an error shares with a merge besides an explanation: the code on its way, and the names in its text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from impact.contract.models import ChangeKind, ContractChange, MergeContract
from impact.touches.breakage.change_names import GONE, ChangeNames, Explanation, describe_kind, show_name
from impact.touches.breakage.traceback_names import Frame, TraceNames

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
class MergeTokens:
    """The tokens of an error that a merge has; ``member`` is a change of one whose class is named too."""

    hits: Mapping[str, tuple[float, ContractChange | None]] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    member: ContractChange | None = None


class MentionIndex:
    """Index of what the merges of a range share with an error. Names that many merges touch count little."""

    def __init__(self, trace: TraceNames, contracts: Sequence[MergeContract]) -> None:
        self._names = list_names(trace)
        # people write FusedMoe for FusedMoE
        self._classes = frozenset(name.lower() for name in self._names if name[:1].isupper() and len(name) > 4)
        self._frames = _index_frames(trace.frames)
        self._words = trace.words
        self._tokens = [self._read_tokens(contract) for contract in contracts]
        self._counts = Counter(name for tokens in self._tokens for name in (*tokens.hits, *tokens.words))
        self._file_counts = Counter(
            path for contract in contracts for path in set(contract.files) if self._find_depth(path) is not None
        )
        self._total = len(contracts)

    def rate_names(self, place: int) -> tuple[Explanation, ContractChange | None]:
        """Return how much the names of the error's text speak for the merge at a place in the range."""
        tokens = self._tokens[place]
        if tokens.member:
            names = ChangeNames(tokens.member)
            return Explanation(_MEMBER_STRENGTH, f"{describe_kind(names)} {show_name(names.shown)}"), tokens.member
        weights = {name: weight * self._rate_rarity(name) for name, (weight, _) in tokens.hits.items()}
        words = [self._rate_rarity(word) for word in tokens.words]
        rest = math.prod(1 - _NAME_SHARE * weight for weight in weights.values())
        rest *= math.prod(1 - _WORD_SHARE * weight for weight in words)
        if not weights:
            return Explanation(1 - rest, "has words of the error in its title"), None
        best = max(weights, key=lambda name: weights[name])
        change = tokens.hits[best][1]
        if change is None:
            return Explanation(1 - rest, f"names {show_name(best)} in its title or its files"), None
        return Explanation(
            1 - rest, f"{describe_kind(ChangeNames(change))} {show_name(ChangeNames(change).shown)}"
        ), change

    def rate_frames(self, contract: MergeContract) -> tuple[Explanation, ContractChange | None]:
        """Return how much the code on the way to the error speaks for a merge."""
        best, clause, explaining = 0.0, "", None
        for change in contract.changes:
            weight = self._rate_function(change)
            if weight > best:
                names = ChangeNames(change)
                best, explaining = weight, change
                clause = f"{describe_kind(names)} {show_name(names.shown)}, which is on the way to the error"
        for path in contract.files:
            depth = self._find_depth(path)
            if depth is None:
                continue
            weight = _FILE_WEIGHT * _FRAME_DECAY**depth * (0.3 + 0.7 * self._rate_share(self._file_counts[path]))
            if weight > best:
                best, explaining, clause = (
                    weight,
                    None,
                    f"changes {show_name(path)}, which is on the way to the error",
                )
        return Explanation(best, clause), explaining

    def _rate_function(self, change: ContractChange) -> float:
        functions = self._frames.get(change.path, {})
        if not functions:
            return 0.0
        depth = functions.get(change.name.rpartition(".")[2])
        return 0.0 if depth is None else _FRAME_DECAY**depth * _KIND_WEIGHTS.get(change.kind, 0.9)

    def _find_depth(self, path: str) -> int | None:
        """Return how far a file is from the error; None if it is not on the way."""
        functions = self._frames.get(path)
        return min(functions.values()) if functions else None

    def _read_tokens(self, contract: MergeContract) -> MergeTokens:
        hits: dict[str, tuple[float, ContractChange | None]] = {}

        def add(name: str, weight: float, change: ContractChange | None) -> None:
            if name in self._names and weight > hits.get(name, (0.0, None))[0]:
                hits[name] = weight, change

        for change in contract.changes:
            weight = _weigh_kind(change)
            for name, share in _list_change_tokens(change):
                add(name, weight * share, change)
        title = _WORD.findall(contract.title)[:_MAX_TITLE_WORDS]
        for word in title:
            add(word, 0.6, None)
        for path in contract.files:
            add(path.rpartition("/")[2].partition(".")[0], 0.5, None)
        members = (change for change in contract.changes if self._names_member(change))
        return MergeTokens(hits, self._words & {word.lower() for word in title}, next(members, None))

    def _names_member(self, change: ContractChange) -> bool:
        names = ChangeNames(change)
        if change.kind is ChangeKind.BEHAVIOUR or not names.owner or names.last not in self._names:
            return False
        owner = names.owner_name.lower()
        return any(owner.endswith(each) for each in self._classes)

    def _rate_rarity(self, name: str) -> float:
        return self._rate_share(self._counts[name])

    def _rate_share(self, count: int) -> float:
        """Return 1 for what one merge has, and 0 for what all have."""
        if self._total < 2:
            return 1.0
        return max(0.0, 1 - math.log(max(1, count)) / math.log(self._total))


def _weigh_kind(change: ContractChange) -> float:
    if change.kind not in GONE:
        return _KIND_WEIGHTS.get(change.kind, 0.8)
    return _SHIM_WEIGHT if change.is_importable else 1.0


def list_names(trace: TraceNames) -> frozenset[str]:
    """Return the names of an error's text and of its errors, without those that say nothing."""
    names = {part for each in trace.identifiers for part in (each, *_split_name(each))}
    for error in trace.errors:
        names.update(error.names)
        names.update(each for each in (error.owner.rpartition(".")[2], error.function) if each)
    return frozenset(name for name in names if len(name) > 2 and not _COMMON.fullmatch(name))


def list_frame_paths(trace: TraceNames) -> frozenset[str]:
    return frozenset(_index_frames(trace.frames))


def _split_name(name: str) -> list[str]:
    return name.replace("::", ".").split(".")[-2:]


def _list_change_tokens(change: ContractChange) -> Iterable[tuple[str, float]]:
    """Yield the tokens of a change, with how much each stands for it."""
    names = ChangeNames(change)
    yield change.name, 1.0
    yield names.last, 0.8
    if names.owner:
        yield names.shown, 1.0
        yield names.owner_name, 0.5
    if change.new_name:
        yield change.new_name.rpartition(".")[2], 0.7
    changed = names.old_parameters.keys() ^ names.new_parameters.keys()
    for parameter in changed:
        yield parameter, 0.6


def _index_frames(frames: Sequence[Frame]) -> dict[str, dict[str, int]]:
    """Return, by each path that a frame's file may have in a repository, its functions with their depth."""
    index: dict[str, dict[str, int]] = {}
    for depth, frame in enumerate(frames[:_MAX_NEAR_FRAMES]):
        parts = [part for part in frame.path.split("/") if part not in ("", ".", "..")][-_MAX_PATH_PARTS:]
        # a file's bare name stands for too many files
        for start in range(len(parts) - 1):
            functions = index.setdefault("/".join(parts[start:]), {})
            functions.setdefault(frame.function, depth)
    return index
