"""Questions that code prepares for a review: places where a change of this kind often misses something.

Names and texts are compared, nothing is judged. A question has the lines that it rests on, and there is none
where nothing fits.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from bot.errors import SourceUnavailable, UsageError
from bot.platform.models.prompts import fence_text
from bot.platform.pulls.diff import DiffLine, split_hunks
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import PathClass, PathClasses
from bot.platform.source.excerpts import SourceExcerpt, annotate_file, list_uses, restore_old_text
from bot.platform.source.models import SourceUse
from bot.platform.source.reading import CodeSources, find_change
from bot.text import format_count
from impact.python.models import Definition, DefinitionKind, ModuleOutline, ParameterKind
from impact.python.outline import build_outline
from impact.source.models import SourceFile
from impact.text.strings import collapse_lines, truncate_text

log = logging.getLogger(__name__)

# searches for a kind of question; files that are read for a review, lines that a search returns, and seconds after
# which none begins
_MAX_SEARCHES, _MAX_FILES, _MAX_USES, _MAX_SECONDS = 4, 24, 100, 8.0
# what is asked, the places of a question, and characters of a place, a name and all together
_MAX_QUESTIONS, _MAX_PLACES, _MAX_LINE, _MAX_NAME, _MAX_LENGTH = 8, 5, 160, 80, 6_000
# of one kind, so that a large change does not ask the same again and again
_MAX_OF_A_KIND = 3
# characters of a line that says enough to be known again elsewhere; one that stands more often is no news
_MIN_LINE, _MAX_COPIES = 25, 6
# the share of the lines of a function that its twin has, and how many of them
_TWIN_SHARE, _MIN_TWIN_LINES = 0.6, 4
_MAX_TWINS = 12

_CONSTRUCTORS = ("__init__", "__post_init__", "__new__")
# methods that name the fields of their class one by one
_LISTING = re.compile(
    r"hash|copy|clone|dict|json|serial|state|__eq__|repr|replace|merge|reduce|fingerprint|cache_key|from_|to_"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_CONDITION = re.compile(r"^\s*(?:\}\s*)?(?:if|elif|else if|while|assert)\b(.*)")
# a name that tells one setting from others has two words
_SETTING = re.compile(r"\b[A-Za-z]\w*_\w+\b")
_IMPORT = re.compile(r"^\s*(?:from|import)\s+([A-Za-z]\w*)")
_REQUIREMENT = re.compile(r"""^\s*["']?([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*(?:[<>=!~;@"',]|$)""")
_REQUIREMENT_FILES = (
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
    *(
        f"requirements/{name}.txt"
        for name in ("common", "cuda", "rocm", "cpu", "tpu", "xpu", "base", "test", "dev")
    ),
)
_NO_CODE = ("#", "//", "import ", "from ", '"""', "@", "*", "def ", "async def ", "class ")
# a value that is written out, not what code computes; None alone says too little
_WRITTEN = r"""(?:True|False|"[^"]*"|'[^']*'|-?\d[\w.]*)[,)\s]*(?:\#.*)?$"""
_DEFAULT = (
    rf"""\s*(?:["']NAME["']\s*:\s*(?:lambda\b|{_WRITTEN})"""
    rf"""|(?:self\.)?NAME\s*(?::[^=]+=\s*(?:None\b|\w*[Ff]ield\(|{_WRITTEN})|=\s*{_WRITTEN}))"""
)


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A question with the lines that it is about."""

    text: str
    places: tuple[SourceUse, ...]

    def render(self) -> str:
        lines = [
            f"   {collapse_lines(place.path)}:{place.line}: {truncate_text(place.text.strip(), _MAX_LINE)}"
            for place in self.places[:_MAX_PLACES]
        ]
        more = len(self.places) - len(lines)
        return "\n".join(
            [self.text, *lines, *([f"   and {format_count(more, 'more place')}"] if more > 0 else [])]
        )


@dataclass(frozen=True, slots=True)
class PreparedQuestions:
    """The questions of a review as its prompt has them, and the lines in them, which can be quoted."""

    text: str = ""
    excerpts: tuple[SourceExcerpt, ...] = ()


def prepare_questions(
    pull: PullRequest,
    code: CodeSources,
    sources: Mapping[str, SourceFile],
    classes: PathClasses,
    clock: Callable[[], float],
) -> PreparedQuestions:
    """Prepare the questions of a pull request, about product code alone.

    ``sources`` are its files after the change. With a mirror in ``code``, the whole tree is searched.
    """
    tree = _Tree(pull, code, sources, classes, clock)
    kinds = (_ask_of_overrides, _ask_of_constructors, _ask_of_options, _ask_of_copies, _ask_of_twins)
    of_tree = (_ask_of_settings, _ask_of_pins)
    asked = [question for kind in (*kinds, *of_tree) for question in _limit(tree, kind)][:_MAX_QUESTIONS]
    texts, length = list[str](), 0
    for number, question in enumerate(asked, 1):
        text = f"{number}. {question.render()}"
        length += len(text) + 1
        if length > _MAX_LENGTH:
            break
        texts.append(text)
    if not texts:
        return PreparedQuestions()
    places = [place for question in asked[: len(texts)] for place in question.places[:_MAX_PLACES]]
    excerpts = tuple(
        SourceExcerpt(
            place.path,
            (DiffLine(" ", place.text, place.line, place.line),),
            find_change(pull, place.path) is None,
        )
        for place in places
    )
    head = "Questions that code has prepared from names and texts. It judged none of them:"
    return PreparedQuestions(fence_text("data", "\n".join([head, *texts])), excerpts)


def _limit(
    tree: _Tree, list_questions: Callable[[_Tree], Iterator[PreparedQuestion]]
) -> Iterator[PreparedQuestion]:
    tree.searches_left = _MAX_SEARCHES
    yield from islice(list_questions(tree), _MAX_OF_A_KIND)


def _show(name: str) -> str:
    return f"`{truncate_text(collapse_lines(name), _MAX_NAME)}`"


# --- what is read: the changed files before and after, and the tree


@dataclass(frozen=True)
class _ChangedModule:
    """A changed Python file as it is before and after; without ``old``, it is new or its diff does not fit it."""

    file: SourceFile
    new: ModuleOutline
    old: ModuleOutline | None
    old_lines: Sequence[str]

    def list_changed(self, kinds: frozenset[DefinitionKind]) -> Iterator[tuple[Definition, Definition | None]]:
        """Yield what is new or does something else, in classes and functions that existed before."""
        for name, definition in self.new.definitions.items():
            before = self.old.definitions.get(name) if self.old else None
            owner = name.rpartition(".")[0]
            is_known = self.old is not None and (not owner or owner in self.old.definitions)
            if definition.kind in kinds and is_known and not (before and _is_same(before, definition)):
                yield definition, before


def _is_same(before: Definition, after: Definition) -> bool:
    return (before.body, before.signature, before.kind) == (after.body, after.signature, after.kind)


_METHODS = frozenset({DefinitionKind.METHOD})
_FUNCTIONS = frozenset({DefinitionKind.METHOD, DefinitionKind.FUNCTION})
_VALUES = frozenset({DefinitionKind.FIELD})


class _Tree:
    """Product code at a merge: of all files with a mirror, else of the changed ones. Silent beyond its bounds."""

    def __init__(
        self,
        pull: PullRequest,
        code: CodeSources,
        sources: Mapping[str, SourceFile],
        classes: PathClasses,
        clock: Callable[[], float],
    ) -> None:
        self._pull, self._code, self._classes, self._clock = pull, code, classes, clock
        self._files = {path: file for path, file in sources.items() if not file.problem}
        self._changed_paths = frozenset(path for path in self._files if self._is_product(path))
        self._outlines: dict[str, ModuleOutline | None] = {}
        self._uses: dict[str, tuple[SourceUse, ...]] = {}
        self.searches_left, self._to_read, self._end = _MAX_SEARCHES, _MAX_FILES, clock() + _MAX_SECONDS

    def _is_product(self, path: str) -> bool:
        return self._classes.classify_path(path) is PathClass.PRODUCT

    @property
    def has_mirror(self) -> bool:
        return self._code.search is not None

    @cached_property
    def hunks(self) -> tuple[tuple[str, tuple[DiffLine, ...]], ...]:
        """The hunks of changed product code with their paths."""
        files = (file for file in self._pull.files or () if self._is_product(file.path))
        return tuple((file.path, lines) for file in files for _, lines in split_hunks(file.patch or ""))

    @cached_property
    def added_lines(self) -> frozenset[str]:
        return frozenset(line.text.strip() for _, lines in self.hunks for line in lines if line.mark == "+")

    @cached_property
    def modules(self) -> tuple[_ChangedModule, ...]:
        made = (self._read_module(path) for path in sorted(self._changed_paths))
        return tuple(module for module in made if module)

    def _read_module(self, path: str) -> _ChangedModule | None:
        file, change, new = self._files[path], find_change(self._pull, path), self.get_outline(path)
        if new is None or change is None:
            return None
        has_old = change.status != "added" and change.patch and not change.unread
        annotated = annotate_file(file, change.patch or "") if has_old else None
        if annotated is None:
            return _ChangedModule(file, new, None, ())
        text = restore_old_text(annotated)
        return _ChangedModule(file, new, build_outline(change.previous_path or path, text), text.split("\n"))

    def get_outline(self, path: str) -> ModuleOutline | None:
        if path not in self._outlines:
            self._outlines[path] = build_outline(path, self._files[path].text)
        return self._outlines[path]

    def get_lines(self, path: str) -> list[str]:
        return self._files[path].lines

    def find(self, text: str) -> tuple[SourceUse, ...]:
        """Return the lines that have a text as a whole word, none if there are too many of them."""
        if text not in self._uses:
            self._uses[text] = self._search(text)
        return self._uses[text]

    def _search(self, text: str) -> tuple[SourceUse, ...]:
        self.searches_left -= 1
        if self.searches_left < 0 or self._clock() > self._end:
            return ()
        if self._code.search is None:
            uses = tuple(
                SourceUse(path, number, lines[number - 1])
                for path, lines in ((path, self.get_lines(path)) for path in sorted(self._changed_paths))
                for number in list_uses(lines, text)
            )
            return uses if len(uses) <= _MAX_USES else ()
        try:
            listed = self._code.search.find_uses(self._pull.repository, self._pull.commit, text, _MAX_USES)
        except (SourceUnavailable, UsageError) as error:
            log.info("%s is not searched: %s", self._pull.repository, error)
            return ()
        return tuple(use for use in listed.uses if self._is_product(use.path)) if listed.is_complete else ()

    def read(self, paths: Iterable[str]) -> list[str]:
        """Read files of the tree, and return the paths of those that can be read."""
        wanted_paths = list(dict.fromkeys(paths))
        missing = [path for path in wanted_paths if path not in self._files][: max(self._to_read, 0)]
        if missing and self._code.files and self.has_mirror and self._clock() <= self._end:
            self._to_read -= len(missing)
            try:
                read = self._code.files.read_files(self._pull.repository, self._pull.commit, missing)
            except SourceUnavailable as error:
                log.info("files of %s are not read: %s", self._pull.repository, error)
            else:
                self._files |= {path: file for path, file in read.items() if not file.problem}
        return [path for path in wanted_paths if path in self._files]

    def list_subclasses(self, name: str) -> Iterator[tuple[str, Definition]]:
        """Yield the classes that have a class of this name as a base, each with its path."""
        last = name.rpartition(".")[2]
        heads = [
            use for use in self.find(last) if re.match(rf"\s*class\s+\w+\s*\(.*\b{re.escape(last)}\b", use.text)
        ]
        for path in self.read(use.path for use in heads):
            outline = self.get_outline(path)
            for definition in outline.definitions.values() if outline else ():
                if any(base.rpartition(".")[2] == last for base in definition.bases):
                    yield path, definition

    def get_text(self, path: str, definition: Definition) -> str:
        return "\n".join(self.get_lines(path)[definition.line - 1 : definition.end_line])

    def place(self, path: str, line: int) -> SourceUse:
        return SourceUse(path, line, self.get_lines(path)[line - 1])

    @cached_property
    def changed_functions(self) -> frozenset[tuple[str, str]]:
        """The functions that the pull request changes or adds, each with its path."""
        return frozenset(
            (module.file.path, name)
            for module in self.modules
            for name in (
                [each.name for each, _ in module.list_changed(_FUNCTIONS)]
                if module.old
                else module.new.definitions
            )
        )

    @cached_property
    def options(self) -> tuple[tuple[_ChangedModule, str, str, frozenset[str]], ...]:
        """The new fields and constructor arguments of classes that existed before, with the older ones of each."""
        return tuple((module, *option) for module in self.modules for option in sorted(_list_options(module)))


# --- overrides, constructors, fields, copies


def _ask_of_overrides(tree: _Tree) -> Iterator[PreparedQuestion]:
    """Ask whether overrides need what was changed in the method of a base."""
    for module in tree.modules:
        for method, before in module.list_changed(_METHODS):
            owner, _, name = method.name.rpartition(".")
            is_signature = before is not None and before.signature != method.signature
            if name.startswith("__") or (method.is_abstract and not is_signature):
                continue
            places = tuple(_list_overrides(tree, owner, name))
            if places:
                change = "takes other arguments" if is_signature else "changed" if before else "is new"
                yield PreparedQuestion(
                    f"{_show(method.name)} {change}. These define {_show(name)} again without calling it. "
                    "Does one lack the change, or does it now hide what the base relies on?",
                    places,
                )


def _list_overrides(tree: _Tree, owner: str, name: str) -> Iterator[SourceUse]:
    last = owner.rpartition(".")[2]
    calls_base = re.compile(rf"(?:super\([^()\n]{{0,80}}\)|\b{re.escape(last)})\.{re.escape(name)}\(")
    for path, subclass in tree.list_subclasses(owner):
        outline = tree.get_outline(path)
        override = outline.definitions.get(f"{subclass.name}.{name}") if outline else None
        if override is None or override.kind is not DefinitionKind.METHOD or override.is_abstract:
            continue
        if (
            not calls_base.search(tree.get_text(path, override))
            and (path, override.name) not in tree.changed_functions
        ):
            yield tree.place(path, override.line)


def _ask_of_constructors(tree: _Tree) -> Iterator[PreparedQuestion]:
    """Ask whether subclasses miss what a constructor sets now."""
    for module in tree.modules:
        for method, _ in module.list_changed(_METHODS):
            owner, _, name = method.name.rpartition(".")
            if name not in _CONSTRUCTORS or module.old is None:
                continue
            before = module.old.list_members(owner)
            attributes = [
                each
                for each, definition in module.new.list_members(owner).items()
                if definition.kind is DefinitionKind.ATTRIBUTE and each not in before
                if method.line <= definition.line <= method.end_line
            ]
            places = tuple(_list_overrides(tree, owner, name)) if attributes else ()
            if places:
                names = ", ".join(map(_show, attributes[:4]))
                yield PreparedQuestion(
                    f"The constructor of {_show(owner)} sets {names} now. These subclasses have one that does not "
                    "call it. Is what they lack read on them?",
                    places,
                )


def _list_options(module: _ChangedModule) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield each new field or argument of the constructor of a class that existed before, with the older ones."""
    if module.old is None:
        return
    fields = {definition.name for definition, before in module.list_changed(_VALUES) if before is None}
    for name in fields:
        owner, _, last = name.rpartition(".")
        if owner:
            known = module.old.list_members(owner)
            yield owner, last, frozenset(key for key, each in known.items() if each.kind is DefinitionKind.FIELD)
    for method, before in module.list_changed(_METHODS):
        owner, _, name = method.name.rpartition(".")
        if name == "__init__" and before and before.signature and method.signature:
            usual = (ParameterKind.POSITIONAL, ParameterKind.KEYWORD_ONLY)
            older = frozenset(each.name for each in before.signature.parameters[1:] if each.kind in usual)
            for parameter in method.signature.parameters[1:]:
                if parameter.name not in older and parameter.kind in usual:
                    yield owner, parameter.name, older


def _ask_of_options(tree: _Tree) -> Iterator[PreparedQuestion]:
    """Ask whether hashes, copies and serializations of a class lack its new option."""
    for module, owner, option, older in tree.options:
        places = []
        for name, method in module.new.list_members(owner).items():
            if method.kind is not DefinitionKind.METHOD or not _LISTING.search(name):
                continue
            words = set(_WORD.findall(tree.get_text(module.file.path, method)))
            # one that names no field takes all of them, or none
            if option not in words and len(words & older) >= min(2, len(older)) > 0:
                places.append(tree.place(module.file.path, method.line))
        if places:
            yield PreparedQuestion(
                f"{_show(option)} is new on {_show(owner)}. These name other fields of it, and not this one. "
                "Is it missing from a hash, a copy, a comparison or what is written?",
                tuple(places),
            )


def _ask_of_copies(tree: _Tree) -> Iterator[PreparedQuestion]:
    """Ask whether those who make an object field by field pass its new option."""
    for module, owner, option, older in tree.options:
        last, least = owner.rpartition(".")[2], max(2, len(older) // 2)
        users = [use.path for use in tree.find(last) if f"{last}(" in use.text and "class " not in use.text]
        places = [
            tree.place(path, call.line)
            for path in tree.read([*users, module.file.path])
            for outline in (tree.get_outline(path),)
            for call in (outline.calls if outline else ())
            if call.name.rpartition(".")[2] == last or (call.name == "cls" and path == module.file.path)
            if len(older & {*call.shape.keywords}) >= least
            if option not in call.shape.keywords and not call.shape.has_double_star
        ]
        if places:
            yield PreparedQuestion(
                f"{_show(option)} is new on {_show(owner)}. These make one from most of its other fields, and "
                "leave it out. Is its value lost there?",
                tuple(dict.fromkeys(places)),
            )


# --- twins


def _ask_of_twins(tree: _Tree) -> Iterator[PreparedQuestion]:
    """Ask whether copies of replaced lines, and functions that were alike, need the same change."""
    asked, added = set[SourceUse](), tree.added_lines
    for _, lines in tree.hunks:
        if not any(line.mark == "+" and line.text.strip() for line in lines):
            continue
        removed = (line.text.strip() for line in lines if line.mark == "-")
        telling = (text for text in removed if _MIN_LINE <= len(text) <= 200 and not text.startswith(_NO_CODE))
        # the longest line of a hunk is the one that most likely stands in a copy alone
        text = max(
            (each for each in telling if len(_WORD.findall(each)) > 2 and each not in added), key=len, default=""
        )
        places = tuple(use for use in tree.find(text) if use.text.strip() == text) if text else ()
        if 0 < len(places) <= _MAX_COPIES and not asked.issuperset(places):
            asked.update(places)
            yield PreparedQuestion(
                "A line that was replaced still stands elsewhere. Does the copy need the same change?", places
            )
    yield from _ask_of_like_functions(tree, asked)


def _ask_of_like_functions(tree: _Tree, asked: set[SourceUse]) -> Iterator[PreparedQuestion]:
    for module in tree.modules:
        for function, before in module.list_changed(_FUNCTIONS):
            name = function.name.rpartition(".")[2]
            if before is None or name in _CONSTRUCTORS:
                continue
            path = module.file.path
            own = _list_telling_lines(module.old_lines[before.line : before.end_line])
            more = _list_telling_lines(tree.get_lines(path)[function.line : function.end_line]) - own
            heads = [
                use for use in tree.find(name) if re.match(rf"\s*(?:async\s+)?def\s+{re.escape(name)}\b", use.text)
            ]
            if len(own) < _MIN_TWIN_LINES or not more or not 1 < len(heads) <= _MAX_TWINS:
                continue
            places = []
            for each in tree.read(use.path for use in heads):
                outline = tree.get_outline(each)
                for twin in outline.definitions.values() if outline else ():
                    is_asked = any(use.path == each and twin.line <= use.line <= twin.end_line for use in asked)
                    if (
                        is_asked
                        or twin.name.rpartition(".")[2] != name
                        or (each, twin.name) == (path, function.name)
                    ):
                        continue
                    lines = _list_telling_lines(tree.get_lines(each)[twin.line : twin.end_line])
                    if len(own & lines) >= _TWIN_SHARE * len(own) and not more & lines:
                        places.append(tree.place(each, twin.line))
            if places:
                yield PreparedQuestion(
                    f"{_show(function.name)} changed. These are nearly what it was, without the change. "
                    "Do they need it too?",
                    tuple(places),
                )


def _list_telling_lines(lines: Iterable[str]) -> set[str]:
    stripped = (line.strip() for line in lines)
    return {line for line in stripped if len(line) > 8 and not line.startswith(_NO_CODE)}


# --- what decides whether the change is reached: defaults, guards and pins


def _ask_of_settings(tree: _Tree) -> Iterator[PreparedQuestion]:
    """Ask whether defaults and guards let anybody reach what was changed, and for whom."""
    conditions = (
        match[1]
        for _, lines in tree.hunks
        for line in lines
        if line.is_change and (match := _CONDITION.match(line.text))
    )
    names = [name for text in conditions for name in _SETTING.findall(text)]
    names += [option for _, _, option, _ in tree.options]
    for name in list(dict.fromkeys(names))[:_MAX_SEARCHES]:
        uses, word = tree.find(name), re.escape(name)
        default = re.compile(_DEFAULT.replace("NAME", word))
        defaults = tuple(use for use in uses if default.match(use.text))
        guards = tuple(_list_guards(tree, uses))
        if defaults or guards:
            parts = ["Is it on by default, and for whom?"] if defaults else []
            parts += ["Does one of these guards make the case impossible?"] if guards else []
            yield PreparedQuestion(
                f"{_show(name)} decides whether the change is reached. {' '.join(parts)}",
                (*guards[: _MAX_PLACES // 2], *defaults[:_MAX_PLACES]),
            )


def _list_guards(tree: _Tree, uses: Sequence[SourceUse]) -> Iterator[SourceUse]:
    conditions = [use for use in uses if _CONDITION.match(use.text)]
    readable = set(tree.read(use.path for use in conditions))
    for use in conditions:
        if use.text.strip() in tree.added_lines:
            continue
        if "assert" in use.text:
            yield use
        elif use.path in readable:
            after = tree.get_lines(use.path)[use.line : use.line + 3]
            if any(line.strip().startswith(("raise ", "throw ")) for line in after):
                yield use


def _ask_of_pins(tree: _Tree) -> Iterator[PreparedQuestion]:
    """Ask whether the pinned versions of what added lines import have what the change needs."""
    if not tree.has_mirror:
        return
    own = {part for path, _ in tree.hunks for part in path.split("/")}
    lines = (line.text for _, lines in tree.hunks for line in lines if line.mark == "+")
    names = {match[1] for text in lines if (match := _IMPORT.match(text))} - own - sys.stdlib_module_names
    # what stands in very many lines has been needed for long
    imported = [name for name in sorted(names) if tree.find(name)]
    pins = [
        (_normalize(match[1]), SourceUse(path, number, text))
        for path in (tree.read(_REQUIREMENT_FILES) if imported else ())
        for number, text in enumerate(tree.get_lines(path), 1)
        if (match := _REQUIREMENT.match(text))
    ]
    for module in imported:
        prefix = _normalize(module)
        if places := tuple(use for name, use in pins if name == prefix or name.startswith(f"{prefix}-")):
            yield PreparedQuestion(
                f"Added lines import {_show(module)}. Do the versions that are pinned have what they use?", places
            )


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
