"""Requests that begin with a word of their own after ``/prdigest``."""
