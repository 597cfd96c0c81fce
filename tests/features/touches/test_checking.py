"""The type checker as second judge: real mirrors, the real checker, a real store."""

from __future__ import annotations

import os
import signal
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from bot.app import App
from bot.features.touches.checking import check_merges, check_way
from bot.features.touches.service import judge_merges
from bot.platform import deadlines
from bot.platform.git.folder import MirrorFolder, hold_file
from bot.platform.git.reading import MirrorReader
from impact.checker.diagnostics import CheckedMerges
from impact.contract.models import MergeContract
from impact.repository import Repository
from impact.testing.clones import needs_checker, needs_git
from impact.touches.models import TouchLevel
from tests.features.touches.worlds import ENTRY, PROFILE, open_app
from tests.helpers.builders import NOON, REPOSITORY, changed_file, pull
from tests.helpers.checks import eventually
from tests.helpers.mirrors import put_mirror

pytestmark = [needs_git, needs_checker, pytest.mark.slow]

PAIR, THREE = b"def run():\n    return 1, 2\n", b"def run():\n    return 1, 2, 3\n"
OURS = b"from engine.core import run\n\nfirst, second = run()\n"
TEAM = Repository("octo", "plugin")


def list_merges(commits: list[str]) -> list[MergeContract]:
    return [MergeContract(number, commit, NOON, "Change") for number, commit in enumerate(commits, 1)]


class Trial:
    """A bot with mirrors of an upstream of four commits, of which the third makes a result longer."""

    def __init__(self, store: Redis, folder: Path) -> None:
        self.root, self.store = folder / "mirrors", store
        base = {"engine/__init__.py": b"", "engine/core.py": PAIR}
        self.commits = put_mirror(
            self.root, str(REPOSITORY), [base, {"readme.md": b"x"}, {"engine/core.py": THREE}, {"readme.md": b"y"}]
        )
        self.app = self.open_app()
        self.entry = replace(ENTRY, source=TEAM)
        self.put_team({"plugin/worker.py": OURS})

    def put_team(self, files: dict[str, bytes | None]) -> None:
        commit = put_mirror(self.root, f"{TEAM}", [files])[-1]
        contents = dict.fromkeys(files, "1")
        self.profile = replace(PROFILE, commit=commit, uses=(), contents=contents)
        self.app.profiles.put(self.entry, self.profile)

    def open_app(self, **settings: Any) -> App:
        app = open_app(self.store, source_versions=MirrorReader(self.root))
        app.settings = app.settings.model_copy(update={"prdigest_mirror": self.root, **settings})
        return app

    def check(self, commits: list[str] | None = None) -> CheckedMerges:
        return check_merges(self.app, self.profile, list_merges(commits or self.commits[1:]), self.entry)

    def forget_failures(self) -> None:
        for key in self.store.keys("check_failed:*"):
            self.store.delete(key)

    def is_clean(self) -> bool:
        return not (self.root / "~checker").exists()


@pytest.fixture
def trial(store: Redis, tmp_path: Path) -> Trial:
    return Trial(store, tmp_path)


def test_what_the_checker_alone_sees_breaks_with_its_message_and_our_line(trial: Trial) -> None:
    checked = trial.check()
    assert checked.sentence == "A type checker judged beside the rules, in 1 of your files."
    [finding] = checked.findings[trial.commits[2]]
    assert (finding.use.path, finding.use.line, finding.use.text) == (
        "plugin/worker.py",
        3,
        "first, second = run()",
    )
    assert [checked.findings[commit] for commit in (trial.commits[1], trial.commits[3])] == [(), ()]
    assert trial.is_clean()
    # another channel, and a process that starts nothing: there is no mirror to look at any more
    MirrorFolder(trial.root, REPOSITORY).path.rename(trial.root / "away")
    assert trial.check() == check_merges(trial.app, trial.profile, list_merges(trial.commits[1:])) == checked


def test_judged_merges_have_both_witnesses(trial: Trial) -> None:
    merge = pull(7, files=[changed_file("engine/core.py")], merge_commit=trial.commits[2])
    report, _ = judge_merges(trial.app, "ascend", [merge])
    [hit] = report.touching.ignore_coverage()
    assert (hit.number, hit.level, hit.touches[0].use.line) == (7, TouchLevel.BREAKS, 3)
    assert report.judges == "A type checker judged beside the rules, in 1 of your files."
    # with another commit of the team's, nothing is known yet
    trial.put_team({"plugin/worker.py": b"\n" + OURS})
    trial.app.starts_checks = False
    report, _ = judge_merges(trial.app, "ascend", [merge])
    assert report.judges == "The rules judged alone: nobody has had these merges checked yet."
    trial.app.starts_checks = True
    report, _ = judge_merges(trial.app, "ascend", [merge])
    assert report.touching.ignore_coverage()[0].touches[0].use.line == 4


