"""The site that is built from these pages: its generator's settings, its hooks, and the drawings of Slack."""
