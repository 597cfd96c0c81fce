"""Modals: forms, and windows that open at once and are filled later."""
