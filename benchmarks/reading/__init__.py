"""Measurements of reading: files, patches, and the second reading of a day."""
