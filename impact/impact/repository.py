from __future__ import annotations

import re
from dataclasses import dataclass

from impact.errors import UsageError
from impact.text.strings import quote_input

GITHUB_WEB = "https://github.com"
# GitHub's rule for names: letters, digits, '-', '_', '.', never only dots, and no '.' in owners. Accounts that an
# enterprise manages end with '_' and its short name (docs.github.com, "Username considerations")
_REPOSITORY = re.compile(r"(?P<owner>[A-Za-z0-9][A-Za-z0-9_-]*)/(?P<name>(?!\.{1,2}$)[A-Za-z0-9._-]{1,100})")


@dataclass(frozen=True, slots=True)
class Repository:
    owner: str
    name: str

    @classmethod
    def parse(cls, text: str, web: str = GITHUB_WEB) -> Repository:
        """Parse ``owner/name`` or an address of pages at ``web``. Raises UsageError."""
        trimmed = text.strip().removeprefix(f"{web}/").removesuffix("/").removesuffix(".git")
        match = _REPOSITORY.fullmatch(trimmed)
        if not match:
            raise UsageError(
                f"{quote_input(text)} is not a repository: write it as owner/name, such as vllm-project/vllm."
            )
        return cls(match["owner"], match["name"])

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"
