"""Collects the tests once: the processes that share them are forks of one that has collected."""
