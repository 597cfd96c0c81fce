"""``prdigest doctor``: checks, probes and wording."""