def test_a_way_has_what_fails_at_its_end(trial: Trial) -> None:
    start, *_, end = trial.commits
    checked = check_way(trial.app, trial.profile, start, end, trial.entry)
    assert [*checked.findings] == [trial.commits[2]]
    assert check_way(trial.app, trial.profile, start, end) == checked
    assert check_way(trial.app, trial.profile, trial.commits[2], end, trial.entry).findings == {}
    unknown = check_way(trial.app, trial.profile, start, "f" * 40, trial.entry)
    assert unknown.sentence == "The rules judged alone: the mirror of octo/engine does not have them."


def test_what_the_team_ignores_is_left_out(trial: Trial) -> None:
    rule = b"ignore:\n  - path: plugin/*\n    reason: ours alone\n"
    trial.put_team({"plugin/worker.py": OURS, ".prdigest-profile.yaml": rule, "tool/a.py": OURS})
    listed = trial.check().findings[trial.commits[2]]
    assert [each.use.path for each in listed] == ["tool/a.py"]


def test_without_both_trees_the_rules_judge_alone_and_say_why(trial: Trial) -> None:
    def ask(app: App, **entry: Any) -> str:
        return check_merges(
            app, trial.profile, list_merges(trial.commits[2:]), replace(trial.entry, **entry)
        ).sentence

    alone = "The rules judged alone: "
    switched_off = trial.open_app(prdigest_type_checker="off")
    assert ask(switched_off) == f"{alone}the type checker is switched off."
    no_mirror = trial.open_app(prdigest_mirror=Path("off"))
    assert ask(no_mirror) == f"{alone}this bot keeps no mirror of the repositories."
    assert ask(trial.app, source=None) == f"{alone}the profile is from a file, so your code is not at hand."
    other = Repository("octo", "other")
    reason = "the mirror of octo/other can't be used: there is no mirror yet"
    assert ask(trial.app, source=other) == ask(trial.app, upstream=other) == f"{alone}{reason}."
    gone = replace(trial.profile, commit="e" * 40)
    lacking = check_merges(trial.app, gone, list_merges(trial.commits[2:]), trial.entry)
    assert lacking.alone == "the mirror of your code lacks the commit that was scanned"
    assert trial.is_clean()


def test_merges_that_the_mirror_lacks_are_judged_by_rules_alone(trial: Trial) -> None:
    checked = trial.check([trial.commits[2], "f" * 40])
    assert len(checked.findings[trial.commits[2]]) == 1
    assert checked.get_witness("f" * 40) is None
    assert checked.sentence == (
        "The rules judged alone, but for 1 merge: the mirror of octo/engine does not have them."
    )


def test_a_check_without_time_is_told_and_not_tried_again_at_once(trial: Trial) -> None:
    with deadlines.bound_work(0):
        late = trial.check()
    assert late.sentence == "The rules judged alone: reading the mirrors took too long."
    assert trial.check() == late
    # after half an hour
    trial.forget_failures()
    assert not trial.check().alone
    assert trial.store.keys("check_failed:*") == []
    assert trial.is_clean()


def test_a_damaged_mirror_keeps_nothing(trial: Trial) -> None:
    objects = MirrorFolder(trial.root, REPOSITORY).path / "objects"
    for file in [*objects.rglob("*")]:
        if file.is_file():
            file.chmod(stat.S_IRUSR | stat.S_IWUSR)
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    checked = trial.check()
    assert checked.alone in ("a mirror can't be read", "a file of a mirror can't be read")
    assert str(trial.root) not in checked.sentence
    assert trial.store.keys("checked:*") == []


def test_a_check_waits_for_another_one_and_finds_what_that_left(trial: Trial) -> None:
    with hold_file(trial.root / "~checker.lock", 1) as is_held:
        assert is_held
        with deadlines.bound_work(0.5):
            assert trial.check().alone == "other checks take all the time"
    (trial.root / "~checker" / "impact-checker-dead").mkdir(parents=True)
    assert not trial.check().alone
    assert trial.is_clean()


def test_a_check_with_which_its_process_died_is_not_tried_again_at_once(trial: Trial) -> None:
    pid = os.fork()
    if not pid:
        try:
            trial.check()
        finally:
            os._exit(0)
    eventually(lambda: trial.store.keys("check_failed:*"))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not trial.is_clean()
    assert trial.check().alone == "the last check came to no end"
    trial.forget_failures()
    assert not trial.check().alone
    assert trial.is_clean()


SECRET = b"ghp_" + b"a1" * 18
HOSTILE = b"from engine.core import run\n\nkey = '%s'; first, second = run()  # <!channel> `*_~\n" % SECRET


def test_credentials_and_markup_in_our_lines_stay_where_they_are(trial: Trial) -> None:
    trial.put_team({"plugin/worker.py": HOSTILE})
    [finding] = trial.check().findings[trial.commits[2]]
    assert "ghp_" not in finding.use.text
    assert check_merges(trial.app, trial.profile, list_merges(trial.commits[1:])).findings[trial.commits[2]] == (
        finding,
    )
