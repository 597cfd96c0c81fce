"""A whole file with its change: every line of it, and every line that was deleted from it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from bot.domain.pull_requests.diff import DiffLine, split_hunks
from impact.source.models import SourceFile

# places of one hunk that are compared, before and after where its header says that it stands
_MAX_PLACES = 50


def annotate_file(file: SourceFile, patch: str) -> tuple[DiffLine, ...] | None:
    """Return the lines of a file after a change with the deleted ones between them, None if the patch differs.

    A patch is the diff of a pull request's own branch: once it is merged, its lines may stand further down or up
    in the file, because others changed the file too. The line numbers returned are those in the file.
    """
    lines = file.lines
    index = _index_lines(lines)
    annotated: list[DiffLine] = []
    shift = 0  # lines by which the last hunk stands further down than its header says
    done = 0  # lines of the file that are annotated
    for _, hunk in split_hunks(patch):
        new_side = [line.text for line in hunk if line.mark != "-"]
        expected = _get_first_index(hunk) + shift
        place = _find_lines(lines, index, new_side, expected, done)
        if place is None:
            return None
        shift += place - expected
        annotated += _number_unchanged(lines, done, place, _get_old_offset(annotated))
        annotated += _number_hunk(hunk, place, _get_old_offset(annotated))
        done = place + len(new_side)
    return (*annotated, *_number_unchanged(lines, done, len(lines), _get_old_offset(annotated)))


def restore_old_text(annotated: Sequence[DiffLine]) -> str:
    """Return the text of the file before the change."""
    return "".join(f"{line.text}\n" for line in annotated if line.mark != "+")


def _index_lines(lines: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """Return at which indices each line stands."""
    index: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        index.setdefault(line, []).append(at)
    return index


def _get_first_index(hunk: Sequence[DiffLine]) -> int:
    """Return the index of the first line of the new side, by the header of the hunk."""
    first = hunk[0].new - 1
    # a hunk with nothing on its new side is numbered by the line before it
    return first if any(line.mark != "-" for line in hunk) else first + 1


def _find_lines(
    lines: Sequence[str], index: Mapping[str, Sequence[int]], block: list[str], expected: int, least: int
) -> int | None:
    """Return the index at which a block of lines stands, the nearest one to ``expected`` from ``least`` on."""
    if not block:
        return min(max(expected, least), len(lines))
    rarest = min(range(len(block)), key=lambda at: len(index.get(block[at], ())))
    places = index.get(block[rarest], ())
    middle = bisect_left(places, expected + rarest)
    candidates = [at - rarest for at in places[max(middle - _MAX_PLACES, 0) : middle + _MAX_PLACES]]
    fitting = [at for at in candidates if at >= least and lines[at : at + len(block)] == block]
    return min(fitting, key=lambda at: abs(at - expected), default=None)


def _get_old_offset(annotated: Sequence[DiffLine]) -> int:
    """Return how many more lines the old file has than the new one up to here."""
    if not annotated:
        return 0
    last = annotated[-1]
    return last.old - last.new + (last.mark == "-") - (last.mark == "+")


def _number_unchanged(lines: Sequence[str], start: int, end: int, offset: int) -> Iterator[DiffLine]:
    for at in range(start, end):
        yield DiffLine(" ", lines[at], at + 1 + offset, at + 1)


def _number_hunk(hunk: Sequence[DiffLine], place: int, offset: int) -> Iterator[DiffLine]:
    old, new = place + 1 + offset, place + 1
    for line in hunk:
        yield DiffLine(line.mark, line.text, old, new, line.lacks_newline)
        old += line.mark != "+"
        new += line.mark != "-"
