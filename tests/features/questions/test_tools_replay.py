"""The tools on three real days, exact to the pull request and the line; what is right is computed from records.

Here nothing of the product's own reading is used: paths, hunks and words are found by simpler means.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from bot.features.questions.reading import ReadingSession
from bot.features.questions.rules import ThreadSubject
from bot.platform.models.prompts import MAX_DIFF_LENGTH, MAX_RESULT_LENGTH
from tests.features.questions.archives import (
    REPLAYED,
    VLLM,
    call_tool,
    days,
    every_record,
    numbers,
    open_replay,
    records,
    replayed_shelf,
    run_tool,
)
from tests.helpers.builders import SHARED, needs_shared, summary
from tests.helpers.worlds import LONG_AFTER, ScriptedGitHub

pytestmark = [pytest.mark.slow, needs_shared]

COUNTS = {"2026-02-22": 10, "2026-02-24": 43, "2026-02-28": 18}
BUSIEST = "2026-02-24"
SEARCHED = re.compile(r"^(\d+) pull requests? of (\d+) searched match: (.*)$", re.M)
FOUND = re.compile(r"^#(\d+) (\S+):(\d+): ([+\- ])(.*)$", re.M)
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
Record = dict[str, Any]


def newest_first(merges: list[Record]) -> list[int]:
    """Numbers in the order of their merges, the newest first."""
    return [each["number"] for each in sorted(merges, key=lambda r: (r["merged_at"], r["number"]), reverse=True)]


def of_day(date: str, is_meant: Callable[[Record], bool] = lambda _record: True) -> list[int]:
    return newest_first([record for record in records(date) if is_meant(record)])


def paths(record: Record) -> list[str]:
    return [item["filename"] for item in record["files"]]


def lines_of(patch: str) -> Iterator[tuple[str, int, str]]:
    """Each line of a patch: its mark, its number in the file and what it says; counted by the hunks' headers."""
    rows = patch.split("\n")
    at = 0
    while at < len(rows):
        header = HUNK.match(rows[at])
        assert header, rows[at]
        old, new = int(header[1]), int(header[3])
        old_end, new_end = old + int(header[2] or 1), new + int(header[4] or 1)
        at += 1
        while old < old_end or new < new_end:
            mark, text = rows[at][0], rows[at][1:]
            if mark != "\\":
                yield mark, old if mark == "-" else new, text
                old, new = old + (mark != "+"), new + (mark != "-")
            at += 1
        at += at < len(rows) and rows[at].startswith("\\")


def lines_by_place(record: Record) -> dict[tuple[str, int, str], str]:
    return {
        (item["filename"], number, mark): text
        for item in record["files"]
        for mark, number, text in lines_of(item.get("patch", "@@ -0,0 +0,0 @@"))
    }


def list_changed_lines(record: Record) -> list[str]:
    rows = [row for item in record["files"] for row in item.get("patch", "").split("\n")]
    return [row for row in rows if row[:1] in ("+", "-")]


def counts(text: str) -> dict[int, int]:
    """What a search says of how many lines match, by pull request."""
    match = SEARCHED.search(text)
    assert match
    counts_by_number = {int(number): int(count) for number, count in re.findall(r"#(\d+) \((\d+)\)", match[3])}
    assert len(counts_by_number) == int(match[1])
    return counts_by_number


# the lists


@pytest.mark.parametrize("date", REPLAYED)
def test_the_list_of_a_day_is_complete_and_true(date: str) -> None:
    text = run_tool(open_replay(date), "list_pull_requests")
    assert text.startswith(f"vllm-project/vllm, {date} (America/Los_Angeles): {COUNTS[date]} pull requests merged")
    assert numbers(text) == of_day(date)
    assert len(set(numbers(text))) == COUNTS[date]
    assert "[cut" not in text
    lines = {int(line[1:].split()[0]): line for line in text.split("\n") if line.startswith("#")}
    for record in records(date):
        line = lines[record["number"]]
        merged = datetime.fromisoformat(record["merged_at"])
        assert " ".join(record["title"].split()) in line
        assert f"by {record['author']}, merged {merged:%Y-%m-%d %H:%M}Z by {record['merged_by']} |" in line
        assert f"+{record['additions']} -{record['deletions']} |" in line
        assert re.search(rf"\| {record['changed_files']} files? ", line)


