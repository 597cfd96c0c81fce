from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from impact.coverage import UnreadFile
from impact.errors import READING_FAILED, attempt_all
from impact.profile.models import PLAIN_KINDS, DerivedClass, Profile, Use, UseKind
from impact.profile.names import is_telling_method
from impact.profile.scanned import FileUses
from impact.profile.scanners.pins import read_revisions
from impact.profile.symbols import SUPER
from impact.profile.team_tree import TeamTree
from impact.python.models import Parameter, ParameterKind, Signature
from impact.source.revisions import find_hashes

# a tree may pin commits of other repositories, too, and several versions
_MAX_REVISIONS = 6
# what a class of the team defines or sets itself, of which upstream may have one too
OWN_KINDS = frozenset({UseKind.OVERRIDE, UseKind.SET, UseKind.COPY})


def build_profile(
    name: str, source: str, commit: str, scanned_at: datetime, packages: Sequence[str], files: Iterable[FileUses]
) -> Profile:
    """Return the profile of a tree. Its names lead through the team's own modules, and not yet into upstream."""
    scans = sorted(files, key=lambda each: each.path)

    def read_scans(scans: Sequence[FileUses]) -> tuple[tuple[Use, ...], dict[str, DerivedClass], tuple[str, ...]]:
        tree = TeamTree(scans, packages)
        classes = tree.list_derived()
        called = {tree.resolve(use.name) for scan in scans for use in scan.uses if _makes_instance(use)}
        classes |= {name: replace(classes[name], is_called=True) for name in classes.keys() & called}
        uses = dict.fromkeys(use for scan in scans for use in _list_uses(scan, tree, classes))
        return tuple(uses), classes, tuple(tree.cut)

    (uses, classes, cut), failed = attempt_all(read_scans, scans, lambda scan: scan.path)
    problems = [(scan.path, scan.problem) for scan in scans if scan.problem]
    problems += [(scan.path, READING_FAILED) for scan in failed]
    problems += [(path, "its classes have more bases than are followed") for path in cut]
    unread = tuple(UnreadFile(*problem) for problem in problems)
    contents = {scan.path: scan.content for scan in scans if scan.content}
    return Profile(
        name, tuple(packages), source, commit, scanned_at, uses, classes, len(scans), unread, contents=contents
    )


def _list_uses(scan: FileUses, tree: TeamTree, classes: dict[str, DerivedClass]) -> Iterator[Use]:
    for use in scan.uses:
        if use.kind in PLAIN_KINDS or (use.kind is UseKind.POSSIBLE_CALL and _is_possible(use, tree)):
            yield use
            continue
        if use.kind is UseKind.NAMED and "." not in use.name:
            if not tree.has_class(use.name):
                yield use
            continue
        name = use.name if use.kind is UseKind.COPY else tree.resolve(use.name)
        if name in classes and (made := _read_construction(use, name, tree)):
            yield made
        elif name is not None and _concerns_upstream(use, name, tree, classes):
            yield _complete(replace(use, name=name), tree)
        elif use.kind is UseKind.CALL and _is_possible(use, tree):
            # of a wrapper, say, that gives whatever the wrapped object has
            yield replace(use, kind=UseKind.POSSIBLE_CALL, name=use.name.rpartition(".")[2])


def _makes_instance(use: Use) -> bool:
    return use.kind is UseKind.CALL and not use.is_test and use.name.rpartition(".")[2][:1].isupper()


def _read_construction(use: Use, name: str, tree: TeamTree) -> Use | None:
    """Return the call of a class of the team as one of the constructor that it has from upstream, if it has."""
    split = tree.split_member(name)
    if use.kind is not UseKind.CALL or use.call is None or split is None:
        return None
    if any(tree.is_own(split[0], each) for each in ("__init__", "__new__")):
        return None
    shape = use.call
    line = [each for each in tree.list_own_line(split[0]) if each.is_data]
    # its own fields come after those of its bases; one with a default may be passed, or not
    required = {field for each in line for field in each.required}
    own = {field for each in line for field in each.own}
    if shape.positional and own != required:
        return None
    positional = shape.positional - len(required.difference(shape.keywords)) if shape.positional else 0
    keywords = tuple(each for each in shape.keywords if each not in own)
    call = replace(shape, positional=max(positional, 0), keywords=keywords)
    fields = Signature(tuple(Parameter(each, ParameterKind.KEYWORD_ONLY) for each in sorted(own)))
    return replace(use, name=f"{name}.__init__", call=call, signature=fields if own else None)


def _complete(use: Use, tree: TeamTree) -> Use:
    if use.kind is UseKind.CALL and _is_possible(use, tree):
        return replace(use, definitions=(use.name.rpartition(".")[2],))
    if use.kind is UseKind.PATCH and use.definitions:
        return replace(use, definitions=(), signature=tree.find_signature(use.definitions[0]))
    return use


def _is_possible(use: Use, tree: TeamTree) -> bool:
    """Return whether a call may be one of a method of upstream, whatever its object is."""
    # it is not if the team has such a method itself, and too likely by chance if the name says little. In tests
    # most such objects are stand-ins.
    method = use.name.rpartition(".")[2]
    return not use.is_test and is_telling_method(method) and not tree.has_method(method)


def _concerns_upstream(use: Use, name: str, tree: TeamTree, classes: dict[str, DerivedClass]) -> bool:
    """Return whether a use may be one of upstream: by its name, or by a class that extends upstream."""
    if use.kind is UseKind.COPY or name.partition(".")[0] in tree.packages:
        return True
    member = tree.split_member(name)
    if member is None or not member[1] or member[0].name not in classes:
        return False
    if use.kind in OWN_KINDS or len(member[1]) > 1 or f".{SUPER}." in use.name:
        return True
    return not tree.is_own(member[0], member[1][0])


def list_pinned_revisions(profile: Profile, repository: str) -> tuple[str, ...]:
    """Return the commits that a tree pins, else the tags of its versions; ``repository`` is a bare name.

    Those that most lines name come first: a line that was forgotten names an older one.
    """
    pins = [use for use in profile.uses if use.kind is UseKind.PIN]
    hashes = Counter(pinned[0] for use in pins if (pinned := find_hashes(use.text.lower())))
    if not hashes:
        own = {each.lower().replace("-", "_") for each in (repository, *profile.packages)}
        chosen = (use for use in pins if use.name.lower().replace("-", "_") in own)
        hashes = Counter(each for use in chosen for each in read_revisions(use.text, use.name))
    return tuple(revision for revision, _ in hashes.most_common(_MAX_REVISIONS))
