"""The environment of ``git`` for a repository that the bot keeps: no settings of this user or machine count."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from impact.git.commands import build_environment

# where the HTTP client of the rest of the bot finds the certificates of a network of one's own
_CERTIFICATES = ("GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
# for a repository that the bot keeps itself, no settings of this user or machine count: they may rewrite
# addresses, run helpers for credentials and ask for passwords
_ISOLATION = {
    "GIT_ASKPASS": "",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    # no .netrc
    "HOME": os.devnull,
}


def build_isolated_environment(folder: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a repository of the bot's own, without the settings of this user and machine.

    ``more`` wins over the rest.
    """
    certificates = next((os.environ[name] for name in _CERTIFICATES if os.environ.get(name)), "")
    trust = {"GIT_SSL_CAINFO": certificates} if certificates else {}
    return {**build_environment(folder), **_ISOLATION, **trust, **(more or {})}
