"""``prdigest risks``: how good the list of risky changes is."""
