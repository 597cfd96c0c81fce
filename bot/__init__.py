"""prdigest: what merged yesterday in a fast repository, and what may hurt, told in Slack."""

from __future__ import annotations

from pathlib import Path

# where the wheel has the files of a checkout that it needs (pyproject.toml), and where the checkout has them
_SHIPPED_FOLDERS = (Path(__file__).parent / "shipped", Path(__file__).parents[1])


def read_shipped_file(name: str) -> bytes:
    """Read a file of the checkout, by its path there, also where there is only the installed package."""
    place = next(place for place in _SHIPPED_FOLDERS if (place / name).is_file())
    return (place / name).read_bytes()
