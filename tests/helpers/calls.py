import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def counting(*functions: Callable[..., Any]) -> Iterator[Counter[tuple[str, int]]]:
    """Count calls of functions, by their names and the number of the pull request that they get as ``pull``.

    Threads are counted that start within the block.
    """
    codes, counts, lock = {each.__code__ for each in functions}, Counter[tuple[str, int]](), threading.Lock()

    def hear(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code in codes:
            with lock:
                counts[frame.f_code.co_name, frame.f_locals["pull"].number] += 1

    before, before_in_threads = sys.getprofile(), threading.getprofile()
    threading.setprofile(hear)
    sys.setprofile(hear)
    try:
        yield counts
    finally:
        sys.setprofile(before)
        threading.setprofile(before_in_threads)
