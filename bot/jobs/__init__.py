"""Jobs that one process hands to another: Dramatiq actors, one for each declared kind of job.

Delivery is at least once: when a worker is killed, its jobs run again elsewhere after some ten seconds. The second
run finds the work of the first one done.
"""
