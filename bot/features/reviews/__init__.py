"""AI bug reviews: merged pull requests are read again for bugs, by a larger model with the source at hand."""
