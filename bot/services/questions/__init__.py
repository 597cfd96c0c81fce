"""Answers questions asked in threads: what is read for them, the talk with the model, memory and limits."""
