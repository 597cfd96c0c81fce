"""Slack: the calls of its Web API with their limits and errors, and answers that each request gets once."""
