"""Interfaces to the store."""
