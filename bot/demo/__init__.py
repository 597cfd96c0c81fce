"""The demo: the whole bot in one process, with a local Slack in a browser in the place of a workspace."""
