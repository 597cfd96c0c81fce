"""Who may do what with the subscription of which channel: actor, action and kind of channel, allowed or refused.

The subscription is there already, made by ``MAKER``, who is in the channel unless the actor is the maker who left.
Nothing that is refused may change a subscription, show one of a private channel or of somebody else, or post where
the actor is not; what is allowed must be done, keep its maker, and be told in the channel.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"
    DIRECT = "direct"


class Action(StrEnum):
    """What is tried, from outside the channel unless the actor is in it."""

    SEE = "see"  # in App Home, and in the list of the channel
    PREVIEW = "preview"
    SUBSCRIBE = "subscribe"  # another one, by the form
    CHANGE = "change"
    PAUSE = "pause"
    RESUME = "resume"
    REMOVE = "remove"
    DIGEST = "digest"  # by hand


@dataclass(frozen=True)
class Actor:
    """Somebody in the channel or not; guests of one channel or several, who runs the workspace, others' people."""

    is_in: bool = False
    is_maker: bool = False
    restricted: bool = False
    ultra_restricted: bool = False
    admin: bool = False
    team: str | None = None


ACTORS = {
    "maker": Actor(is_in=True, is_maker=True),
    "maker who left": Actor(is_maker=True),
    "member": Actor(is_in=True),
    "non-member": Actor(),
    "single-channel guest of it": Actor(is_in=True, restricted=True, ultra_restricted=True),
    "single-channel guest of another": Actor(restricted=True, ultra_restricted=True),
    "multi-channel guest of it": Actor(is_in=True, restricted=True),
    "multi-channel guest of others": Actor(restricted=True),
    "admin": Actor(admin=True),
    "other workspace, in it": Actor(is_in=True, team="T0OTHER"),
    "other workspace, allowed, in it": Actor(is_in=True, team="T0PARTNER"),
    "other workspace, allowed, not in it": Actor(team="T0PARTNER"),
}
_ALL = frozenset(Action)
_NONE: frozenset[Action] = frozenset()
_SIGHT = frozenset({Action.SEE, Action.PREVIEW})
_STOP = frozenset({Action.PAUSE, Action.REMOVE})
_OWN = _STOP | {Action.CHANGE, Action.RESUME}

# what each may do of all actions; everything else is refused
ALLOWED: dict[Kind, dict[str, frozenset[Action]]] = {
    Kind.PUBLIC: {
        "maker": _ALL,
        # it is their doing that it is there, and a public channel is open to them
        "maker who left": _SIGHT | _OWN | {Action.DIGEST},
        "member": _ALL,
        "non-member": _SIGHT | {Action.DIGEST},
        "single-channel guest of it": _ALL,
        "single-channel guest of another": _NONE,
        "multi-channel guest of it": _ALL,
        "multi-channel guest of others": _NONE,
        "admin": _SIGHT | _STOP | {Action.DIGEST},
        "other workspace, in it": _NONE,
        "other workspace, allowed, in it": _ALL,
        "other workspace, allowed, not in it": _NONE,
    },
    Kind.PRIVATE: {
        "maker": _ALL,
        # a person who left it knows of it no more
        "maker who left": _NONE,
        "member": _ALL,
        "non-member": _NONE,
        "single-channel guest of it": _ALL,
        "single-channel guest of another": _NONE,
        "multi-channel guest of it": _ALL,
        "multi-channel guest of others": _NONE,
        # by its id, as it stands in a notice; it is in no list of theirs
        "admin": _STOP | {Action.PREVIEW},
        "other workspace, in it": _NONE,
        "other workspace, allowed, in it": _ALL,
        "other workspace, allowed, not in it": _NONE,
    },
    # of somebody's own nobody else sees or does anything; for the maker the rest is in other tests
    Kind.DIRECT: {name: _NONE for name, actor in ACTORS.items() if not actor.is_maker},
}


# --- profiles


class Belonging(StrEnum):
    NOBODY = "nobody"
    USED_OPENLY = "a digest of a public channel"
    USED_PRIVATELY = "a digest of a private channel"
    OWNED_OPENLY = "a public channel"
    OWNED_PRIVATELY = "a private channel"
    OTHERS_DIGEST = "a personal digest of somebody else"


_EVERYWHERE = frozenset(Belonging)
_UNOWNED = _EVERYWHERE - {Belonging.OWNED_PRIVATELY}
_THEIRS = _EVERYWHERE - {Belonging.NOBODY, Belonging.OTHERS_DIGEST}

# whose profiles each may ask about, and see paths and lines of
PROFILES: dict[str, frozenset[Belonging]] = {
    "member": _EVERYWHERE,
    "non-member": _UNOWNED,
    "admin": _UNOWNED,
    "single-channel guest of it": _THEIRS,
    "single-channel guest of another": frozenset(),
    "multi-channel guest of it": _THEIRS,
    "multi-channel guest of others": frozenset(),
    "other workspace, in it": frozenset(),
    "other workspace, allowed, in it": _THEIRS,
    "other workspace, allowed, not in it": frozenset(),
}

# what a guest may write to see a profile, by a name or by none; nothing of it may be shown
PROFILE_TEXTS = (
    "touches 2d profile:{profile}",
    "touches 2d",
    "touches score profile:{profile}",
    "since {day} repo:{repository} profile:{profile}",
    "deprecations repo:{repository} profile:{profile}",
    "upgrade {commit} profile:{profile}",
    "upgrade {commit}",
    "broke ImportError: cannot import name 'stop' from 'engine.core' since 2d repo:{repository}",
    "7d repo:{repository} profile:{profile}",
    "today repo:{repository} only:touching profile:{profile} private",
    "subscribe {repository} profile:{profile}",
    "subscribe me {repository} profile:{profile}",
    "test {repository} profile:{profile}",
    "touches 2d profile:nobody",
)
