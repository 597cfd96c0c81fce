"""Archived days: what a site and feeds show of a repository. Nothing of a team or of Slack is in them."""
