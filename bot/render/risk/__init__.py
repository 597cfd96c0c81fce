"""Risk lists and their score."""
