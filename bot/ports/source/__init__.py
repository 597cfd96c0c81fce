"""Interfaces to the files and commits of a repository."""
