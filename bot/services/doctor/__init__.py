"""Checks an installation, and says what to do about what is wrong."""
