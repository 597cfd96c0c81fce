"""The forms of credentials. Whoever issues them publishes what they begin with, so that they can be looked for.

Each pattern has hints, of which a text that it matches holds one: looking for them costs next to nothing, and most
texts hold none. What a pattern captures is kept, such as the name before a password; the rest is the credential.
"""

from __future__ import annotations

import re

_PEM = r"""
    -----BEGIN\ [A-Z ]*PRIVATE\ KEY(?:\ BLOCK)?-----
      (?:(?s:.{0,10000}?)(?:-----END\ [A-Z ]*PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)|[\s\w+/=:,.\\-]{0,10000})
"""
# by hints with blanks between; case matters
_ISSUED: tuple[tuple[str, str], ...] = (
    # Slack
    ("xox", r"\bxox[a-z]-[\w-]{10,}"),
    ("xapp-", r"\bxapp-[\w-]{10,}"),
    ("hooks.slack.com/", r"(\bhooks\.slack\.com/[a-z]{3,12}/)[\w/-]{16,}"),
    # GitHub, GitLab
    ("ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_\w{20,}"),
    ("github_pat_", r"\bgithub_pat_\w{20,}"),
    ("gl", r"\bgl(?:pat|ptt|ft|soat|rtr?|cbt|dt|agent|imt)-[\w.-]{20,}"),
    # Anthropic, OpenAI, OpenRouter and others that took the prefix over
    ("sk-", r"\bsk-(?:ant-|proj-)?(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[\w-]{20,}"),
    ("sk-", r"\bsk-(?:or-v1-)?[0-9a-f]{32,}\b"),
    # further models and what is made of them
    ("hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("api_org_", r"\bapi_org_[A-Za-z0-9]{30,}"),
    ("r8_", r"\br8_[A-Za-z0-9]{37,}\b"),
    ("gsk_", r"\bgsk_[A-Za-z0-9]{40,}\b"),
    ("pplx-", r"\bpplx-[A-Za-z0-9]{40,}\b"),
    ("xai-", r"\bxai-[A-Za-z0-9]{60,}\b"),
    ("nvapi-", r"\bnvapi-[\w-]{40,}"),
    ("lsv2_", r"\blsv2_[ps][tk]_[0-9a-f]{32}\w*"),
    # clouds
    ("AKIA ASIA", r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b"),
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
    ("pscale_", r"\bpscale_(?:tkn|pw|oauth)_[\w.=-]{30,}"),
    ("sbp_", r"\bsbp_[0-9a-f]{40}\b"),
    # packages
    ("npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-", r"\bpypi-[\w-]{50,}"),
    ("dckr_", r"\bdckr_[po]at_[\w-]{20,}"),
    ("rubygems_", r"\brubygems_[0-9a-f]{48}\b"),
    # payment, mail, messages
    ("k_", r"\b[sr]k_(?:live|test)_(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{16,}"),
    ("whsec_", r"\bwhsec_[A-Za-z0-9+/]{24,}={0,2}"),
    ("SG.", r"\bSG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("SK", r"\bSK[0-9a-f]{32}\b"),
    ("key-", r"\bkey-[0-9a-f]{32}\b"),
    ("-us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    (":AA", r"\b\d{8,10}:AA[\w-]{32,35}(?![\w-])"),
    ("/api/webhooks/", r"(\bdiscord(?:app)?\.com/api/webhooks/)\d+/[\w-]{20,}"),
    (".", r"\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w-])"),
    ("webhook.office.com/", r"(\bwebhook\.office\.com/webhookb2/)[\w@/-]{30,}"),
    # work
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
    ("eyJ", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    ("-----BEGIN", _PEM),
)
# a word that stands where a password would, or what is filled in later
_BLANK = r"(?:password|passwd|pass|pwd|secret|token|changeme|example|[x*.]+)"
# what code reads from elsewhere
_READ = r"(?:self|os|env|args?|config|settings|process|secrets?|vars?|cfg|opts?|request|params?|data)\."
_MIXED = r"(?=[^\s\"'`]{0,100}\d)(?=[^\s\"'`]{0,100}[A-Za-z])"
_VALUE = rf"(?!{_READ}){_MIXED}[A-Za-z0-9+/!@#^&~_-][A-Za-z0-9+/!@#$^&*~_.=%?:-]"
_END = r"(?![\w(\[])"
_IS = r"[\"'`]?\]?[ \t]{0,5}(?:=>|:=|==?|:)[ \t]{0,5}"
_WORD_BEFORE = r"(?:password|passwd|passphrase|pwd)"
_NAME = (
    r"(?:secret|api[_-]?key|access[_-]?key|secret[_-]?access[_-]?key|(?:secret|signing|encryption|auth)[_-]?key"
    r"|signing[_-]?secret|client[_-]?secret|auth[_-]?token|(?:access|refresh|bot|api|session|bearer)[_-]?token)"
)
_SCHEME = r"(?:(?:bearer|basic|token|digest|apikey)[ \t]{1,5})?"
# by hints in small letters; case does not matter
_ASSIGNED: tuple[tuple[str, str], ...] = (
    (
        "authorization",
        rf"(\bauthorization[\"']?[ \t]{{0,5}}[:=][ \t]{{0,5}}[\"']?{_SCHEME})(?=\S{{0,200}}[\d=])[\w.~+/=-]{{8,}}",
    ),
    ("bearer", r"(\bbearer[ \t]{1,5})(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{20,}=*"),
    ("basic", r"(\bbasic[ \t]{1,5})(?=[A-Za-z0-9+/]{0,200}[\d=])[A-Za-z0-9+/]{16,}={0,2}"),
    (
        "://",
        rf"(\b[a-z][a-z0-9+.-]{{1,20}}://[^\s:/@?#'\"<>]{{0,100}}:)(?!{_BLANK}@)[^\s/@'\"<>{{}}\[\]$]{{1,200}}(?=@(?!sha))",
    ),
    (
        "passw passphrase pwd",
        rf"({_WORD_BEFORE}{_IS}[\"'`])(?!{_BLANK}[\"'`])(?![A-Z]+(?:_[A-Z]+)*[\"'`])[^\s\"'`${{}}<>()\[\]]{{8,200}}(?=[\"'`])",
    ),
    ("passw passphrase pwd", rf"({_WORD_BEFORE}{_IS}[\"'`]?){_VALUE}{{5,1000}}+{_END}"),
    ("--", rf"(--[\w-]{{0,30}}(?:password|passwd)[ =][ \t]{{0,3}}[\"']?){_VALUE}{{5,1000}}+{_END}"),
    (
        "machine",
        r"(\bmachine[ \t]{1,5}\S{1,200}[ \t]{1,5}login[ \t]{1,5}\S{1,200}[ \t]{1,5}password[ \t]{1,5})\S{1,200}",
    ),
    ("secret key token", rf"((?<![A-Za-z]){_NAME}{_IS}[\"'`]?){_VALUE}{{15,1000}}+{_END}"),
    ("private", rf"(private[_-]?key{_IS}[\"'`]){_VALUE}{{15,1000}}+(?=[\"'`])"),
    ("token", rf"((?<![A-Za-z])token{_IS}[\"'`]?)(?=(?:[^\s\d\"'`]{{0,60}}\d){{3}}){_VALUE}{{19,1000}}+{_END}"),
    ("--", rf"(--[\w-]{{0,30}}(?:api-?key|secret|token)[ =][ \t]{{0,3}}[\"']?){_VALUE}{{15,1000}}+{_END}"),
    ("auth", r"(auth(?:token)?\"[ \t]{0,5}:[ \t]{0,5}\")[A-Za-z0-9+/=_-]{16,}"),
)
Forms = tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]
FORMS: Forms = tuple(
    (tuple(hints.split()), re.compile(form, re.X if form is _PEM else 0)) for hints, form in _ISSUED
)
FORMS_IN_ANY_CASE: Forms = tuple((tuple(hints.split()), re.compile(form, re.I)) for hints, form in _ASSIGNED)
