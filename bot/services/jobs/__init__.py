"""The types of jobs and their payloads, for those who enqueue jobs and those who run them."""
