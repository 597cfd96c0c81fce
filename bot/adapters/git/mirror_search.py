"""Uses of a name and changes of a path, searched for in a mirror."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from bot.adapters.git.mirror_reader import MirrorReader, build_revision, encode_path
from bot.adapters.git.processes import GitFailure, GitProcess, GitTimeout
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.source.search import SourceChange, SourceUse, SourceUses
from bot.domain.text.strings import quote_input
from bot.platform.cleaning import clean_code, clean_hash, clean_path, clean_title

# bytes of output that are read; characters of a name
_MAX_OUTPUT, _MAX_NAME = 2_000_000, 200
# characters of a line that are shown, before the name in it, and of a long line that are searched for credentials
_MAX_LINE, _LEAD, _MAX_SEARCHED = 300, 100, 10_000
_GREP_OPTIONS = ("-n", "-w", "-F", "-I", "-z", "--full-name", "--no-color", "--no-textconv")
_LOG_OPTIONS = ("-z", "--first-parent", "--no-color", "--encoding=UTF-8", "--format=%H%x00%ct%x00%s")
_NO_MATCH = 1
# a damaged commit may be later than a datetime allows
_MAX_SECONDS = 253_370_764_800
_ELLIPSIS = "…"


class GitMirrorSearch:
    """:class:`bot.ports.SourceSearch` over the mirrors that a reader reads."""

    def __init__(self, reader: MirrorReader) -> None:
        self._reader = reader

    def find_uses(self, repository: Repository, commit: str, name: str, limit: int) -> SourceUses:
        """Return the lines that have a name as a whole word. See :class:`bot.ports.SourceSearch`.

        Binary files are left out. The search ends after 2,000,000 bytes of lines, and at the reader's time limit.
        """
        revision = build_revision(commit)
        if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
            raise UsageError(f"{quote_input(name)} is not a name to search for: use up to {_MAX_NAME} characters.")
        arguments = ("grep", *_GREP_OPTIONS, "-e", name.encode(), revision, "--")
        with self._reader.open_command(repository, *arguments) as process:
            output, is_whole = _read_output(process, accepted=_NO_MATCH)
        uses = list(_parse_uses(output, len(revision) + 1, name))
        return SourceUses(tuple(uses[:limit]), is_complete=is_whole and len(uses) <= limit)

    def list_changes(self, repository: Repository, commit: str, path: str, limit: int) -> tuple[SourceChange, ...]:
        """Return the last commits that changed a path, newest first. See :class:`bot.ports.SourceSearch`.

        There are fewer if they can't be found within the reader's time limit.
        """
        revision, name = build_revision(commit), encode_path(path)
        if name is None:
            raise UsageError(f"{quote_input(path)} is not a path of a file or folder in the repository.")
        arguments = ("log", *_LOG_OPTIONS, f"--max-count={limit}", revision, "--", name)
        with self._reader.open_command(repository, *arguments) as process:
            output, _ = _read_output(process)
        parts = [part.decode("utf-8", "replace") for part in output.split(b"\0")]
        rows = zip(parts[0::3], parts[1::3], parts[2::3], strict=False)
        return tuple(
            SourceChange(clean_hash(sha), _parse_time(time), clean_title(title)) for sha, time, title in rows
        )


def _read_output(process: GitProcess, accepted: int = 0) -> tuple[bytes, bool]:
    """Return the output of a command, and whether no limit ended it. Raises GitFailure.

    ``accepted`` is an exit status that is no failure.
    """
    output = process.output.read(_MAX_OUTPUT + 1)
    if len(output) > _MAX_OUTPUT:
        return output[:_MAX_OUTPUT], False
    try:
        process.require_success()
    except GitTimeout:
        return output, False
    except GitFailure as failure:
        if failure.status != accepted or failure.hints_at_damage:
            raise
    # git goes on after a file that it can't read
    unread = GitFailure("the files can't be read", process.read_stderr())
    if unread.hints_at_damage:
        raise unread
    return output, True


def _parse_uses(output: bytes, prefix: int, name: str) -> Iterator[SourceUse]:
    """Yield the lines of git's output, each with ``revision:path``, a zero byte, a number and the text.

    ``prefix`` is the length of the revision with its colon. The last line may be cut.
    """
    at = 0
    while (end := output.find(b"\0", at)) >= 0:
        path = output[at + prefix : end]
        number = _read_digits(output, end + 1)
        begin = end + 1 + len(number) + 1
        if not number or begin > len(output):
            return
        at = output.find(b"\n", begin)
        line = output[begin : at if at >= 0 else len(output)]
        yield SourceUse(clean_path(path.decode("utf-8", "replace")), int(number), _show_line(line, name))
        if at < 0:
            return
        at += 1


def _read_digits(output: bytes, at: int) -> bytes:
    """Return the digits at a place, at most ten."""
    piece = output[at : at + 10]
    return piece[: len(piece) - len(piece.lstrip(b"0123456789"))]


def _show_line(line: bytes, name: str) -> str:
    """Return a line without credentials; of a long one, what is around the name."""
    text = line.decode("utf-8", "replace").rstrip("\r")
    start = max(0, text.find(name) - _MAX_SEARCHED)
    cleaned = clean_code(text[start : start + 2 * _MAX_SEARCHED])
    if len(cleaned) <= _MAX_LINE and len(cleaned) == len(text):
        return cleaned
    begin = max(0, cleaned.find(name) - _LEAD)
    shown = cleaned[begin : begin + _MAX_LINE]
    lead = _ELLIPSIS if start or begin else ""
    return f"{lead}{shown}{_ELLIPSIS if begin + _MAX_LINE < len(cleaned) else ''}"


def _parse_time(text: str) -> datetime:
    """Return the time of a commit (UTC), 1970 for what is none."""
    seconds = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(_MAX_SECONDS)) else 0
    return datetime.fromtimestamp(min(seconds, _MAX_SECONDS), UTC)
