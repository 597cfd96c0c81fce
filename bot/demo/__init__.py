"""The demo: the whole bot in one process, with a local Slack in a browser instead of a workspace."""
