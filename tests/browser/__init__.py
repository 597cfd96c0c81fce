"""``prdigest demo`` as a visitor sees it: a real process, and a real browser that must not complain."""
