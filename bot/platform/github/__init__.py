"""GitHub: pull requests, discussions, releases and files, as clean values."""
