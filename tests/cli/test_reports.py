"""``prdigest report --since``: a folder of its own, made bit by bit, and whole at every moment."""

import fcntl
import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import feedparser
import pytest
from redis import Redis

from bot.features.profiles.service import ProfileEntry
from impact.profile.models import Profile, Use, UseKind
from tests.cli.conftest import Call
from tests.emulators.claude.server import Json, Refusal, Step, summary_answer
from tests.emulators.github.store import changed_file, pull, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY, SHARED, needs_shared
from tests.helpers.checks import eventually, is_one_sentence
from tests.helpers.data.golden import answers_of
from tests.helpers.data.golden_days import DAYS, answer_with
from tests.helpers.processes.command import Caught
from tests.helpers.world import World, replay, world

pytestmark = pytest.mark.slow

# the options that a day and several days have in common
OPTIONS = ("--repo", "octo/engine", "--timezone", "America/Los_Angeles", "--name", "Engine")
SINCE = ("report", *OPTIONS, "--since")
THREE_DAYS = (*SINCE, "2026-02-26", "--until", "2026-02-28", "--out")
FIRST, LAST = "2026/02/2026-02-26.md", "2026/02/2026-02-28.md"
FILES = {FIRST, "2026/02/2026-02-27.md", LAST, "contract.json", "feed.xml", "index.md"}


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    """Two merges on the first of three days, none on the second, one on the last; the files of all can be read."""
    with world(store_url) as made:
        for number, back in ((101, 2), (102, 2), (103, 0)):
            path = f"engine/part_{number}.py"
            file = changed_file(path, patch="@@ -1 +1 @@\n-def count(): ...\n+def recount(): ...")
            merged_at = NOON - timedelta(days=back) + timedelta(minutes=number)
            merged = pull(number, title=f"Count {number}", merged_at=merged_at, files=(file,))
            made.github.add("octo/engine", merged)
            before, after = (
                FixedTree({path: Entry(text)}) for text in (b"def count(): ...\n", b"def recount(): ...\n")
            )
            parent = TreeCommit(sha(f"before {number}"), before)
            made.github.add_commit("octo/engine", TreeCommit(sha(f"merge {number}"), after, parent))
        yield made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "made" / "reports"