def test_the_list_of_the_busiest_day_is_complete_with_its_summaries() -> None:
    there = replayed_shelf()
    there.summaries.stub_summary = summary(
        headline="The scheduler no longer waits for the slowest of all workers on a node"
    )
    session = open_replay(BUSIEST)
    for entry in session.read_days(VLLM, session.subject.span).entries:
        there.app.refresh_summary(entry.pull)
    text = run_tool(there.toolbox(ThreadSubject(VLLM, days(BUSIEST))), "list_pull_requests")
    assert numbers(text) == of_day(BUSIEST)


def below(folder: str) -> Callable[[Record], bool]:
    return lambda record: any(path.startswith(f"{folder}/") for path in paths(record))


def ending(suffix: str) -> Callable[[Record], bool]:
    return lambda record: any(path.endswith(suffix) for path in paths(record))


def within(folder: str) -> Callable[[Record], bool]:
    return lambda record: any(folder in path.split("/")[:-1] for path in paths(record))


def outside(folder: str) -> Callable[[Record], bool]:
    return lambda record: any(folder not in path.split("/")[:-1] for path in paths(record))


def either(*these: Callable[[Record], bool]) -> Callable[[Record], bool]:
    return lambda record: any(is_meant(record) for is_meant in these)


TOUCHING = {
    "vllm/v1": ("vllm/v1",),
    "*.cu": ("*.cu",),
    "csrc/**": ("csrc/**",),
    "!tests/": ("!tests/",),
    ".buildkite/": (".buildkite/",),
    "vllm/envs.py": ("vllm/envs.py",),
    "*.md or docs/": ("*.md", "docs/"),
    "vllm/**/*.py": ("vllm/**/*.py",),
    "no/such/folder": ("no/such/folder",),
}
MEANT: dict[str, Callable[[Record], bool]] = {
    "vllm/v1": below("vllm/v1"),
    "*.cu": ending(".cu"),
    "csrc/**": below("csrc"),
    "!tests/": outside("tests"),
    ".buildkite/": within(".buildkite"),
    "vllm/envs.py": lambda record: "vllm/envs.py" in paths(record),
    "*.md or docs/": either(ending(".md"), within("docs")),
    "vllm/**/*.py": lambda record: any(p.startswith("vllm/") and p.endswith(".py") for p in paths(record)),
    "no/such/folder": lambda _record: False,
}


@pytest.mark.parametrize("date", REPLAYED)
@pytest.mark.parametrize("named", TOUCHING)
def test_all_that_touch_a_path(named: str, date: str) -> None:
    expected = of_day(date, MEANT[named])
    text = run_tool(open_replay(date), "list_pull_requests", paths=list(TOUCHING[named]))
    assert numbers(text) == expected
    assert f"\n{len(expected)} of them fit:" in text


def test_the_paths_above_tell_pull_requests_apart() -> None:
    counts_by_path = {named: len(of_day(BUSIEST, is_meant)) for named, is_meant in MEANT.items()}
    assert {name for name, count in counts_by_path.items() if not 0 < count < COUNTS[BUSIEST]} == {
        "no/such/folder"
    }


@pytest.mark.parametrize("date", REPLAYED)
@pytest.mark.parametrize(("argument", "field"), [("merged_by", "merged_by"), ("authors", "author")])
def test_who_wrote_and_who_merged_what(argument: str, field: str, date: str) -> None:
    session = open_replay(date)
    people = Counter(record[field] for record in records(date))
    for person, count in people.items():
        own = [record["number"] for record in records(date) if record[field] == person]
        text = run_tool(session, "list_pull_requests", **{argument: [person.upper()]})
        assert sorted(numbers(text)) == sorted(own)
        assert len(own) == count
    both = sorted(people)[:2]
    text = run_tool(session, "list_pull_requests", **{argument: both})
    assert numbers(text) == of_day(date, lambda record: record[field] in both)


