"""Answers without a model: what a question asks, which tools it needs, and how the answer is worded."""
