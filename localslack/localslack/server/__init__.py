"""The team: its Web API, and what whoever runs it does with its channels, its people and their views."""
