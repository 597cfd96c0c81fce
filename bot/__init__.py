"""prdigest: what merged yesterday in a fast repository, and what may hurt, told in Slack."""
