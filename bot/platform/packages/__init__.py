"""The installed source of a pinned package: text files of its wheel from a package index. Nothing of it is run."""
