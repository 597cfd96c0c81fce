"""Summaries of single pull requests: `/prsummary`, "Details", and what digests and answers show of them."""
