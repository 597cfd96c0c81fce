import os
import time
from pathlib import Path

import pytest

from tests.faults.clocks import Clocks, can_shift, start_shifted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not can_shift(), reason="to shift the clocks of processes takes Linux and a compiler"),
]
PROGRAM = "import time, datetime\nprint(time.time(), datetime.datetime.now().timestamp(), time.monotonic())\n"


def read_times(clocks: Clocks, name: str, folder: Path) -> list[float]:
    """What a process with the clock of that name takes for the time, twice, and the time since the start."""
    (folder / "telling.py").write_text(PROGRAM)
    read_end, saying = os.pipe()
    try:
        process = start_shifted(
            settings=clocks.setting(name), folder=folder, module="telling", files=(0, saying, 2)
        )
        assert process.wait(timeout=20) == 0
        return [float(each) for each in os.read(read_end, 1_000).split()]
    finally:
        os.close(read_end)
        os.close(saying)


def test_one_clock_is_wrong_and_all_go_forward(tmp_path: Path) -> None:
    clocks = Clocks(tmp_path)
    clocks.skew("web", -600)
    clocks.advance(3_600)
    for name, shift in (("web", 3_000), ("worker", 3_600)):
        first, second, since_start = read_times(clocks, name, tmp_path)
        assert first - time.time() == pytest.approx(shift, abs=20)
        assert second - time.time() == pytest.approx(shift, abs=20)
        assert since_start == pytest.approx(time.monotonic(), abs=20)
    clocks.skew("web", 0)
    assert clocks.now() - time.time() == pytest.approx(3_600, abs=1)
    assert read_times(clocks, "web", tmp_path)[0] - time.time() == pytest.approx(3_600, abs=20)
