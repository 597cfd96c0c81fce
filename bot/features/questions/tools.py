"""The tools that answer the model's questions about pull requests: read-only, for allowed repositories only.

Each has arguments, whose descriptions are for the model, and a function that takes the session of one answer, and
raises PrdigestError. Every result is limited, and says where it was truncated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, create_model

from bot.features.merges.others import describe_others, list_excerpts
from bot.features.merges.risk import RiskBand
from bot.features.merges.view import Entry, format_outcome_fact
from bot.features.questions import texts
from bot.features.questions.reading import DayEntries, ReadingSession, describe_reverts
from bot.features.questions.texts import Where, find_places, has_word, select_files
from bot.features.touches.lines import name_level
from bot.features.watches.whereabouts import describe_places, describe_state, find_whereabouts
from bot.platform.models.packing import Coverage
from bot.platform.models.prompts import join_items
from bot.platform.models.tools import ToolArguments, ToolName, Tools
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.pulls.paths import Filters
from bot.platform.source.reading import shorten_path
from bot.platform.source.tools import SOURCE_TOOLS, list_missing_tools
from bot.redaction import redact_text
from bot.text import format_count
from impact.coverage import Coverage as ReadCoverage
from impact.coverage import CoveredList, CoveredPart
from impact.history.reverts import WATCH_WINDOW
from impact.profile.models import Profile, Use
from impact.profile.models import find_uses as find_profile_uses
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.models import MergeTouches

_MAX_VALUES = 10
WordList: TypeAlias = Annotated[tuple[str, ...], Field(max_length=_MAX_VALUES)]
_Number: TypeAlias = Annotated[int, Field(ge=1, lt=1_000_000_000)]
_MAX_RISKY = 8
# characters
_MAX_TOUCHES_LENGTH, _MAX_TOUCH_LENGTH = 8_000, 240
_MAX_TOUCHES, _MAX_PLACES = 5, 3
_BAND_LABELS = [band.label for band in RiskBand]

# --- the pull requests of some days


class SelectionArguments(ToolArguments):
    """A selection of pull requests; an omitted field selects all."""

    days: str = Field("", description="2026-02-28, 2026-02-22..2026-02-28, 7d; default: this thread's")
    repository: str = Field("", description="owner/name; default: this thread's")
    paths: WordList = Field((), description="globs as in .gitignore: vllm/v1, *.cu, !tests/; any of them")
    areas: WordList = Field((), description="areas as they stand in the lists, or parts of their names")
    authors: WordList = Field((), description="logins")
    merged_by: WordList = Field((), description="logins")
    labels: WordList = ()
    types: Annotated[tuple[Literal["TRIVIAL", "SUBSTANTIAL"], ...], Field(max_length=2)] = ()
    least_risk: Literal["", "low", "middle", "high", "highest"] = Field(
        "", description="this band of risk or above"
    )


class ListArguments(SelectionArguments):
    description: ClassVar[str] = (
        "List the pull requests merged in some days that fit all given filters, newest first."
    )

    words: WordList = Field((), description="any of them in title, description or summary")


def list_pull_requests(session: ReadingSession, arguments: ListArguments) -> str:
    """List pull requests, shortened if there are many: a missing number is worse than a missing headline."""
    days, fitting, unchecked = _select_entries(session, arguments)
    if any(word.strip() for word in arguments.words):
        hits = {match.number for match in texts.search_entries(fitting, arguments.words, Where.TEXT)}
        fitting = [entry for entry in fitting if entry.number in hits]
    session.provenance.add_days(days.span.title)
    head = days.cover(fitting, unchecked).render(
        str,
        lambda fitting: (texts.format_head(days), f"{len(fitting)} of them fit:"),
        f"{texts.format_head(days)}\n0 of them fit:",
    )
    forms = (texts.format_line, texts.format_short_line)
    listing = texts.format_entries(head, fitting, session.bounds.result, forms)
    return session.note_cut(listing, "pull requests of the list")


class SearchArguments(SelectionArguments):
    description: ClassVar[str] = (
        "Search diffs or texts of the pull requests of some days for any of the words, whatever their "
        "case; says which pull requests match and shows the lines with file and line number."
    )

    any_of: Annotated[tuple[str, ...], Field(min_length=1, max_length=_MAX_VALUES)]
    where: Where = Field(Where.CHANGED, description="changed_lines (+ and -), diff (also context), or text")


def search_lines(session: ReadingSession, arguments: SearchArguments) -> str:
    days, fitting, unchecked = _select_entries(session, arguments)
    searched = fitting
    if arguments.paths:
        searched = [
            replace(entry, pull=replace(entry.pull, files=select_files(entry.pull, arguments.paths)))
            for entry in fitting
        ]
    matches = [*texts.search_entries(searched, arguments.any_of, arguments.where)]
    session.provenance.add_search(days.span.title)
    if arguments.where is not Where.TEXT:
        cut = sum(bool(_note_unsearched(session, entry.pull)) for entry in fitting)
        unchecked = max(unchecked, sum(entry.pull.files is None for entry in days.entries)) + cut
    counts = Counter(match.number for match in matches)
    listed = join_items([f"#{number} ({count})" for number, count in counts.items()], session.bounds.result // 3)
    count = f"{format_count(len(counts), 'pull request')} of {len(fitting)} searched match: {listed or 'none'}"
    about = (texts.format_head(days), count)
    opening = days.cover(matches, unchecked).render(str, lambda _: about, "\n".join(about))
    lines = [*opening, *map(str, matches)]
    if sum(map(len, lines)) > session.bounds.result:
        lines[len(opening) :] = map(str, texts.interleave_matches(matches))
    return session.limit_lines(lines, "search for fewer words or days", "matching lines")


def _note_unsearched(session: ReadingSession, pull: PullRequest) -> list[str]:
    """Note what a search of a diff leaves out, and return it."""
    session.provenance.add_unloaded([pull])
    cut = []
    for file in pull.files or ():
        what = f"{truncate_text(file.path, 80)} of #{pull.number}"
        if file.patch is None and file.changed_lines:
            cut.append(f"{what} (GitHub sends no diff)")
        elif file.unread:
            cut.append(f"parts of {what} (its diff is cut)")
    for gap in cut:
        session.provenance.add_gap(gap)
    return cut


def _select_entries(session: ReadingSession, arguments: SelectionArguments) -> tuple[DayEntries, list[Entry], int]:
    """Return the days, those of their pull requests that match, and how many can't be judged."""
    filters = Filters(paths=arguments.paths, authors=arguments.authors, labels=arguments.labels)
    days, unchecked = session.read_named_days(arguments.repository, arguments.days), 0
    if arguments.paths or arguments.areas or arguments.least_risk:
        # without its files, nobody can say whether one of them matches
        session.provenance.add_unloaded(entry.pull for entry in days.entries)
        unchecked = sum(entry.pull.files is None for entry in days.entries)
    areas = tuple(area.casefold() for area in arguments.areas)
    merged_by = {name.casefold() for name in arguments.merged_by}
    bands = _BAND_LABELS[_BAND_LABELS.index(arguments.least_risk) :] if arguments.least_risk else _BAND_LABELS
    fitting = [
        entry
        for entry in days.entries
        if filters.is_match(entry.pull)
        and (not areas or has_word(entry.area, areas))
        and (not merged_by or entry.pull.merged_by.login.casefold() in merged_by)
        and (not arguments.types or entry.summary.type.value in arguments.types)
        and entry.risk.band.label in bands
    ]
    return days, fitting, unchecked


