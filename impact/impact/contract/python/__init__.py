"""Changes of Python names between two versions of a repository's files."""
