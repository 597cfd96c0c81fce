"""What ``--profile`` names: a profile of the bot, one in a file, or a clone that is scanned."""

from __future__ import annotations

from pathlib import Path

from bot.cli.base import get_current_time, open_command_app
from bot.cli.touches.evaluation import read_list
from bot.domain.errors import UsageError
from bot.domain.text.strings import quote_input
from bot.platform.git.clones import open_clone_trees
from impact.clones.clone_upgrade import scan_clone
from impact.profile.models import Profile
from impact.profile.names import parse_profile_name
from impact.profile.profile_json import parse_profile


def load_profile(text: str, at: str, packages: tuple[str, ...]) -> Profile:
    """Return the profile of a clone at a commit, of a file or of the store. Raises UsageError if there is none.

    ``packages`` are those whose uses a clone is scanned for. Without a commit, its newest one counts.
    """
    path = Path(text)
    if path.is_dir():
        with open_clone_trees(path) as trees:
            origin = trees.read_facts().repository
            name = origin.name if origin else path.resolve().name
            return scan_clone(trees, name, at, packages, get_current_time())
    if at:
        raise UsageError("--at needs a clone as --profile: leave it out.")
    return parse_profile(read_list(path)) if path.is_file() else _get_kept_profile(text)


def _get_kept_profile(text: str) -> Profile:
    """Return a profile of the store. Raises UsageError if there is none, and StoreUnavailable."""
    unknown = UsageError(f"There is no profile, file or clone {quote_input(text)}: name another one.")
    try:
        name = parse_profile_name(text)
    except UsageError as error:
        raise unknown from error
    with open_command_app() as app:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        profile = app.profiles.get_profile(name)
    if profile is None:
        raise unknown
    return profile
