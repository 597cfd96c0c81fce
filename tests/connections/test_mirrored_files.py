from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from bot.connections.sources import MirroredFiles
from bot.errors import GitHubUnavailable, MirrorUnavailable, SourceUnavailable
from bot.platform import deadlines
from bot.platform.git.mirror import GitMirror
from bot.platform.source.reading import update_mirror
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceProblem, SourceVersions
from tests.helpers.builders import REPOSITORY


@dataclass
class KnownFiles:
    text: str
    commits: Sequence[str] = ()
    error: Exception = field(default_factory=lambda: SourceUnavailable("There is no such commit."))
    asked: list[tuple[str, DiffSide]] = field(default_factory=list)

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        self.asked.append((commit, side))
        if commit not in self.commits:
            raise self.error
        missing = SourceProblem.MISSING if "nothing" in paths else None
        return {path: SourceFile(path, self.text, missing) for path in paths}

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        before = self.read_files(repository, commit, old, DiffSide.OLD)
        return SourceVersions(before, self.read_files(repository, commit, new))


@dataclass
class KnownMirror(GitMirror):
    """``GitMirror`` that notes the seconds it had, and may fail."""

    error: Exception | None = None
    seconds: list[float] = field(default_factory=list)

    def update(self, repository: Repository) -> None:
        self.seconds.append(deadlines.get_seconds_left())
        if self.error:
            raise self.error


class TestFallback:
    def test_github_is_asked_only_for_what_the_mirror_lacks(self) -> None:
        mirror, github = KnownFiles("mirror", ["a"]), KnownFiles("github", ["a", "b"])
        files = MirroredFiles(mirror, github)
        assert files.read_files(REPOSITORY, "a", ["x.py"])["x.py"].text == "mirror"
        assert github.asked == []
        assert files.read_files(REPOSITORY, "b", ["x.py"], DiffSide.OLD)["x.py"].text == "github"
        assert github.asked == [("b", DiffSide.OLD)]
        assert files.read_versions(REPOSITORY, "a", [], ["x.py"]).new["x.py"].text == "mirror"
        assert files.read_versions(REPOSITORY, "b", [], ["x.py"]).new["x.py"].text == "github"

    def test_a_file_that_is_missing_in_the_mirror_is_missing(self) -> None:
        mirror, github = KnownFiles("", ["a"]), KnownFiles("github", ["a"])
        files = MirroredFiles(mirror, github).read_files(REPOSITORY, "a", ["nothing"])
        assert (files["nothing"].problem, github.asked) == (SourceProblem.MISSING, [])

    def test_what_github_raises_is_raised(self) -> None:
        files = MirroredFiles(KnownFiles("mirror"), KnownFiles("", error=GitHubUnavailable("GitHub is away.")))
        with pytest.raises(GitHubUnavailable):
            files.read_files(REPOSITORY, "a", ["x.py"])


class TestUpdates:
    def test_a_failure_is_a_line_in_the_log(self, caplog: pytest.LogCaptureFixture) -> None:
        update_mirror(KnownMirror(MirrorUnavailable("The disk is full.")), REPOSITORY)
        assert caplog.messages == [
            f"files of {REPOSITORY} are read from GitHub where the mirror lacks them: The disk is full."
        ]

    def test_what_was_told_is_told_once(self, caplog: pytest.LogCaptureFixture) -> None:
        update_mirror(KnownMirror(MirrorUnavailable("Git is missing.", is_known=True)), REPOSITORY)
        assert [record.levelname for record in caplog.records] in ([], ["INFO"])

    def test_any_other_error_is_a_defect(self) -> None:
        with pytest.raises(ZeroDivisionError):
            update_mirror(KnownMirror(ZeroDivisionError()), REPOSITORY)

    def test_half_of_the_time_is_left_for_the_digest(self) -> None:
        mirror = KnownMirror()
        with deadlines.bound_work(100):
            update_mirror(mirror, REPOSITORY)
            assert deadlines.get_seconds_left() > 90
        update_mirror(mirror, REPOSITORY)
        assert mirror.seconds[0] <= 50
        assert mirror.seconds[1] == float("inf")

    def test_without_mirrors_nothing_happens(self, caplog: pytest.LogCaptureFixture) -> None:
        update_mirror(None, REPOSITORY)
        assert caplog.messages == []
