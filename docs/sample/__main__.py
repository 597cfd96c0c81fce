"""``python -m docs.sample CLONE``: makes the sample's ``profile.json``, ``contracts.json`` and ``may_go.json``.

The clone is one of vLLM. Run it again when the sample team's tree changes, or a rule of the scan or of the
extraction.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bot.demo.sample.team import PROFILE_FILE, PROFILE_NAME, SPENT_FILE
from bot.demo.stand_in import CONTRACTS_FILE, load_sample_day
from bot.features.touches.contracts import CONTRACTS
from bot.features.touches.team_history import SPENT, KeptSpent
from bot.platform.git.reading import open_clone_trees
from impact.clones.clone_contracts import ContractExtractor
from impact.clones.replay_cache import UpstreamTree
from impact.clones.spent_uses import list_spent
from impact.clones.upstream_line import CloneMerge, UpstreamCommits, read_upstream
from impact.contract.models import ChangeKind, ContractChange, MergeContract, Migration
from impact.git.clone_trees import CloneTrees
from impact.history.merges import ClonedMerge
from impact.profile.file_uses import scan_file
from impact.profile.linking import UpstreamIndex, link_profile
from impact.profile.models import Profile, dump_profile
from impact.profile.scan import build_profile
from impact.python.models import Signature
from impact.repository import Repository
from impact.source.models import SourceFile
from impact.text.strings import truncate_text
from impact.touches.spent import SpentUse

_FOLDER = Path(__file__).parents[2] / "bot" / "demo" / "sample"
PACKAGES = ("vllm",)
_SUFFIX = ".sample"
_AUTHOR = ("-c", "user.name=sample", "-c", "user.email=sample@localhost")
# characters: the sample has facts, not the source of others
_MAX_TEXT = 100


def main(clone: str) -> int:
    """Write the files; return 0."""
    with open_clone_trees(Path(clone)) as trees:
        upstream = _read_day(trees)
        merges = upstream.merges
        extractor = ContractExtractor(trees)
        contracts = [_shorten(extractor.extract(merge)) for merge in merges]
        profile = _build_profile(trees, merges[0])
        spent = _list_spent(trees, profile, upstream.named)
    write_contracts(contracts)
    _write(PROFILE_FILE, dump_profile(profile))
    _write(SPENT_FILE, json.dumps(SPENT.codec.dump(KeptSpent(spent))))
    return 0


def write_contracts(contracts: Iterable[MergeContract]) -> None:
    """Write what the merges change, one merge on a line."""
    lines = ",\n".join(json.dumps(CONTRACTS.codec.dump(each)) for each in contracts)
    _write(CONTRACTS_FILE, f"[\n{lines}\n]")


def list_team_files() -> tuple[SourceFile, ...]:
    """Return the files of the team's tree, by path."""
    top = _FOLDER / "downstream"
    paths = sorted(top.rglob(f"*{_SUFFIX}"))
    return tuple(
        SourceFile(path.relative_to(top).as_posix().removesuffix(_SUFFIX), path.read_text(encoding="utf-8"))
        for path in paths
    )


def _read_day(trees: CloneTrees) -> UpstreamCommits:
    """Return the merges of the sample day, oldest first."""
    day = load_sample_day()
    hashes = {pull.merge_commit_sha for pull in day.pulls}
    line = [commit for commit in trees.list_line() if commit.sha in hashes]
    return read_upstream(trees, line, Repository.parse(day.repository))


def _build_profile(trees: CloneTrees, first: CloneMerge) -> Profile:
    """Return the team's profile, linked to upstream before the first merge of the day."""
    tree = UpstreamTree(trees)
    tree.move_to(first.parent)
    uses = [scan_file(file.path, file.text, PACKAGES) for file in list_team_files()]
    at = first.commit.committed_at
    profile = build_profile(PROFILE_NAME, PROFILE_NAME, "", at, PACKAGES, uses)
    return link_profile(profile, UpstreamIndex(tree.load_outline))


def _list_spent(trees: CloneTrees, profile: Profile, merges: Sequence[ClonedMerge]) -> tuple[SpentUse, ...]:
    """Return what of the team's code may go at the end of the day, without lines of upstream."""
    with tempfile.TemporaryDirectory() as folder:
        for file in list_team_files():
            path = Path(folder, file.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8")
        for arguments in (("init", "-q"), ("add", "."), (*_AUTHOR, "commit", "-qm", "The sample team")):
            subprocess.run(["git", "-C", folder, *arguments], check=True)  # noqa: S603, S607
        with open_clone_trees(Path(folder)) as team:
            known = replace(profile, commit=team.list_line()[-1].sha)
            start, end = (merge.merge_commit for merge in (merges[0], merges[-1]))
            spent = list_spent(team, known, trees, start, end, merges[1:])
    return tuple(replace(each, difference="") for each in spent)


def _shorten(contract: MergeContract) -> MergeContract:
    """Return a contract without private names, and without what only explains it at length."""
    kept = tuple(_cut_texts(each) for each in contract.changes if _is_kept(each))
    migrations = _select_short(contract.migrations, {change.name for change in kept})
    return replace(contract, title="", changes=kept, migrations=migrations, calls={})


def _is_kept(change: ContractChange) -> bool:
    last = change.name.rpartition(".")[2]
    is_private = last.startswith("_") and not last.endswith("__")
    return change.kind is not ChangeKind.BEHAVIOUR and not is_private


def _cut_texts(change: ContractChange) -> ContractChange:
    """Return a change with short lines, and with signatures by which calls are judged: no types."""
    return replace(
        change,
        before=truncate_text(change.before, _MAX_TEXT),
        after=truncate_text(change.after, _MAX_TEXT),
        old_signature=_drop_types(change.old_signature),
        new_signature=_drop_types(change.new_signature),
    )


def _drop_types(signature: Signature | None) -> Signature | None:
    if signature is None:
        return None
    parameters = tuple(replace(each, annotation="") for each in signature.parameters)
    return replace(signature, parameters=parameters, returns="")


def _select_short(
    migrations: Mapping[str, Iterable[Migration]], names: Iterable[str]
) -> dict[str, tuple[Migration, ...]]:
    """Return the migrations of these names whose lines need no cut."""
    short = {
        name: tuple(
            each for each in migrations.get(name, ()) if max(len(each.before), len(each.after)) <= _MAX_TEXT
        )
        for name in names
    }
    return {name: each for name, each in sorted(short.items()) if each}


def _write(name: str, text: str) -> None:
    (_FOLDER / name).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
