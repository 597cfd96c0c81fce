"""The tools with which a model reads pull requests."""
