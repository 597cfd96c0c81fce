import tempfile
from pathlib import Path

import pytest

from bot.demo.run import open_state
from bot.errors import ConfigurationError, StoreUnavailable


def test_what_is_lent_is_gone_afterwards() -> None:
    with open_state() as folder:
        (folder / "something").touch()
    assert not folder.exists()


def test_what_is_kept_is_one_demos_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "demo"
    for _ in range(2):
        with open_state(folder) as ours:
            assert ours == folder
            with pytest.raises(ConfigurationError, match="Another live demo is running"), open_state(folder):
                pass


def test_without_a_store_of_this_platform_there_is_the_text(tmp_path: Path) -> None:
    for state in (open_state(None, lambda: False), open_state(tmp_path, lambda: False)):
        with pytest.raises(StoreUnavailable, match=r"is not available for this platform.*demo --text"), state:
            pass


def test_where_the_store_does_not_start_there_is_the_text() -> None:
    with pytest.raises(StoreUnavailable, match=r"does not start here.*demo --text"), open_state():
        raise StoreUnavailable("The embedded store did not start: see its log.")


def test_where_nothing_can_be_written_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
    with pytest.raises(ConfigurationError, match=r"No temporary folder.*TMPDIR"), open_state():
        pass
    with pytest.raises(StoreUnavailable, match="PRDIGEST_STATE_DIR"), open_state(Path("/proc/self")):
        pass
