"""The local Slack in a browser: what a person sees, and what they do there."""
