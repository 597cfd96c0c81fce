"""``prdigest doctor``: the order of the checks, those that belong to no vendor, and their form."""
