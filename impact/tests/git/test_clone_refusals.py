"""Clones that can't be read are refused in one sentence, which says what to do."""

import os
from pathlib import Path

import pytest

from impact.errors import ImpactError, UsageError
from impact.git.clone_trees import CloneTrees
from impact.testing.clones import git, needs_git

pytestmark = needs_git


class TestRefusals:
    def catch_refusal(self, clone: CloneTrees, kind: type[ImpactError] = UsageError) -> str:
        with pytest.raises(kind) as caught:
            list(clone.read_commits(clone.list_line()))
        # dots in names are no ends of sentences
        sentence = str(caught.value).replace("...", "")
        assert sentence.endswith(".")
        assert ". " not in sentence
        assert "\n" not in sentence
        return str(caught.value)

    def test_no_folder(self, tmp_path: Path) -> None:
        assert "is not a readable folder" in self.catch_refusal(CloneTrees(tmp_path / "nothing"))

    def test_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch(0o700)
        assert "is not a readable folder" in self.catch_refusal(CloneTrees(tmp_path / "file"))

    def test_no_clone(self, tmp_path: Path) -> None:
        assert "is not a git clone" in self.catch_refusal(CloneTrees(tmp_path))

    def test_a_folder_inside_of_a_clone(self, made_clones: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--no-checkout", str(made_clones), "copy")
        (tmp_path / "copy" / "inside").mkdir()
        assert "is not a git clone" in self.catch_refusal(CloneTrees(tmp_path / "copy" / "inside"))

    def test_no_commits(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q", "empty")
        assert "has no commits" in self.catch_refusal(CloneTrees(tmp_path / "empty"))

    @pytest.mark.parametrize("branch", ["nosuch", "--all", "HEAD~1..", "", "a b", "main\x1b[31m"])
    def test_no_such_branch(self, made_clones: Path, branch: str) -> None:
        assert "has no branch" in self.catch_refusal(CloneTrees(made_clones, branch))

    def test_no_git(self, made_clones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert "install git" in self.catch_refusal(CloneTrees(made_clones))

    def test_a_clone_of_another_user(
        self, made_clones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # as git itself says it, where nobody can make a folder somebody else's
        git_ = tmp_path / "git"
        git_.write_text(
            "#!/bin/sh\necho \"fatal: detected dubious ownership in repository at '/x'\" >&2\nexit 128\n"
        )
        git_.chmod(0o700)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        assert "safe.directory" in self.catch_refusal(CloneTrees(made_clones))

    def test_a_partial_clone_fetches_nothing(self, made_clones: Path, tmp_path: Path) -> None:
        git(made_clones, "config", "uploadpack.allowFilter", "true")
        git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{made_clones}", "partial")
        before = _files(tmp_path / "partial")
        assert "partial clone" in self.catch_refusal(CloneTrees(tmp_path / "partial"))
        assert _files(tmp_path / "partial") == before

    def test_a_damaged_clone(self, made_clones: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--no-checkout", "--no-hardlinks", str(made_clones), "damaged")
        folder = tmp_path / "damaged"
        tree = git(folder, "rev-parse", "HEAD^{tree}")
        for pack in (folder / ".git" / "objects" / "pack").glob("*.pack"):
            moved = tmp_path / pack.name
            pack.rename(moved)
            for rest in (folder / ".git" / "objects" / "pack").iterdir():
                rest.unlink()
            # as loose objects, of which one can be lost
            with moved.open("rb") as content:
                git(folder, "unpack-objects", "-q", standard_input=content)
        lost = folder / ".git" / "objects" / tree[:2] / tree[2:]
        lost.chmod(0o600)
        lost.unlink()
        assert "git fsck" in self.catch_refusal(CloneTrees(folder), ImpactError)


def _files(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_size) for path in folder.rglob("*") if path.is_file())