class TakenBackArguments(ToolArguments):
    description: ClassVar[str] = (
        "What was reverted or repaired in some days, by which pull request, with what it says of why; and "
        "which pull requests the risk rules rate highest, with their reasons."
    )

    days: str = ""
    repository: str = ""


def list_reverts(session: ReadingSession, arguments: TakenBackArguments) -> str:
    days = session.read_named_days(arguments.repository, arguments.days)
    last = max(min(session.today.date, days.span.last + WATCH_WINDOW), days.span.last)
    later = session.list_merges(days.repository, replace(days.span, last=last))
    for caveat in later.caveats:
        session.provenance.add_gap(f"perhaps some of what was merged after {days.span.title} ({caveat})")
    session.provenance.add_days(f"reverts and repairs of {days.span.title} until {last:%-d %B %Y}")
    reverts = describe_reverts(session, later.pulls, {entry.number for entry in days.entries})
    risky = sorted((entry for entry in days.entries if entry.risk.is_listed), key=lambda e: -e.risk.points)
    unchecked = sum(entry.pull.files is None for entry in days.entries)
    # which has these days, too
    covered = CoveredList(tuple(reverts), later.coverage)
    none = f"{texts.format_head(days)}\nNothing of these days was reverted."
    rated = days.cover(risky, unchecked).label(lambda _: "No pull request is rated risky.")
    lines = [
        *covered.render(str, lambda reverts: (texts.format_head(days), *reverts), none),
        *filter(None, ["Rated riskiest by rules:" if risky else rated]),
        *(f"#{each.number} {each.pull.title}: {texts.describe_risk(each)}" for each in risky[:_MAX_RISKY]),
    ]
    return session.limit_lines(lines, "ask for fewer days", "what was reverted")


# --- one pull request


class PullArguments(ToolArguments):
    description: ClassVar[str] = (
        "One pull request: facts, summary by a model, risk with reasons, files; of its author: labels, linked "
        "issues, the start of the description."
    )

    number: _Number
    repository: str = ""


