from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_PEM = r"""
    (?:-----BEGIN\ [A-Z ]*PRIVATE\ KEY(?:\ BLOCK)?-----
      |----\ BEGIN\ SSH2\ ENCRYPTED\ PRIVATE\ KEY\ ----
      |PuTTY-User-Key-File-\d:\ [a-z]{3,10}-)
    (?:(?s:.{0,10000}?)
        (?:-----END\ [A-Z ]*PRIVATE\ KEY(?:\ BLOCK)?-----
          |----\ END\ SSH2\ ENCRYPTED\ PRIVATE\ KEY\ ----
          |Private-MAC:\ [0-9a-f]{40,}
          |\Z)
      |[\s\w+/=:,.\\-]{0,10000})
"""
# with hints, separated by blanks; case-sensitive
_ISSUED_FORMS: tuple[tuple[str, str], ...] = (
    # Slack
    ("xox", r"\bxox[a-z]-[\w-]{10,}"),
    ("xapp-", r"\bxapp-[\w-]{10,}"),
    ("hooks.slack.com/", r"(\bhooks\.slack\.com/[a-z]{3,12}/)[\w/-]{16,}"),
    # GitHub, GitLab
    ("ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_\w{20,}"),
    ("github_pat_", r"\bgithub_pat_\w{20,}"),
    ("gl", r"\bgl(?:pat|ptt|ft|soat|oas|rtr?|cbt|dt|agent|imt)-[\w.-]{20,}"),
    ("GR1348941", r"\bGR1348941[\w-]{20,}"),
    # Anthropic, OpenAI, OpenRouter and others with the same prefix
    ("sk-", r"\bsk-(?:ant-|proj-)?(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[\w-]{20,}"),
    ("sk-", r"\bsk-(?:or-v1-)?[0-9a-f]{32,}\b"),
    # other providers of models and tools for them
    ("hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("api_org_", r"\bapi_org_[A-Za-z0-9]{30,}"),
    ("r8_", r"\br8_[A-Za-z0-9]{37,}\b"),
    ("gsk_", r"\bgsk_[A-Za-z0-9]{40,}\b"),
    ("pplx-", r"\bpplx-[A-Za-z0-9]{40,}\b"),
    ("xai-", r"\bxai-[A-Za-z0-9]{60,}\b"),
    ("nvapi-", r"\bnvapi-[\w-]{40,}"),
    ("lsv2_", r"\blsv2_[ps][tk]_[0-9a-f]{32}\w*"),
    # clouds
    ("AKIA ASIA ABIA ACCA A3T", r"\bA(?:KIA|SIA|BIA|CCA|3T[0-9A-Z])[0-9A-Z]{16}\b"),
    ("AIza", r"\bAIza[\w-]{35}"),
    ("GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
    ("ya29.", r"\bya29\.[\w-]{20,}"),
    ("AccountKey=", r"(\bAccountKey=)[A-Za-z0-9+/]{20,}={0,2}"),
    ("SharedAccessKey=", r"(\bSharedAccessKey=)[A-Za-z0-9+/]{20,}={0,2}"),
    ("sig=", r"([?&;]sig=)[\w%+/-]{20,}={0,2}"),
    ("Q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])"),
    ("dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    ("_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    ("hv", r"\bhv[sb]\.[\w-]{24,}"),
    (".atlasv1.", r"\b\w{14}\.atlasv1\.[\w-]{60,}"),
    ("api.softlayer.com/", r"(\bapi\.softlayer\.com/soap/v3(?:\.1)?/)[a-z0-9]{40,}"),
    ("pscale_", r"\bpscale_(?:tkn|pw|oauth)_[\w.=-]{30,}"),
    ("sbp_", r"\bsbp_[0-9a-f]{40}\b"),
    # packages
    ("npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-", r"\bpypi-[\w-]{50,}"),
    ("dckr_", r"\bdckr_[po]at_[\w-]{20,}"),
    ("rubygems_", r"\brubygems_[0-9a-f]{48}\b"),
    ("AKC", r"(?<![^\s=:\"'(])AKC(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{16,}\b"),
    ("AP", r"(?<![^\s=:\"'(])AP[\dA-F](?=(?:[A-Za-z]{0,30}\d){3})[A-Za-z0-9]{24,}\b"),
    # payment, mail, messages
    ("k_", r"\b[sr]k_(?:live|test)_(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{16,}"),
    ("whsec_", r"\bwhsec_[A-Za-z0-9+/]{24,}={0,2}"),
    ("SG.", r"\bSG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("SK", r"\bSK[0-9a-f]{32}\b"),
    ("AC", r"\bAC[0-9a-f]{32}\b"),
    ("sq0", r"\bsq0(?:csp|atp)-[\w-]{22,}"),
    ("key-", r"\bkey-[0-9a-f]{32}\b"),
    ("-us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    (":AA", r"\b\d{8,10}:AA[\w-]{32,35}(?![\w-])"),
    ("/api/webhooks/", r"(\bdiscord(?:app)?\.com/api/webhooks/)\d+/[\w-]{20,}"),
    (".", r"\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w-])"),
    ("webhook.office.com/", r"(\bwebhook\.office\.com/webhookb2/)[\w@/-]{30,}"),
    # collaboration and monitoring
    ("shp", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    ("glsa_", r"\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}\b"),
    ("lin_api_", r"\blin_api_[A-Za-z0-9]{32,}"),
    ("ntn_", r"\bntn_[A-Za-z0-9]{40,}"),
    ("ATATT3", r"\bATATT3[\w=-]{50,}"),
    ("figd_", r"\bfigd_[\w-]{30,}"),
    ("PMAK-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    ("NRAK-", r"\bNRAK-[A-Z0-9]{27}\b"),
    ("sntry", r"\bsntry[su]_[\w+/=]{40,}"),
    ("AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    # JSON Web Tokens: signed, unsigned or encrypted, with two to five parts, the first of which is JSON
    ("eyJ", r"\beyJ(?:(?!-eyJ)[\w-]){8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}"),
    ("-----BEGIN SSH2 PuTTY-User-Key-File-", _PEM),
)
# a placeholder for a password
_PLACEHOLDER = r"(?:password|passwd|pass|pwd|secret|token|changeme|example|[x*.]+)"
# a value that code reads from elsewhere
_CODE_REFERENCE = r"(?:self|os|env|args?|config|settings|process|secrets?|vars?|cfg|opts?|request|params?|data)\."
_LETTER_AND_DIGIT = r"(?=[^\s\"'`]{0,100}\d)(?=[^\s\"'`]{0,100}[A-Za-z])"
_VALUE = rf"(?!{_CODE_REFERENCE}){_LETTER_AND_DIGIT}[A-Za-z0-9+/!@#^&~_-][A-Za-z0-9+/!@#$^&*~_.=%?:-]"
_VALUE_END = r"(?![\w(\[])"


def _value(least: int, end: str = _VALUE_END) -> str:
    """Return the pattern of a value of more than ``least`` characters; one of more than 1,000 needs no end."""
    return rf"(?:{_VALUE}{{{least},1000}}+{end}|{_VALUE}{{1000,}}+)"


_ASSIGNMENT = r"[\"'`]?\]?[ \t]{0,5}(?:=>|:=|==?|:)[ \t]{0,5}"
_PASSWORD_NAME = r"(?:password|passwd|passphrase|pwd)"  # noqa: S105 - a pattern
_KEY_NAME = (
    r"(?:secret|api[_-]?key|access[_-]?key|secret[_-]?access[_-]?key|(?:secret|signing|encryption|auth)[_-]?key"
    r"|signing[_-]?secret|client[_-]?secret|auth[_-]?token|(?:access|refresh|bot|api|session|bearer)[_-]?token)"
)
_IBM = r"(?<![a-z])(?:ibm|iam)(?:[_-]?(?:cloud|iam|api)){0,3}[_-]?(?:key|pwd|pass|token)"
_AWS = r"aws[\w.-]{0,20}(?:key|pw|pwd|pass|password|token)"
# the last one is the end of a truncated text
_QUOTE = r"(?=[\"'`…]|\Z)"
_AUTHORIZATION_SCHEME = r"(?:(?:bearer|basic|token|digest|apikey)[ \t]{1,5})?"
# with hints in lower case; case-insensitive
_ASSIGNED_FORMS: tuple[tuple[str, str], ...] = (
    (
        "authorization",
        (
            rf"(\bauthorization[\"']?[ \t]{{0,5}}[:=][ \t]{{0,5}}[\"']?{_AUTHORIZATION_SCHEME})"
            r"(?=\S{0,200}[\d=])[\w.~+/=-]{8,}"
        ),
    ),
    ("bearer", r"(\bbearer[ \t]{1,5})(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{20,}=*"),
    ("basic", r"(\bbasic[ \t]{1,5})(?=[A-Za-z0-9+/]{0,200}[\d=])[A-Za-z0-9+/]{16,}={0,2}"),
    (
        "://",
        rf"(\b[a-z][a-z0-9+.-]{{1,20}}://[^\s:/@?#'\"<>]{{0,100}}:)(?!{_PLACEHOLDER}@)[^\s/@'\"<>{{}}\[\]$]{{1,200}}(?=@(?!sha))",
    ),
    (
        "passw passphrase pwd",
        rf"({_PASSWORD_NAME}{_ASSIGNMENT}[\"'`])(?!{_PLACEHOLDER}[\"'`])(?![A-Z]+(?:_[A-Z]+)*[\"'`])[^\s\"'`${{}}<>()\[\]]{{8,200}}(?=[\"'`])",
    ),
    ("passw passphrase pwd", rf"({_PASSWORD_NAME}{_ASSIGNMENT}[\"'`]?){_value(5)}"),
    ("--", rf"(--[\w-]{{0,30}}(?:password|passwd)[ =][ \t]{{0,3}}[\"']?){_value(5)}"),
    (
        "machine",
        r"(\bmachine[ \t]{1,5}\S{1,200}[ \t]{1,5}login[ \t]{1,5}\S{1,200}[ \t]{1,5}password[ \t]{1,5})\S{1,200}",
    ),
    ("secret key token", rf"((?<![A-Za-z]){_KEY_NAME}{_ASSIGNMENT}[\"'`]?){_value(15)}"),
    ("private", rf"(private[_-]?key{_ASSIGNMENT}[\"'`]){_value(15, _QUOTE)}"),
    ("token", rf"((?<![A-Za-z])token{_ASSIGNMENT}[\"'`]?)(?=(?:[^\s\d\"'`]{{0,60}}\d){{3}}){_value(19)}"),
    ("--", rf"(--[\w-]{{0,30}}(?:api-?key|secret|token)[ =][ \t]{{0,3}}[\"']?){_value(15)}"),
    # keys of clouds without a distinctive prefix; 40 hexadecimal digits are a commit
    ("aws", rf"({_AWS}{_ASSIGNMENT}[\"'])(?![0-9a-f]{{40}}[\"'])(?=[a-z/+]{{0,40}}\d)[a-z0-9/+]{{40}}(?=[\"'])"),
    ("ibm iam", rf"({_IBM}{_ASSIGNMENT}[\"']?)(?=[a-z_-]{{0,43}}\d)[\w-]{{44}}(?![\w-])"),
    (
        "cloudant",
        rf"(cloudant[_-]?(?:api)?[_-]?(?:key|pw|pwd|pass|password|token){_ASSIGNMENT}[\"']?)[a-z]{{24}}\b",
    ),
    ("auth", r"(auth(?:token)?\"[ \t]{0,5}:[ \t]{0,5}\")[A-Za-z0-9+/=_-]{16,}"),
)
CredentialPatterns = tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]
CASE_SENSITIVE_PATTERNS: CredentialPatterns = tuple(
    (tuple(hints.split()), re.compile(form, re.X if form is _PEM else 0)) for hints, form in _ISSUED_FORMS
)
CASE_INSENSITIVE_PATTERNS: CredentialPatterns = tuple(
    (tuple(hints.split()), re.compile(form, re.I)) for hints, form in _ASSIGNED_FORMS
)


REDACTED = "[redacted]"
# characters: no pattern matches fewer, and most pieces of a message are as short as a number or a comma
_LEAST_LENGTH = 8
_CASE_SENSITIVE_HINTS, _CASE_INSENSITIVE_HINTS = (
    tuple(dict.fromkeys(hint for hints, _ in patterns for hint in hints))
    for patterns in (CASE_SENSITIVE_PATTERNS, CASE_INSENSITIVE_PATTERNS)
)
_MARKS = ("+", "-", " ")
# the possible beginning of a credential with a blank in it: its name, or the first lines of a key
_POSSIBLE_BEGINNING = re.compile(
    r"(?:[\w-]{0,40}(?:pass\w{0,6}|pwd?|secret|key|token|auth|authorization)"
    r"[\"'`]?\]?[ \t]{0,5}(?:=>|:=|==?|:)?[ \t]{0,5}[\"'`]?"
    r"(?:(?:bearer|basic|token|digest|apikey)[ \t]{0,5})?|\b(?:bearer|basic)[ \t]{0,5}"
    r"|---- (?:BEGIN )?|\bmachine(?:[ \t]{1,5}\S{1,200}){0,4}[ \t]{1,5})\Z",
    re.I,
)
# the possible beginning of an address with a password in it: its user may have signs that end other credentials
_POSSIBLE_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/@?#'\"<>]{0,301}\Z", re.I)
# no other credential contains these
_DELIMITERS = " \n<>[]()\"'`"
_KEY_BEGINS = ("-----BEGIN ", "---- BEGIN SSH2 ", "PuTTY-User-Key-File-")
_KEY_ENDS = re.compile(r"-----END [A-Z ]*-----|---- END [A-Z0-9 ]* ----|Private-MAC: [0-9a-f]{40,}\s")
# characters: of the text that is held back, of a name with its sign, and of an address with its password
_MAX_HELD_BACK, _MAX_NAME_LENGTH, _MAX_ADDRESS_LENGTH = 10_000, 200, 330


def redact_text(text: str) -> str:
    """Replace every known form of a credential in a text; the name before it, such as ``password=``, stays."""
    for form in _select_patterns(text):
        text = form.sub(_redact_match, text)
    return text


def redact_document(value: Any) -> Any:
    """Redact the texts of what JSON can hold."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return {name: redact_document(each) for name, each in value.items()}
    return [*map(redact_document, value)] if isinstance(value, list) else value


def redact_patch(patch: str) -> str:
    """Replace credentials in a diff or a file; lines and their marks stay, since places are counted by them."""
    for form in _select_patterns(patch):
        patch = form.sub(_redact_matched_lines, patch)
    return patch


def measure_settled_prefix(text: str) -> int:
    """Return the length of the beginning of an unfinished text that cannot end inside a credential."""
    key = max(map(text.rfind, _KEY_BEGINS))
    if len(text) > _MAX_HELD_BACK:
        return len(text)
    ended = _KEY_ENDS.search(text, key) if key >= 0 else None
    if key >= 0 and not ended:
        return key
    earliest = ended.end() if ended else 0
    end = max(_find_word_start(text, len(text)), earliest)
    for pattern, length in ((_POSSIBLE_ADDRESS, _MAX_ADDRESS_LENGTH), (_POSSIBLE_BEGINNING, _MAX_NAME_LENGTH)):
        beginning = pattern.search(text, max(0, end - length), end)
        if beginning:
            end = max(_find_word_start(text, beginning.start()), earliest)
    return end


def _find_word_start(text: str, at: int) -> int:
    return 1 + max(text.rfind(end, 0, at) for end in _DELIMITERS)


def _select_patterns(text: str) -> Iterator[re.Pattern[str]]:
    """Find the patterns that may match; most texts have no hint of any, so each hint is looked for once."""
    if len(text) < _LEAST_LENGTH:
        return
    for searched, patterns, hints in (
        (text, CASE_SENSITIVE_PATTERNS, _CASE_SENSITIVE_HINTS),
        (text.lower(), CASE_INSENSITIVE_PATTERNS, _CASE_INSENSITIVE_HINTS),
    ):
        present = {hint for hint in hints if hint in searched}
        if present:
            yield from (pattern for own, pattern in patterns if not present.isdisjoint(own))


def _redact_match(match: re.Match[str]) -> str:
    return "".join(group or "" for group in match.groups()) + REDACTED


def _redact_matched_lines(match: re.Match[str]) -> str:
    others = match[0].split("\n")[1:]
    return "\n".join(
        [_redact_match(match), *((line[:1] if line[:1] in _MARKS else "") + REDACTED for line in others)]
    )