def test_a_hard_fact_of_who_merged() -> None:
    session = open_replay(BUSIEST)
    assert len(numbers(run_tool(session, "list_pull_requests", merged_by=["vllm-bot"]))) == 29
    assert len(numbers(run_tool(session, "list_pull_requests", merged_by=["simon-mo"]))) == 3
    assert numbers(run_tool(session, "list_pull_requests", authors=["LucasWilkinson"], words=["revert"])) == [
        35211
    ]


def facts(text: str) -> dict[int, list[str]]:
    """What stands between the bars of each line, from the right: risk, size, people, type and area."""
    return {
        int(line[1:].split()[0]): line.removesuffix(" | takes another back").split(" | ")[::-1]
        for line in text.split("\n")
        if re.match(r"#\d+ ", line)
    }


@pytest.mark.parametrize("date", REPLAYED)
def test_areas_and_types_part_the_day(date: str) -> None:
    session = open_replay(date)
    whole = {
        number: entry_facts[3].split(", ", 1)
        for number, entry_facts in facts(run_tool(session, "list_pull_requests")).items()
    }
    assert len(whole) == COUNTS[date]
    for area in {area for _, area in whole.values()}:
        listed = numbers(run_tool(session, "list_pull_requests", areas=[area.upper()]))
        assert listed == [number for number, (_, own) in whole.items() if area.casefold() in own.casefold()]
    for kind in ("TRIVIAL", "SUBSTANTIAL"):
        listed = numbers(run_tool(session, "list_pull_requests", types=[kind]))
        assert listed == [number for number, (own, _) in whole.items() if own == kind]


def test_an_area_holds_what_lies_there() -> None:
    """Where all files lie in one place there is no doubt about the area."""
    session = open_replay(BUSIEST)
    docs = of_day(BUSIEST, lambda record: all(path.startswith("docs/") for path in paths(record)))
    models = of_day(BUSIEST, lambda r: all(p.startswith("vllm/model_executor/models/") for p in paths(r)))
    assert docs
    assert models
    assert set(docs) <= set(numbers(run_tool(session, "list_pull_requests", areas=["documentation"])))
    assert set(models) <= set(numbers(run_tool(session, "list_pull_requests", areas=["models"])))


@pytest.mark.parametrize("date", REPLAYED)
def test_the_bands_of_risk_lie_within_each_other(date: str) -> None:
    session = open_replay(date)
    order = ["lowest", "low", "middle", "high", "highest"]
    whole = {
        number: entry_facts[0].split()[1]
        for number, entry_facts in facts(run_tool(session, "list_pull_requests")).items()
    }
    assert set(whole.values()) <= set(order)
    for at, band in enumerate(order[1:], 1):
        listed = numbers(run_tool(session, "list_pull_requests", least_risk=band))
        assert listed == [number for number, own in whole.items() if order.index(own) >= at]


def test_filters_of_several_kinds_must_all_fit() -> None:
    text = run_tool(
        open_replay(BUSIEST), "list_pull_requests", paths=["vllm/v1"], merged_by=["vllm-bot"], words=["fix"]
    )
    expected = of_day(
        BUSIEST,
        lambda r: (
            below("vllm/v1")(r)
            and r["merged_by"] == "vllm-bot"
            and "fix" in f"{r['title']}\n{r['body'] or ''}".casefold()
        ),
    )
    assert numbers(text) == expected
    assert 0 < len(expected) < COUNTS[BUSIEST]


# other days than the thread's


def test_another_day_may_be_named() -> None:
    session = open_replay("2026-02-28")
    assert numbers(run_tool(session, "list_pull_requests", days=BUSIEST)) == of_day(BUSIEST)
    assert numbers(run_tool(session, "list_pull_requests", days="yesterday")) == of_day("2026-02-28")
    assert numbers(run_tool(session, "list_pull_requests")) == of_day("2026-02-28")
    assert "Tuesday 24 February 2026" in session.provenance.sources