def describe_pull_request(session: ReadingSession, arguments: PullArguments) -> str:
    entry = session.get_entry(session.parse_repository(arguments.repository), arguments.number)
    session.provenance.add_summary(entry.number)
    return session.limit_lines(texts.format_pull_request(entry).split("\n"), "read its diff", "lines about it")


class DiffArguments(ToolArguments):
    description: ClassVar[str] = (
        "The diff of one pull request, of all files or some, or only the places that contain a text, with the "
        "side and number of each such line."
    )

    number: _Number
    repository: str = ""
    paths: WordList = Field((), description="globs of files")
    contains: str = Field("", max_length=200)


def read_diff(session: ReadingSession, arguments: DiffArguments) -> str:
    pull = session.get_entry(session.parse_repository(arguments.repository), arguments.number).pull
    files, bounds = select_files(pull, arguments.paths), session.bounds
    if pull.files is None:
        session.provenance.add_diff(pull, files, ())
        return f"#{pull.number}: its files could not be loaded, so there is no diff to read."
    total = format_count(pull.changed_files, "file")
    head = f"#{pull.number} {collapse_lines(pull.title)}: {len(files)} of {total}"
    if arguments.contains.strip():
        session.provenance.add_diff(pull, files, ())
        cut = _note_unsearched(session, replace(pull, files=files))
        coverage = ReadCoverage.of(CoveredPart("files", len(cut), len(files), ", ".join(cut)))
        places = CoveredList(tuple(find_places(files, arguments.contains)), coverage)
        none = f"No place in it contains {arguments.contains!r}."
        lines = [head, *places.render(str, lambda hunks: hunks, none)]
        return session.limit_lines(lines, "name a path", f"places in #{pull.number}", bounds.diff)
    count = len(files) if arguments.paths else pull.changed_files
    classes = session.app.paths.get_path_classes(pull.repository)
    packed = texts.fit_diff(replace(pull, files=files, changed_files=count), bounds.diff, classes)
    session.provenance.add_diff(pull, files, packed.left_out)
    is_whole = packed.coverage is Coverage.FULL
    clipped = "" if is_whole else "\n[cut: not the whole diff; name paths to see the rest]"
    return f"{head}\n{packed.text or '[no text diff]'}{clipped}"


class DiscussionArguments(ToolArguments):
    description: ClassVar[str] = (
        "What people wrote about one pull request: the issues that it closes, comments, reviews and threads on "
        "lines, each with its place, author and role. It is what they say, not fact."
    )

    number: _Number
    repository: str = ""


def read_discussion(session: ReadingSession, arguments: DiscussionArguments) -> str:
    """Read what people wrote about a pull request; what is shown of it may be quoted."""
    reference = Reference(session.parse_repository(arguments.repository), arguments.number)
    discussion, provenance = session.fetch_discussion(reference), session.provenance
    remarks = texts.select_remarks(discussion)
    session.shown_remarks[reference] = {remark.anchor: remark for remark in remarks}
    provenance.add_discussion(discussion.number)
    hidden = discussion.unlisted + len(discussion.told) - len(remarks)
    if hidden:
        provenance.add_gap(f"{hidden} older remarks about #{discussion.number}")
    if discussion.is_partial:
        provenance.add_gap(f"a part of the discussion of #{discussion.number} (GitHub did not send it)")
    return texts.format_discussion(discussion, remarks)


class WhereArguments(ToolArguments):
    description: ClassVar[str] = (
        "Where one merged pull request is by now: the tags (releases) that hold it, copies of it on branches of "
        "releases, whether the readers' pins hold it, and what reverted or repaired it since. Also which other "
        "projects that build on this one run past it, and how they adapted, with lines of their diffs."
    )

    number: _Number
    repository: str = ""


def describe_whereabouts(session: ReadingSession, arguments: WhereArguments) -> str:
    pull = session.get_entry(session.parse_repository(arguments.repository), arguments.number).pull
    places = find_whereabouts(session.app, pull)
    session.provenance.add_search(f"the tags for #{arguments.number}")
    for gap in places.tags.coverage.gaps:
        session.provenance.add_gap(gap)
    outcomes = [f"It was {format_outcome_fact(each)}." for each in places.outcomes]
    others = [*describe_others(places.others), *list_excerpts(places.others)]
    head = f"#{places.pull.number} {collapse_lines(places.pull.title)} {describe_state(places.pull)}"
    lines = [*filter(None, [places.tags.explain_gaps()]), head, *describe_places(places), *outcomes, *others]
    return session.limit_lines(lines, "ask about one tag", "tags")


# --- files as they are after one


class SourceArguments(ToolArguments):
    """What tools over the source of a pull request take besides."""

    number: _Number
    repository: str = ""


def read_source(name: str, session: ReadingSession, arguments: Any) -> str:
    return SOURCE_TOOLS[name][1](session.get_source(arguments.repository, arguments.number), arguments)


