"""The history of merged pull requests: reverts, repairs and relands."""