@pytest.mark.parametrize("named", ["2026-02-22..2026-02-28", "8d", "2026-02-20 ... 2026-03-01"])
def test_a_range_holds_every_day_of_it(named: str) -> None:
    text = run_tool(open_replay("2026-02-28"), "list_pull_requests", days=named, paths=["csrc/"])
    assert ": 71 pull requests merged" in text
    assert numbers(text) == newest_first([record for record in every_record() if within("csrc")(record)])


def test_a_list_that_is_too_long_says_so() -> None:
    session = open_replay("2026-02-28")
    text = run_tool(session, "list_pull_requests", days="8d")
    listed = numbers(text)
    assert listed == newest_first(list(every_record()))[: len(listed)]
    if len(listed) < 71:
        assert f"[cut: {71 - len(listed)} pull requests not shown; narrow it with filters]" in text
        assert f"{71 - len(listed)} pull requests of the list" in session.provenance.gaps
    assert len(text) <= MAX_RESULT_LENGTH + 100


# searches


def matching(record: Record, words: tuple[str, ...]) -> int:
    return sum(any(word in row.casefold() for word in words) for row in list_changed_lines(record))


ENVIRONMENT = ("vllm_", "os.environ", "os.getenv")


@pytest.mark.parametrize("date", REPLAYED)
@pytest.mark.parametrize(
    "words",
    [("VLLM_",), ("os.environ", "os.getenv"), ("VLLM_", "os.environ", "os.getenv"), ("import",), ("zzz no",)],
    ids=" or ".join,
)
def test_a_search_names_every_pull_request_and_counts_its_lines(words: tuple[str, ...], date: str) -> None:
    text = run_tool(open_replay(date), "search", any_of=list(words))
    folded = tuple(word.casefold() for word in words)
    match_counts = {record["number"]: matching(record, folded) for record in records(date)}
    assert counts(text) == {number: count for number, count in match_counts.items() if count}
    match = SEARCHED.search(text)
    assert match
    assert int(match[2]) == COUNTS[date]


def test_a_hard_fact_of_a_search() -> None:
    text = run_tool(open_replay("2026-02-28"), "search", any_of=["vllm_"])
    assert counts(text) == {35621: 3, 35441: 1, 34214: 21, 35571: 2}


def check_places(text: str, where: str) -> int:
    """Every line that a search shows stands in that file at that place; how many there are."""
    places = {record["number"]: lines_by_place(record) for record in every_record()}
    shown = FOUND.findall(text)
    for number, path, line, mark, quote in shown:
        stands = places[int(number)][path, int(line), mark].rstrip()
        assert f"{mark}{stands}" == f"{mark}{quote}" or (quote.endswith("…") and stands.startswith(quote[:-1]))
        assert where == "diff" or mark != " "
    return len(shown)


@pytest.mark.parametrize("date", REPLAYED)
@pytest.mark.parametrize(
    ("word", "where"), [("vllm_", "changed_lines"), ("def ", "changed_lines"), ("return", "diff"), ("the", "diff")]
)
def test_lines_and_their_numbers_stand_in_the_file(word: str, where: str, date: str) -> None:
    text = run_tool(open_replay(date), "search", any_of=[word], where=where)
    shown = check_places(text, where)
    cut = re.search(r"\[cut: ([\d,]+) lines? not shown; search for fewer words or days\]$", text)
    hidden = int(cut[1].replace(",", "")) if cut else 0
    assert shown + hidden == sum(counts(text).values())
    assert shown


def test_a_search_of_the_diff_sees_context_too() -> None:
    session = open_replay(BUSIEST)
    expected = {
        record["number"]: count
        for record in records(BUSIEST)
        if (count := sum("logger" in text.casefold() for text in lines_by_place(record).values()))
    }
    narrow = counts(run_tool(session, "search", any_of=["logger"]))
    wide = counts(run_tool(session, "search", any_of=["logger"], where="diff"))
    assert wide == expected
    assert set(narrow) < set(wide)


