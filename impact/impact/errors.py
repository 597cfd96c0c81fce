"""Errors, each with one sentence for a person."""

from __future__ import annotations


class ImpactError(Exception):
    """Base of all errors that end in one sentence for a person instead of a traceback."""


class UsageError(ImpactError):
    """An invalid input or setting. The message says what to enter instead."""
