"""Answers to requests, each given once."""
