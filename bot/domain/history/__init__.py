"""What happened to merged pull requests: reverts, repairs, relands."""
