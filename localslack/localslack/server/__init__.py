"""The team: its Web API, and control over its channels, people and views."""
