"""One file for each outside world: GitHub, Claude, Slack, Redis, the embedded store."""
