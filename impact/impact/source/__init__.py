"""Files of a repository and commits."""
