"""Answers, notices and greetings."""
