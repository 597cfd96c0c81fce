"""Records of pull requests, cleaned where they enter."""
