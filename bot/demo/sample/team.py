"""A small team that builds on vLLM: its tree, its profile, and what the sample day changes for others.

The tree is in ``downstream``: there each file ends in ``.sample``, so that no tool takes it for a part of the bot.
``profile.json`` and ``contracts.json`` are made from it and from a clone of vLLM: ``python -m docs.sample CLONE``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from importlib.resources import files
from importlib.resources.abc import Traversable

from bot.demo.sample.day import load_sample_day
from bot.domain.profile.entries import ProfileEntry
from bot.domain.pull_requests.models import Repository
from bot.services.contract.reader import CONTRACT_JSON
from impact.contract.models import MergeContract
from impact.profile.models import Profile
from impact.profile.profile_json import parse_profile
from impact.source.models import SourceFile

PROFILE_NAME = "satellite"
PACKAGES = ("vllm",)
CONTRACTS_FILE, PROFILE_FILE = "contracts.json", "profile.json"
_SUFFIX = ".sample"


def list_team_files() -> tuple[SourceFile, ...]:
    """Return the files of the team's tree, by path."""
    source_files = _iterate_files(files("bot.demo.sample").joinpath("downstream"), "")
    return tuple(sorted(source_files, key=lambda file: file.path))


def load_profile() -> Profile:
    """Load the team's profile, linked to vLLM as it was before the sample day."""
    return parse_profile(_read_text(PROFILE_FILE))


def load_contracts() -> Mapping[int, MergeContract]:
    """Load what each merge of the sample day changes for others, by number."""
    contracts = map(CONTRACT_JSON.load, json.loads(_read_text(CONTRACTS_FILE)))
    return {contract.number: contract for contract in contracts}


def build_sample_entry(profile: Profile) -> ProfileEntry:
    """Return the entry of the team's profile. It has no source to scan each day."""
    at = profile.scanned_at.astimezone(UTC)
    return ProfileEntry(
        profile.name,
        Repository.parse(load_sample_day().repository),
        profile.packages,
        uses=len(profile.uses),
        files=profile.files,
        refreshed_at=at,
        moved_at=at,
    )


def _iterate_files(folder: Traversable, path: str) -> Iterator[SourceFile]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _iterate_files(item, f"{path}{item.name}/")
        elif item.name.endswith(_SUFFIX):
            yield SourceFile(f"{path}{item.name.removesuffix(_SUFFIX)}", item.read_text(encoding="utf-8"))


def _read_text(name: str) -> str:
    return files("bot.demo.sample").joinpath(name).read_text(encoding="utf-8")
