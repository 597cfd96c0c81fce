"""HTML as a browser reads it: its tags, their attributes and its text, and anything in it that is not expected."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"br", "hr", "input"})
TAGS = VOID | frozenset(
    "a article blockquote button caption code datalist del details div em fieldset figcaption figure h1 "
    "h2 h3 h4 h5 h6 label legend li ol optgroup option p path pre rect s section select span strong "
    "summary svg table tbody td textarea th thead time tr u ul".split()
)
ATTRIBUTES = frozenset(
    "aria-describedby aria-hidden aria-label autocomplete autofocus checked class d data-action "
    "data-block data-confirm data-dispatch data-input data-kind data-least data-most data-required "
    "data-suggest data-value datetime download fill for height hidden href id label list maxlength "
    "minlength multiple name placeholder rel required role rows rx scope selected start tabindex target "
    "title type value viewbox width".split()
)
_LINK_ADDRESS = re.compile(r"(https?://|mailto:)\S+", re.I)
_FILE_ADDRESS = re.compile(r"/files/[^/\s]+(/download)?")


@dataclass(frozen=True)
class Tag:
    """A start tag."""

    name: str
    attributes: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]


@dataclass
class ParsedHtml(HTMLParser):
    """A piece of a page. ``faults`` are what is not expected in it."""

    html: str
    tags: list[Tag] = field(default_factory=list)
    text: str = ""
    faults: list[str] = field(default_factory=list)
    _open_tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)
        self.close()
        self.faults += [f"never closed: {name}" for name in self._open_tags]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a start tag and its faults."""
        opened = Tag(tag, {name: value or "" for name, value in attrs})
        self.tags.append(opened)
        self.faults += [f"twice in {tag}: {name}" for name, _ in attrs if [n for n, _ in attrs].count(name) > 1]
        self.faults += _find_faults(opened)
        self.text += "\n" if tag == "br" else ""
        if tag == "a" and "a" in self._open_tags:
            self.faults.append("a link in a link")
        if tag not in VOID:
            self._open_tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Record a fault if the tag does not close the innermost open one."""
        if not self._open_tags or self._open_tags.pop() != tag:
            self.faults.append(f"closes nothing: {tag}")

    def handle_data(self, data: str) -> None:
        """Add to the text."""
        self.text += data

    def handle_comment(self, data: str) -> None:
        """Record a comment as a fault."""
        self.faults.append(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        """Record a declaration as a fault."""
        self.faults.append(f"a declaration: {decl}")

    def unknown_decl(self, data: str) -> None:
        """Record an unknown declaration as a fault."""
        self.faults.append(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        """Record a processing instruction as a fault."""
        self.faults.append(f"an instruction: {data}")

    def find_all(self, name: str = "", **attributes: str) -> list[Tag]:
        """Return tags of this name with these attributes; ``data_action`` means ``data-action``."""
        expected = {key.replace("_", "-"): value for key, value in attributes.items()}
        return [tag for tag in self.tags if name in ("", tag.name) and expected.items() <= tag.attributes.items()]

    def find_by_class(self, name: str) -> list[Tag]:
        """Return tags of this class."""
        return [tag for tag in self.tags if name in tag.attributes.get("class", "").split()]

    def find_one(self, name: str = "", **attributes: str) -> Tag:
        """Return the only tag of this name with these attributes. Raises AssertionError if there is not one."""
        tags = self.find_all(name, **attributes)
        if len(tags) != 1:
            raise AssertionError(f"{len(tags)} of {name} {attributes}")
        return tags[0]

    @property
    def skeleton(self) -> list[str]:
        """Its tags and the names of their attributes, in order."""
        return [f"{tag.name} {' '.join(tag.attributes)}" for tag in self.tags if tag.name != "br"]


def _find_faults(tag: Tag) -> list[str]:
    faults = [] if tag.name in TAGS else [f"a tag: {tag.name}"]
    faults += [f"an attribute of {tag.name}: {name}" for name in tag.attributes if name not in ATTRIBUTES]
    address = tag.attributes.get("href", "https://example.com")
    if not (_LINK_ADDRESS.fullmatch(address) or _FILE_ADDRESS.fullmatch(address)):
        faults.append(f"leads to {address}")
    if tag.name == "a" and (tag["target"], tag["rel"]) != ("_blank", "noopener noreferrer"):
        faults.append(f"a link that knows its opener: {address}")
    return faults


def parse_html(html: str) -> ParsedHtml:
    """Parse the HTML. Raises AssertionError where something in it is not expected."""
    parsed = ParsedHtml(str(html))
    if parsed.faults:
        raise AssertionError(f"{parsed.faults} in {html}")
    return parsed