# --- the readers' own code: only names, paths and the lines that use upstream go to a model, and nothing of a
# profile that forbids that


class ProfileArguments(ToolArguments):
    description: ClassVar[str] = (
        "Where the readers' own code uses something of this repository: the lines that use a name, or those of a "
        "file of theirs, with their place."
    )

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        description="a name or its last parts (Scheduler.schedule, VLLM_USE_V1, --max-model-len), or a path"
    )


def search_profile(session: ReadingSession, profile: Profile, arguments: ProfileArguments) -> str:
    query = arguments.name.strip()
    session.provenance.add_search(f"the profile {profile.name} for {shorten_path(query)}")
    scanned = f"as scanned on {profile.scanned_at:%Y-%m-%d}; its lines can't be cited, name file and line"

    def show(uses: Sequence[str]) -> tuple[str, ...]:
        count = f"{format_count(len(uses), 'use')} of {len(profile.uses):,}"
        return (f"{count} in the profile {profile.name}, {scanned}:", *uses)

    found_uses = find_profile_uses(profile, query)
    uses = found_uses.derive_each("files of your code", lambda use: use.path, lambda use: (_format_use(use),))
    lines = uses.render(str, show, *show(()))
    return session.limit_lines(lines, "give a longer name", f"uses of {query}")


def describe_touches(session: ReadingSession) -> str:
    """Return what touches the profile in the days of the thread, as code judged it; empty without a profile."""
    if session.profile is None:
        return ""
    subject = session.subject
    pulls = [entry.pull for entry in session.read_days(subject.repository, subject.span).entries]
    touched = session.app.read_touches(subject.profile, pulls)
    for gap in touched.coverage.gaps:
        session.provenance.add_gap(f"{gap} could not be read")
    report = touched.report
    if report is None:
        return touched.coverage.explain_gaps(is_empty=True)
    checked = f"{format_count(report.merges, 'merge')}, against {format_count(report.uses, 'use')}"

    def show(merges: Sequence[MergeTouches]) -> Iterator[str]:
        yield f"{len(merges)} of {checked}"
        for merge in merges:
            yield f"#{merge.number} {name_level(merge.level)}"
            for touch in merge.touches[:_MAX_TOUCHES]:
                change, others = touch.change, len(touch.uses) - _MAX_PLACES
                more = f"; {others} more" if others > 0 else ""
                places = "; ".join(map(_format_use, touch.uses[:_MAX_PLACES])) + more
                yield f"- {_shorten(change.name)} {change.kind}: {_shorten(touch.reason)}. Used at {places}"

    lines = [f"What touches the profile {report.profile}, judged by code:", *filter(None, [report.judges])]
    lines += report.touching.render(_shorten, show, f"none of {checked}")
    return session.limit_lines(lines, "ask about one of them", "hits", _MAX_TOUCHES_LENGTH)


def _format_use(use: Use) -> str:
    text = f": {_shorten(use.text)}" if use.text else ""
    line = f":{use.line}" if use.line else ""
    return f"{_shorten(use.path)}{line} {use.kind} {_shorten(use.name)}{text}"


def _shorten(text: str) -> str:
    return truncate_text(redact_text(collapse_lines(text)), _MAX_TOUCH_LENGTH)


# --- all of them

# by name: the arguments of each, and the function that gets the session and them
SHARED_TOOLS: Mapping[str, tuple[type[ToolArguments], Callable[[ReadingSession, Any], str]]] = {
    ToolName.LIST_PULL_REQUESTS: (ListArguments, list_pull_requests),
    ToolName.SEARCH: (SearchArguments, search_lines),
    ToolName.PULL_REQUEST: (PullArguments, describe_pull_request),
    ToolName.READ_DIFF: (DiffArguments, read_diff),
    ToolName.TAKEN_BACK: (TakenBackArguments, list_reverts),
    **{
        name: (create_model(shape.__name__, __base__=(SourceArguments, shape)), partial(read_source, name))
        for name, (shape, _) in SOURCE_TOOLS.items()
    },
    ToolName.READ_DISCUSSION: (DiscussionArguments, read_discussion),
    ToolName.WHERE_IS: (WhereArguments, describe_whereabouts),
}


def build_tools(session: ReadingSession) -> Tools:
    """Return the tools for one answer, the same for every question: so the model's service caches them."""
    missing = list_missing_tools(session.app.code)
    names = [name for name in SHARED_TOOLS if name not in missing]
    tools: Tools = {name: (shape, partial(run, session)) for name in names for shape, run in (SHARED_TOOLS[name],)}
    if session.profile is None:
        return tools
    search = partial(search_profile, session, session.profile)
    return {**tools, ToolName.FIND_PROFILE_USES: (ProfileArguments, search)}