def read_all(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def read_contract(root: Path) -> Any:
    return json.loads((root / "contract.json").read_text())


def check_works(root: Path) -> None:
    assert not feedparser.parse((root / "feed.xml").read_bytes()).bozo
    reports = [day["report"] for day in read_contract(root)["days"]]
    assert all((root / report).read_text().startswith("# Engine Merged PR Report") for report in reports)
    assert {line.split("](")[1].split(")")[0] for line in list_days(root)} <= set(reports)


def list_days(root: Path) -> list[str]:
    return [line for line in (root / "index.md").read_text().splitlines() if line.startswith("- [")]


def test_a_folder_has_the_reports_of_single_days_and_what_lists_them(
    there: World, call_command: Call, root: Path
) -> None:
    done = call_command(*THREE_DAYS, str(root), settings=there.settings)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{root} has 3 days; 3 made now.\n", "")
    assert read_all(root).keys() == FILES
    assert len(there.claude.requests) == 3
    for path in FILES:
        if path.startswith("2026"):
            alone = call_command("report", *OPTIONS, "--date", Path(path).stem, settings=there.settings)
            assert (root / path).read_bytes() == alone.stdout.encode()
    links = [f"- [2026-02-{n}](2026/02/2026-02-{n}.md)" for n in (28, 27, 26)]
    assert [line.partition(": ")[0] for line in list_days(root)] == links
    assert "2 merges: #10" in (root / "index.md").read_text()
    contract = read_contract(root)
    assert contract["unread_merges"] == []
    changes = [change for day in contract["days"] for merge in day["merges"] for change in merge["changes"]]
    assert {change["name"].rpartition(".")[2] for change in changes} >= {"count"}
    check_works(root)


def test_a_second_run_asks_nobody_and_writes_nothing(there: World, call_command: Call, root: Path) -> None:
    call_command(*THREE_DAYS, str(root), settings=there.settings)
    asked = len(there.github.calls), len(there.claude.requests)
    for path in root.rglob("*"):
        os.utime(path, (1, 1))
    done = call_command(*THREE_DAYS, str(root), settings=there.settings)
    assert done.stdout == f"{root} has 3 days; 0 made now.\n"
    assert {path.stat().st_mtime for path in root.rglob("*") if path.is_file()} == {1}
    assert (len(there.github.calls), len(there.claude.requests)) == asked
    done = call_command(*THREE_DAYS, str(root), "--again", settings=there.settings)
    assert done.stdout == f"{root} has 3 days; 3 made now.\n"
    assert len(there.github.calls) > asked[0]
    # nothing is new, so that no reader of the feed sees a day twice
    assert {path.stat().st_mtime for path in root.rglob("*") if path.is_file()} == {1}


def test_one_more_day_is_added_and_a_report_that_somebody_removed_comes_back(
    there: World, call_command: Call, root: Path
) -> None:
    two_days = (*SINCE, "2026-02-26", "--until", "2026-02-27", "--out", str(root))
    call_command(*two_days, settings=there.settings)
    before = read_all(root)
    (root / FIRST).unlink()
    (root / "CNAME").write_text("pages.example")
    last_day = (*SINCE, "2026-02-28", "--until", "2026-02-28", "--out", str(root))
    done = call_command(*last_day, settings=there.settings)
    assert done.stdout == f"{root} has 3 days; 1 made now.\n"
    done = call_command(*two_days, settings=there.settings)
    assert done.stdout == f"{root} has 3 days; 1 made now.\n"
    assert read_all(root)[FIRST] == before[FIRST]
    assert len(list_days(root)) == 3
    assert (root / "CNAME").read_text() == "pages.example"


def test_a_day_that_is_not_over_is_made_again(there: World, call_command: Call, root: Path) -> None:
    today = (*SINCE, "today", "--until", "today", "--out", str(root))
    for _ in range(2):
        assert call_command(*today, settings=there.settings).stdout == f"{root} has 1 day; 1 made now.\n"
    assert list_days(root)[0].endswith("merges not known yet (incomplete)")


def test_a_day_with_a_gap_is_made_again_and_then_final(there: World, call_command: Call, root: Path) -> None:
    def respond(body: dict[str, Any]) -> Step:
        return Refusal() if "#103:" in body["messages"][0]["content"] else Json(summary_answer())

    there.claude.respond = respond
    call_command(*THREE_DAYS, str(root), settings=there.settings)
    assert [day["is_final"] for day in read_contract(root)["days"]] == [True, True, False]
    before = read_contract(root)["days"]
    there.claude.respond = lambda _body: Json(summary_answer())
    done = call_command(*THREE_DAYS, str(root), settings=there.settings)
    assert done.stdout == f"{root} has 3 days; 1 made now.\n"
    after = read_contract(root)["days"]
    assert after[2]["is_final"]
    assert after[:2] == before[:2]


def test_a_day_that_fails_leaves_the_others_and_is_said(there: World, call_command: Call, root: Path) -> None:
    there.github.fail_next("401")
    done = call_command(*THREE_DAYS, str(root), settings=there.settings)
    assert (done.returncode, done.stdout) == (1, f"{root} has 2 days; 2 made now.\n")
    failure, end = done.stderr.splitlines()
    assert failure.startswith("2026-02-26: ")
    assert "rejected the token" in failure
    assert end == "1 day could not be made: run the same command again."
    check_works(root)
    done = call_command(*THREE_DAYS, str(root), settings=there.settings)
    assert (done.returncode, done.stdout) == (0, f"{root} has 3 days; 1 made now.\n")


def test_where_all_days_fail_the_folder_stays_empty(there: World, call_command: Call, root: Path) -> None:
    done = call_command(*THREE_DAYS, str(root), "--repo", "no/such", settings=there.settings)
    assert (done.returncode, done.stdout) == (1, f"{root} has 0 days; 0 made now.\n")
    assert done.stderr.count("no repository no/such") == 3
    assert call_command(*THREE_DAYS, str(root), settings=there.settings).returncode == 0


def test_a_killed_run_leaves_a_folder_that_works_and_the_next_one_completes_it(
    there: World, call_command: Call, root: Path, tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    call_command(*THREE_DAYS, str(whole), settings=there.settings)
    there.github.latency = 0.1
    process = Caught(*THREE_DAYS, str(root), settings=there.settings, folder=tmp_path)
    eventually(lambda: (root / FIRST).exists() and len(read_contract(root)["days"]) > 0)
    process.process.kill()
    assert process.await_end().returncode == -9
    check_works(root)
    there.github.latency = 0.0
    # and as if it had been killed between a report and the lists, and in the middle of a file
    (root / "index.md").unlink()
    (root / "feed.xml").write_bytes((root / "feed.xml").read_bytes()[:0])
    (root / ".prdigest-part").write_bytes(b"half")
    assert call_command(*THREE_DAYS, str(root), settings=there.settings).returncode == 0
    check_works(root)
    assert read_all(root).keys() == FILES
    assert [(root / path).read_bytes() for path in (FIRST, LAST)] == [
        (whole / path).read_bytes() for path in (FIRST, LAST)
    ]


def test_nothing_of_a_team_is_in_the_folder(there: World, store: Redis, call_command: Call, root: Path) -> None:
    private = "canary-of-what-is-private"
    use = Use(UseKind.FLAG, private, f"{private}.py", 4)
    profile = Profile(private, ("engine",), "", "", NOON, (use,))
    make_app(store).profiles.put(ProfileEntry(private, REPOSITORY, ("engine",)), profile)
    call_command(*THREE_DAYS, str(root), settings=there.settings)
    assert not [text for text in read_all(root).values() if private.encode() in text]


def test_what_a_run_left_that_was_killed_in_its_first_file_is_no_file_of_others(
    there: World, call_command: Call, root: Path
) -> None:
    root.mkdir(parents=True)
    (root / ".prdigest-part").write_bytes(b"half")
    assert call_command(*THREE_DAYS, str(root), settings=there.settings).returncode == 0
    assert read_all(root).keys() == FILES


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"version": 1, "name": "x"}'])
def test_a_contract_file_of_something_else_is_refused(
    text: str, there: World, call_command: Call, root: Path
) -> None:
    root.mkdir(parents=True)
    (root / "contract.json").write_text(text)
    check_refused("choose another folder", there, call_command, root)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [(("--repo", "octo/other"), "has the reports of octo/engine"), (("--timezone", "Asia/Tokyo"), "America/Los")],
)
def test_the_folder_of_another_repository_or_zone_is_refused(
    options: tuple[str, str], sentence: str, there: World, call_command: Call, root: Path
) -> None:
    call_command(*THREE_DAYS, str(root), settings=there.settings)
    check_refused(sentence, there, call_command, root, *options)


