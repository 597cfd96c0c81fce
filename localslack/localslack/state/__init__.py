"""What a team remembers: channels, messages, streams, views and what they are set to."""
