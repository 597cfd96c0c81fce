"""Measurements of reading: files, patches, and the AI bug review of a day."""
