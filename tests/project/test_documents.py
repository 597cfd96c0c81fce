import json
import re
from datetime import timedelta
from pathlib import Path

import handlers  # noqa: F401 (features declare there what they keep)
from bot.features import import_features
from bot.features.merges.risk import BASE_RATE, RiskBand
from bot.platform.slack.app_manifest import (
    AGENT_SCOPES,
    PREVIEW_SCOPES,
    SLACKBOT_SCOPES,
    add_agent_view,
    add_previews,
    add_slackbot,
)
from bot.platform.slack.check import SCOPES
from bot.platform.store.keys import FAMILIES
from bot.settings import Settings
from tests.helpers.processes.command import ROOT

DOCS = ROOT / "docs"
# one screen: what it is, a picture, the commands, and where the rest is
MAX_README_WORDS = 500
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted(DOCS.glob("*.md"))]


def read_rows(name: str, columns: int) -> list[list[str]]:
    lines = (DOCS / name).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if len(row) == columns]


def test_the_readme_is_short() -> None:
    words = re.findall(r"[^\s|]*\w[^\s|]*", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(words) <= MAX_README_WORDS


def test_each_scope_has_its_reason() -> None:
    named = [row[0].strip("`") for row in read_rows("permissions.md", 3) if row[0].startswith("`")]
    assert named == [*SCOPES, *PREVIEW_SCOPES, *AGENT_SCOPES, *SLACKBOT_SCOPES]
    manifest = json.loads((ROOT / "manifest.json").read_text())
    assert list(SCOPES) == manifest["oauth_config"]["scopes"]["bot"]
    added = add_slackbot(add_agent_view(add_previews(manifest, "github.com")), "https://mcp.example.com/mcp")
    assert added["oauth_config"]["scopes"]["bot"] == sorted(named)
    assert added["features"]["unfurl_domains"] == ["github.com"]
    assert "unfurl_domains" not in manifest["features"]


def test_stored_data_has_its_lifetime() -> None:
    import_features()
    told = {row[1].strip("`"): row[2] for row in read_rows("privacy.md", 3) if row[1].startswith("`")}
    families = {family.pattern.partition(":")[0]: family for family in FAMILIES}
    assert told.keys() <= families.keys()
    for name, family in families.items():
        if family.lifetime is None:
            assert told[name].startswith("permanently"), name
        elif name in told:
            assert told[name] == f"{family.lifetime.days} days", name
    # the page says so of the others
    others = [each.lifetime for name, each in families.items() if name not in told and each.lifetime]
    assert max(others) <= timedelta(days=7)


def test_bands_have_their_rates() -> None:
    told = {row[0]: row[1] for row in read_rows("risk.md", 2)}
    assert {band.label: f"{band.repaired}%" for band in RiskBand}.items() <= told.items()
    assert f"average was {BASE_RATE}%" in " ".join((DOCS / "risk.md").read_text(encoding="utf-8").split())


def test_pages_name_settings_and_sections_that_exist() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        variables = set(re.findall(r"\bPRDIGEST_[A-Z_]+\b", text)) - {"PRDIGEST_CHANEL"}
        assert variables <= {name.upper() for name in Settings.model_fields}, page
        for target, section in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
            assert section in list_sections(page.parent / target if target else page), (page, target, section)


def list_sections(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
