"""What the terms of messages mean: ``docs/glossary.md``, which is shipped with the bot, and who asks for one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from bot import read_shipped_file

_FILE, _FOR_DEVELOPERS = "docs/glossary.md", "\n## In documents and code\n"
_ROW = re.compile(r"^\| (?!term |---)(?P<name>[^|]+) \| (?P<meaning>[^|]+) \| (?P<others>[^|]*)\|$", re.M)
_MAX_LENGTH = 200

_STARTS = r"(?:(?:and|so|but|hey|hi|hello|ok|please|sorry|und|also) *,? +)*"
_PLACES = (
    r"(?: (?:here|exactly|in (?:this|the|your) (?:digest|message|thread|channel|answer|list)s?|in prdigest))?"
)
_CALLED = r"(?:the )?(?:word |term |phrase |label )?"
# each asks for the meaning of a word, whatever it is
_ASKS_MEANING = {
    "en": (
        rf"what (?:do|does|did) {_CALLED}(?P<term>.+?) (?:mean|stand for){_PLACES}",
        rf"what do you mean (?:by|with) {_CALLED}(?P<term>.+?){_PLACES}",
        rf"what(?: is|'s) (?:the meaning of|meant by) {_CALLED}(?P<term>.+?){_PLACES}",
        rf"(?:define|the meaning of|meaning of) {_CALLED}(?P<term>.+)",
    ),
    "de": (
        r"was (?:heißt|heisst|bedeutet|meint) (?:hier )?(?P<term>.+?)(?: hier)?",
        r"was meinst du mit (?P<term>.+)",
        r"was ist mit (?P<term>.+) gemeint",
    ),
    "zh": (r"(?P<term>.+?) ?(?:是|的意思是)?(?:什么|啥)(?:意思)", r"(?:什么叫|解释一下) ?(?P<term>.+)"),
}
# each asks what something is, which a label is not: "what is riskiest?" asks about a day
_ASKS_THING = {
    "en": (r"what(?: is|'s| are) (?:an? )?(?P<term>.+)",),
    "de": (r"was (?:ist|sind) (?:eine? )?(?P<term>.+)",),
    "zh": (r"什么是 ?(?P<term>.+)", r"(?P<term>.+?) ?是(?:什么|啥)"),
}
_HAS_ARTICLE = re.compile(r"(?:the|der|die|das) ", re.I)
_LEADS = {"en": "", "de": "Auf Englisch, wie in meinen Nachrichten: ", "zh": "我的消息用英文，释义也是英文："}  # noqa: RUF001
# a name of code, such as one in backticks
_CODE = re.compile(r"`[^`\s]+`|[_/=<>{}]|\w[.(]\w?|--|[a-z][A-Z]")


# characters of Traditional Chinese that questions have, and the simplified ones
_SIMPLIFIED = str.maketrans(
    "麼嗎們裡裏變壞預設會動併總結幫響碼這個為說還後請問該應當開關對過從來時間現經處發種點無級機測試錯誤選項參數刪復據讓與給"
    "實嚴範圍歸檔類單雙幾條題議釋義詞語寫讀認準備資訊網連線環險風鑒優於麽檢視誰書產結啟種標記錄億頁邊務執",
    "么吗们里里变坏预设会动并总结帮响码这个为说还后请问该应当开关对过从来时间现经处发种点无级机测试错误选项参数删复据让与给"
    "实严范围归档类单双几条题议释义词语写读认准备资讯网连线环险风鉴优于么检视谁书产结启种标记录亿页边务执",
)


@dataclass(frozen=True, slots=True)
class Term:
    """An entry. ``is_label`` if the word that leads to it names no thing, such as "riskiest"."""

    name: str
    meaning: str
    is_in_messages: bool
    is_label: bool

    def render(self, bold: str = "**") -> str:
        return f"{bold}{self.name}{bold}: {self.meaning}"


@cache
def load_terms() -> Mapping[str, Term]:
    """Return the entries by each word that leads to them, in lower case."""
    text = read_shipped_file(_FILE).decode()
    developers, terms = text.index(_FOR_DEVELOPERS), dict[str, Term]()
    for row in _ROW.finditer(text):
        words = [row["name"], *filter(None, map(str.strip, row["others"].split(",")))]
        for word in words:
            name, is_label = row["name"].strip("*"), word.startswith("*")
            terms[_normalize(word)] = Term(name, row["meaning"], row.start() < developers, is_label)
    return terms


def find_term(text: str) -> Term | None:
    """Return the entry that a word leads to: in quotation marks, in the plural, or with figures behind it, too."""
    terms, word = load_terms(), _normalize(text)
    without_article = re.sub(r"^(?:the|an?|der|die|das|eine?) ", "", word)
    words = (word, without_article, without_article.removesuffix("s"))
    return next((terms[each] for each in words if each in terms), None)


def explain_term(text: str) -> str:
    """Return an entry as mrkdwn; empty if the text leads to none."""
    term = find_term(text[:_MAX_LENGTH])
    return term.render(bold="*") if term else ""


def explain_asked(question: str) -> str | None:
    """Return the meaning that a question asks for, as Markdown; empty for code, or a question that says more."""
    # apostrophes as they are typed on telephones
    text = unicodedata.normalize("NFKC", question[: _MAX_LENGTH + 1]).replace(
        "\N{RIGHT SINGLE QUOTATION MARK}", "'"
    )
    text = simplify_chinese(" ".join(text.split()).strip(" ?!.。"))
    if len(text) > _MAX_LENGTH or _CODE.search(text):
        return None
    for asks, is_thing in ((_ASKS_MEANING, False), (_ASKS_THING, True)):
        for language, patterns in asks.items():
            for match in filter(None, (re.fullmatch(_STARTS + each, text, re.I) for each in patterns)):
                term = find_term(match["term"])
                # "what is the risk?" asks about the pull requests of the thread
                is_question_of_day = is_thing and (not term or term.is_label or _HAS_ARTICLE.match(match["term"]))
                if term and term.is_in_messages and not is_question_of_day:
                    return _LEADS[language] + term.render()
    return None


def simplify_chinese(text: str) -> str:
    return text.translate(_SIMPLIFIED)


def _normalize(word: str) -> str:
    text = unicodedata.normalize("NFKC", word).casefold()
    # figures follow a label, as in "AI bug review: 3 of 3"
    words = re.sub(r"[^\w']+", " ", re.sub(r"\d.*", "", text)).strip("' ")
    return " ".join(words.split()) or text.strip("'\" ")
