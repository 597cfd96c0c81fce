"""What the rooms of vendors share with those of adapters."""

from __future__ import annotations

from tests.adapters.conftest import certificate, github

__all__ = ["certificate", "github"]
