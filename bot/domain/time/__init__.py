"""Days in time zones, and ranges of days."""