def test_a_search_of_texts_sees_titles_and_no_diff() -> None:
    text = run_tool(open_replay(BUSIEST), "search", any_of=["revert", "cudagraph"], where="text")
    expected = of_day(
        BUSIEST, lambda r: bool(re.search("revert|cudagraph", f"{r['title']}\n{r['body'] or ''}", re.I))
    )
    assert sorted(counts(text)) == sorted(expected)
    assert "#35211 title: Revert" in text


def test_a_search_may_be_narrowed_to_files() -> None:
    text = run_tool(open_replay(BUSIEST), "search", any_of=["vllm_"], paths=["tests/"])
    expected: Counter[int] = Counter()
    for record in records(BUSIEST):
        for item in record["files"]:
            if "tests" in item["filename"].split("/")[:-1]:
                rows = item.get("patch", "").split("\n")
                expected[record["number"]] += sum(r[:1] in "+-" and "vllm_" in r.casefold() for r in rows if r)
    assert counts(text) == {number: count for number, count in expected.items() if count}
    assert all("tests/" in path for _, path, *_ in FOUND.findall(text))


def test_a_cut_hides_lines_but_no_number() -> None:
    session = open_replay(BUSIEST)
    text = run_tool(session, "search", any_of=["the", "import", "self"])
    assert "[cut: " in text
    assert len(text) <= MAX_RESULT_LENGTH + 100
    assert len(counts(text)) > 25
    assert {int(number) for number, *_ in FOUND.findall(text)} <= set(counts(text))
    assert "matching lines (too long)" in session.provenance.gaps


def test_of_many_pull_requests_each_has_a_line() -> None:
    text = run_tool(open_replay(BUSIEST), "search", any_of=["the", "import", "self"])
    assert {int(number) for number, *_ in FOUND.findall(text)} == set(counts(text))


# diffs


def by_number() -> dict[int, Record]:
    return {record["number"]: record for record in every_record()}


def open_record(record: Record) -> ReadingSession:
    return open_replay(next(date for date in REPLAYED if record in records(date)))


def test_a_whole_diff_holds_every_changed_line_or_says_that_it_is_cut() -> None:
    cut_ones = set()
    for number, record in by_number().items():
        session = open_record(record)
        text = run_tool(session, "read_diff", number=number)
        missing = Counter(list_changed_lines(record)) - Counter(text.split("\n"))
        is_cut = text.endswith("[cut: not the whole diff; name paths to see the rest]")
        assert bool(missing) == is_cut, number
        assert ("truncated" in session.provenance.gaps) == is_cut, number
        assert len(text) <= MAX_DIFF_LENGTH + 300
        assert session.provenance.sources == f"the diff of #{number}"
        if is_cut:
            cut_ones.add(number)
            assert "is not shown: " in text or "[Not shown, too large" in text
            assert_named(record, text)
    whole = {
        number
        for number, record in by_number().items()
        if sum(map(len, list_changed_lines(record))) < MAX_DIFF_LENGTH // 2
    }
    assert not cut_ones & whole
    assert {33726, 35148} <= cut_ones


def assert_named(record: Record, text: str) -> None:
    for item in record["files"]:
        missing = Counter(r for r in item.get("patch", "").split("\n") if r[:1] in ("+", "-"))
        if missing - Counter(text.split("\n")):
            assert item["filename"] in text or re.search(r"and \d+ more files\]", text)


@pytest.mark.parametrize("number", [33726, 35148])
def test_what_was_cut_of_a_diff_can_be_read_by_file(number: int) -> None:
    record = by_number()[number]
    session = open_record(record)
    for item in record["files"]:
        text = run_tool(session, "read_diff", number=number, paths=[item["filename"]])
        rows = [row for row in item.get("patch", "").split("\n") if row[:1] in ("+", "-")]
        missing = Counter(rows) - Counter(text.split("\n"))
        assert bool(missing) == ("[cut: " in text)
        assert not missing or len(item["patch"]) > MAX_DIFF_LENGTH * 3 // 4
        assert f"1 of {record['changed_files']} file" in text
        others = {each["filename"] for each in record["files"]} - {item["filename"]}
        assert not any(f"=== {other} (" in text for other in others)


