"""The local Slack in a browser: what a person sees of it, and what they do there."""
