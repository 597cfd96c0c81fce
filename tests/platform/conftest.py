"""The certificate that servers of both rooms have."""

from __future__ import annotations

from tests.adapters.conftest import certificate

__all__ = ["certificate"]
