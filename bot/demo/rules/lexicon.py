"""Words that tell questions apart: words that are no topics, words for each kind of question, and synonyms."""

from __future__ import annotations

import re

# words of questions about anything
FILLERS = frozenset(
    """
    a about act affect affected affects again all also am an and any anybody anyone anything are around as at be
    because been by can change changed changes changing check code commit commits could day days describe did do
    does doing done each else ever everybody everything everyone explain few find fix fixed fixes for from get
    give got had has have he hello help her here hey hi him his how http https i if in into involve is it its just
    kind know land landed like list look looking made make many may me mean merge merged merges might more most
    much my name need new no not now of on one ones only or other our out over people please pr prs pull pulls
    really relate related request requests say see shall she should show since so some someone something speak
    still such talk tell than thank thanks that the their them then there these they thing things this those
    through to today too top touch touched touches touching under until up us use used uses using very want was
    way we were what when where which while why will with work would yes yesterday yet you your users user callers
    caller clients customers first last others rest second sentence sentences team week word words
    issue issues line lines problem problems total
    third fourth fifth final both month number ago past previous between exactly currently recent recently
    deploy deployed deploying deployment deployments setup side fork system systems production prod stack project
    app apps application applications repository codebase run running go ahead ok okay lol digest sample demo
    january february march april june july august september october november december jan feb apr jun jul aug sep
    oct nov dec monday tuesday wednesday thursday friday saturday sunday tomorrow next month date time tl dr
    support supports supported
    update updating
    short quick brief version want wants needs needed having come comes part parts bit lot lots whole difference
    """.split()
)
REVERT = ("revert", "undo", "undid", "rollback", "rolled", "taken", "backed")
RISK = ("risk", "danger", "worr", "scar", "wrong", "worst")
SAFE = ("safe", "unsafe", "careful", "critical")
BREAKS = (
    *(
        "break",
        "broke",
        "incompat",
        "compatib",
        "backward",
        "deprecat",
        "remov",
        "upgrad",
        "migrat",
        "action",
        "adapt",
    ),
    *("caller", "fail", "must", "todo", "obsolete"),
)
WHO = ("who", "author", "wrote", "written")
WRITES = ("author", "wrote", "written", "contribut", "opened")
WHERE = ("file", "path", "where", "test", "line")
LARGE = ("big", "larg", "size", "lines")
TRIVIAL = (
    "trivial",
    "ignor",
    "skip",
    "irrelevan",
    "unimportant",
    "noise",
    "boring",
    "harmless",
    "minor",
    "cosmetic",
)
OVERVIEW = (
    *(
        "overview",
        "summar",
        "happen",
        "highlight",
        "recap",
        "gist",
        "nutshell",
        "tldr",
        "important",
        "interesting",
    ),
    *("notable", "news"),
)
DIFF = ("diff", "patch", "snippet")
NO_TOPICS = (*REVERT, *RISK, *SAFE, *BREAKS, *WHO, *WRITES, *LARGE, *TRIVIAL, *OVERVIEW, *DIFF, "untested")
WITHOUT = frozenset({"no", "not", "without", "lack", "lacks", "missing", "untested", "any"})
WITH = frozenset(
    {"has", "have", "with", "include", "includes", "contain", "contains", "come", "comes", "add", "adds"}
)
PLURAL_PRONOUNS = frozenset({"them", "those", "they"})
SINGULAR_PRONOUNS = frozenset({"it", "its"})
REPEAT_WORDS = frozenset({"and", "or", "what", "how", "about", "of", "then", "now", "also", "for"})
# words that select a pull request, and say nothing about what is asked
POINTERS = frozenset(
    "the one ones pr change item number last first second third fourth fifth two three both next previous"
    " before after 1st 2nd 3rd 4th 5th".split()
)
WHY_WORDS = frozenset("why is was are it there here listed and so but".split())
# "it" that stands for nothing
IT_IS_PATTERN = re.compile(r"\bis it (?:safe|ok|okay|worth|possible|time|necessary|best|better) to\b")
# words of questions about all merges
GENERAL_WORDS = frozenset(
    {
        *("summary", "overview", "everything", "all", "list", "which", "happened", "new", "news", "many", "day"),
        *(
            "merge",
            "merged",
            "merges",
            "land",
            "landed",
            "change",
            "changed",
            "changes",
            "commits",
            "prs",
            "pulls",
        ),
        *("digest", "know", "tl", "dr", "short", "brief", "today", "yesterday", "week"),
    }
)
# what people do with the riskiest changes first
REVIEW_VERBS = frozenset({"check", "look", "read", "review", "test", "try", "verify", "watch"})
MORE_WORDS = frozenset(
    {"more", "tell", "me", "details", "detail", "elaborate", "explain", "please", "go", "on", "and", "say"}
)
# words about flags in general
FLAG_WORDS = frozenset(
    """
    flag flags env envs var vars variable variables environment cli option options argument arguments args setting
    settings config configs configuration switch switches parameter parameters command command-line
    """.split()
)
# questions about action for users
DUTY_PATTERN = re.compile(
    r"\b(?:need|needs|have|has|want|ought|required|supposed) to (?:change|do|update|adapt|edit|act|adjust)\b"
    r"|\b(?:need|have) to (?:rewrite|replace|rename|fix|switch)\b|\bdo (?:i|we) (?:have|need) to\b"
    r"|\bwhat (?:do|should|must) (?:i|we) do\b|\bshould (?:i|we) (?:change|do|update|adapt)\b"
    r"|\bto-?do\b|\bon (?:our|my) (?:side|end)\b|\bstill work\b"
)
FLAG_PATTERN = re.compile(
    r"\bflags?\b|\benv(?:ironment)?[- ]?vars?\b|\benvs\b|\benvironment variables?\b|\bcommand[- ]line\b|\bcli\b"
    r"|\b(?:new|changed|removed|added|renamed) (?:options?|arguments?|args|settings?|switches|parameters?)\b"
    r"|\bconfig(?:uration)? (?:options?|changes?|keys?)\b|\b(?:options?|settings|config\w*) chang"
)
WHEN_PATTERN = re.compile(r"\bwhen\b|\bwhat (?:time|date|day)\b")
# other words for the same topic
SYNONYMS: dict[str, tuple[str, ...]] = {
    "rocm": ("amd",),
    "amd": ("rocm",),
    "nvidia": ("cuda",),
    "cuda": ("nvidia",),
    "bitsandbytes": ("bnb",),
    "bnb": ("bitsandbytes",),
    "quantization": ("quantized", "bitsandbytes", "bnb"),
    "quantisation": ("quantization", "quantized", "bitsandbytes", "bnb"),
    "quantized": ("quantization", "bitsandbytes", "bnb"),
    "bug": ("fix",),
    "bugfix": ("fix",),
    "bugfixe": ("fix",),
    "feature": ("feat",),
}
_SPELLINGS = {
    "rocm": "ROCm",
    "amd": "AMD",
    "bnb": "BNB",
    "cuda": "CUDA",
    "nvidia": "NVIDIA",
    "bitsandbytes": "BitsAndBytes",
}


def spell_synonym(word: str) -> str:
    """Return a synonym in its usual spelling."""
    return _SPELLINGS.get(word, word)
