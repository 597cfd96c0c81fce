"""The state of a team: channels, messages, streams, views and the values of their elements."""