def test_a_folder_of_others_is_refused(there: World, call_command: Call, root: Path) -> None:
    root.mkdir(parents=True)
    (root / "letter.txt").write_text("mine")
    check_refused("choose an empty folder", there, call_command, root)


def test_two_processes_do_not_write_at_once(there: World, call_command: Call, root: Path) -> None:
    root.mkdir(parents=True)
    descriptor = os.open(root, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        check_refused("wait until it is done", there, call_command, root)
    finally:
        os.close(descriptor)


def test_no_link_leads_out_of_the_folder(there: World, call_command: Call, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a").write_text("theirs")
    call_command(*THREE_DAYS, str(root), settings=there.settings)
    for name in ("index.md", ".prdigest-part"):
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(tmp_path / "outside/a")
    assert call_command(*THREE_DAYS, str(root), settings=there.settings).returncode == 0
    assert not (root / "index.md").is_symlink()
    (root / "2026").rename(root / "moved")
    (root / "2026").symlink_to(tmp_path / "outside")
    check_refused("remove that link", there, call_command, root)
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["a"]
    assert (tmp_path / "outside/a").read_text() == "theirs"


def check_refused(sentence: str, there: World, call_command: Call, root: Path, *options: str) -> None:
    """Check that a run says in one sentence what to do, and leaves the folder as it was."""
    before = read_all(root)
    done = call_command(*THREE_DAYS, str(root), *options, settings=there.settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert is_one_sentence(done.stderr.strip())
    assert read_all(root) == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--until", "today"), "pass --since with the first one"),
        (("--again",), "pass --since with the first one"),
        (("--out", "."), "is a folder: pass --since"),
        (("--since", "2026-02-26"), "pass --out with a new or empty one"),
        (("--since", "2026-02-26", "--out", "a", "--date", "today"), "choose one of them"),
        (("--since", "2026-02-26", "--out", "a", "--until", "2026-02-25"), "There is no day from"),
        (("--since", "nonsense", "--out", "a"), "is not a date"),
        (("--since", "2026-02-26", "--out", "/dev/null/a"), "can't be written"),
    ],
)
def test_options_that_do_not_go_together_are_refused_at_once(
    arguments: tuple[str, ...], sentence: str, there: World, call_command: Call
) -> None:
    done = call_command("report", *OPTIONS, *arguments, settings=there.settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert there.github.calls == []


@needs_shared
def test_real_days_are_the_published_ones_to_the_byte(there: World, call_command: Call, root: Path) -> None:
    for date in DAYS:
        replay(there.github, SHARED, date)
    answer_with({k: v for date in DAYS for k, v in answers_of(SHARED / f"golden/{date}.md").items()}, there)
    vllm = ("--repo", "vllm-project/vllm", "--timezone", "America/Los_Angeles", "--name", "vLLM")
    days = ("report", *vllm, "--since", "2026-02-22", "--until", "2026-02-28", "--out", str(root))
    done = call_command(*days, settings=there.settings)
    assert (done.returncode, done.stdout) == (0, f"{root} has 7 days; 7 made now.\n")
    for date in DAYS:
        assert (root / f"2026/02/{date}.md").read_bytes() == (SHARED / f"golden/{date}.md").read_bytes()
    # the emulator has none of the files that these merges changed
    assert read_contract(root)["unread_merges"]
