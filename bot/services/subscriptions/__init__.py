"""Subscriptions: their storage and changes, the schedule of their digests, and reports of failures."""
