"""All tests of the bot, and what they share.

Machines that keep no bytecode, as containers often do not, would compile all of it again in each of the processes
that run the tests.
"""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
