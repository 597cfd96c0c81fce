"""Files of a release under the patches of a recorded day."""

from pathlib import Path

import pytest

from bot.errors import SourceUnavailable
from evals.trial.records import RecordedDays, TreeFiles
from impact.repository import Repository
from impact.source.models import DiffSide
from tests.evals.trial_day import write_day

PLACE = Repository("octo", "engine")
BEFORE = "class Retry:\n    limit = 0\n\n    def count(self):\n        return self.limit\n"


def test_a_file_is_given_if_every_hunk_fits_it(tmp_path: Path) -> None:
    records = RecordedDays(write_day(tmp_path).records)
    for number, text in ((101, BEFORE), (102, BEFORE.replace("limit", "most"))):
        path = tmp_path / "tree" / "engine" / f"retry_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    files = TreeFiles(records, tmp_path / "tree")
    texts = {}
    for number in (101, 102, 103):
        pull = records.fetch_pull_request(PLACE, number)
        assert pull.commit
        name = f"engine/retry_{number}.py"
        texts[number] = files.read_files(PLACE, pull.commit, [name])[name].text
    assert "    limit = 0\n    retries = 101" in texts[101]
    assert texts[101].endswith("        return self.limit\n")
    assert (texts[102], texts[103]) == ("", "")


def test_no_files_without_a_tree_a_record_or_of_the_other_side(tmp_path: Path) -> None:
    records = RecordedDays(write_day(tmp_path).records)
    commit = records.fetch_pull_request(PLACE, 101).commit
    assert commit
    for files, of, side in (
        (TreeFiles(records, None), commit, DiffSide.NEW),
        (TreeFiles(records, tmp_path), "0" * 40, DiffSide.NEW),
        (TreeFiles(records, tmp_path), commit, DiffSide.OLD),
    ):
        with pytest.raises(SourceUnavailable):
            files.read_files(PLACE, of, ["engine/retry_101.py"], side)
