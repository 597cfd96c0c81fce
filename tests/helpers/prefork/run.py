from dataclasses import dataclass
from typing import Any

# the environment variable in which clients and the server find it
RUN = "PYTEST_PREFORK"


@dataclass(frozen=True)
class Run:
    """The arguments of pytest, where modules are found, and what xdist tells each process."""

    arguments: list[str]
    path: list[str]
    workerinput: dict[str, Any]
