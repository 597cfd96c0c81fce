"""Which merges can have to do with an error, by the text that they change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from impact.contract.models import FileVersions
from impact.touches.breakage.kinship import Kinship
from impact.touches.breakage.mentions import list_frame_paths, list_names
from impact.touches.breakage.traceback_names import TraceNames

_CLASS = re.compile(r"^class (\w{1,200})", re.M)
_WORD = re.compile(r"[A-Za-z_]\w{0,200}")
_PATH_WORD = re.compile(r"[\w-]{1,200}")


class RelevanceFilter:
    """Filter of merges: a name of the error is in a changed line or path, or a class that its class may extend."""

    def __init__(self, trace: TraceNames, kinship: Kinship) -> None:
        self._names = frozenset(
            part for name in list_names(trace) for part in _WORD.findall(name.replace("-", "_"))
        )
        self._paths = list_frame_paths(trace)
        # an error that names an argument or a member is explained by a line that has it
        self._owners = tuple({error.owner for error in trace.errors if error.owner and not error.names})
        self._kinship = kinship

    def is_relevant(self, versions: Sequence[FileVersions]) -> bool:
        return any(self._is_near(each) for each in versions)

    def _is_near(self, pair: FileVersions) -> bool:
        paths = [file.path for file in (pair.old, pair.new) if file]
        if any(path in self._paths for path in paths) or self._names_path(paths):
            return True
        old, new = (file.text if file else "" for file in (pair.old, pair.new))
        changed = "\n".join(set(old.split("\n")) ^ set(new.split("\n")))
        if not self._names.isdisjoint(_WORD.findall(changed.replace("-", "_"))):
            return True
        return self._has_kin(old) or (new != old and self._has_kin(new))

    def _names_path(self, paths: Iterable[str]) -> bool:
        return any(not self._names.isdisjoint(_PATH_WORD.findall(path)) for path in paths)

    def _has_kin(self, text: str) -> bool:
        """Return whether a class of a file may be a base of the class that an error is about."""
        if not self._owners:
            return False
        classes = set(_CLASS.findall(text))
        return any(self._kinship.measure(owner, each) for owner in self._owners for each in classes)