def test_the_places_of_a_diff_are_whole_hunks() -> None:
    record = by_number()[33726]
    session = open_record(record)
    text = run_tool(session, "read_diff", number=33726, contains="VLLM_")
    expected = 0
    for item in record["files"]:
        for hunk in re.split(r"\n(?=@@ )", item.get("patch", "")):
            if any("vllm_" in row.casefold() for row in hunk.split("\n")[1:]):
                expected += 1
                assert hunk in text or "[cut: " in text
    assert expected
    assert len(re.findall(r"^@@ -\d", text, re.M)) == expected or "[cut: " in text
    assert "33726" in session.provenance.sources


def test_every_real_hunk_can_be_found_by_a_line_of_it() -> None:
    session = open_replay(BUSIEST)
    for record in records(BUSIEST)[:12]:
        longest = max(list_changed_lines(record), key=len)[1:201].strip()
        text = run_tool(session, "read_diff", number=record["number"], contains=longest)
        assert longest.casefold() in text.casefold()
        assert "No place" not in text


# single pull requests


def test_one_pull_request_with_its_files() -> None:
    for number, record in by_number().items():
        text = run_tool(open_record(record), "pull_request", number=number)
        assert numbers(text) == [number]
        assert " ".join(record["title"].split()) in text
        files = sorted(record["files"], key=lambda item: (-item["changes"], item["filename"]))
        named = [f"{f['filename']} ({f['status']}, +{f['additions']} -{f['deletions']})" for f in files]
        shown = sum(line in text for line in named)
        assert named[:shown] == [line for line in named if line in text], "the largest first"
        assert shown == len(named) or f" [cut: {len(named) - shown} more]" in text
        assert ("No description." in text) == (not (record["body"] or "").strip())


# what was reverted


def test_a_revert_of_something_older_is_told() -> None:
    session = open_replay(BUSIEST)
    text = run_tool(session, "taken_back")
    lines = [line for line in text.split("\n") if "takes back" in line or "was reverted" in line]
    assert [int(line[1:].split()[0]) for line in lines] == [35211]
    assert "takes back something whose number is not known, merged before these days" in lines[0]
    assert "says: nothing" in lines[0], "the record has no description"
    assert "reverts and repairs of Tuesday 24 February 2026 until 1 March 2026" in session.provenance.sources


@pytest.mark.parametrize("date", ["2026-02-22", "2026-02-28"])
def test_of_other_days_nothing_was_taken_back(date: str) -> None:
    assert "Nothing of these days was reverted." in run_tool(open_replay(date), "taken_back")


@pytest.mark.parametrize("date", REPLAYED)
def test_the_riskiest_are_those_of_the_highest_bands(date: str) -> None:
    session = open_replay(date)
    listed = numbers(run_tool(session, "list_pull_requests", least_risk="high"))
    text = run_tool(session, "taken_back")
    rated = numbers(text.partition("Rated riskiest by rules:")[2])
    assert set(rated) <= set(listed)
    assert len(rated) == min(len(listed), 8)
    assert bool(rated) != ("No pull request is rated risky." in text)


# the same through the real adapter


def test_the_real_adapter_gives_the_same() -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("list_pull_requests", {}),
        ("search", {"any_of": ["vllm_", "os.environ"]}),
        ("pull_request", {"number": 35211}),
        ("read_diff", {"number": 33726}),
        ("taken_back", {}),
    ]
    with ScriptedGitHub() as github:
        for date in REPLAYED:
            github.load_replay(SHARED / "replay" / date)
        there, here = open_replay(BUSIEST, github.pulls(LONG_AFTER)), open_replay(BUSIEST)
        for name, arguments in asked:
            assert call_tool(there, name, arguments) == call_tool(here, name, arguments)
        assert there.provenance.sources == here.provenance.sources
        assert len(github.calls_to("/repos/")) == COUNTS[BUSIEST], "one call for the files of each, once"
