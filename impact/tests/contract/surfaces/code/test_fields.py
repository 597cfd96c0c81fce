import pytest

from tests.contract.surfaces.changes import change, compare, list_kinds, list_rows

CONFIG = "vllm/config/cache.py"
API = "vllm/entrypoints/openai/protocol.py"
WIRE = "vllm/v1/engine/__init__.py"


def make_class(head: str, *fields: str) -> str:
    return "\n    ".join((f"{head}:", "keep: int = 0", *fields)) + "\n"


@pytest.mark.parametrize(
    ("path", "head", "subject"),
    [
        (CONFIG, "@dataclass\nclass CacheConfig", "configuration field"),
        ("vllm/x.py", "@config\nclass CacheConfig", "configuration field"),
        ("vllm/x.py", "@dataclasses.dataclass(frozen=True)\nclass EngineArgs", "configuration field"),
        ("vllm/x.py", "class AppSettings(BaseSettings)", "configuration field"),
        (API, "class ChatRequest(OpenAIBaseModel)", "request or response field"),
        (API, "class Part(TypedDict, total=False)", "request or response field"),
        (WIRE, "class Request(msgspec.Struct, array_like=True)", "wire format"),
        ("vllm/distributed/x.py", "class Handshake(BaseModel)", "wire format"),
    ],
)
def test_whose_fields_count(path: str, head: str, subject: str) -> None:
    (row,) = compare(path, make_class(head), make_class(head, "x: int = 1"))
    assert (row.subject.value, row.kind.value, row.name.rsplit(".")[-1]) == (subject, "added", "x")


@pytest.mark.parametrize(
    "head", ["class CacheConfig", "@dataclass\nclass Cache", "class CacheConfig(PretrainedConfig)"]
)
def test_whose_fields_do_not_count(head: str) -> None:
    assert list_kinds("vllm/x.py", make_class(head), make_class(head, "x: int = 1")) == []


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("x: int = 1", "x: int = 2", ["default"]),
        ("x: int", "x: int = 2", ["default"]),
        ("x: int = 1", "x: float = 1", ["signature"]),
        ("x: Optional[int] = None", "x: int | None = None", []),
        ("x: 'A | None' = None", "x: Union[A, None] = None", []),
        ("x: Optional[List[int]] = None", "x: list[int] | None = None", []),
        ("x: Literal['a'] = 'a'", "x: Literal['a', 'b'] = 'a'", ["signature"]),
        ("x: list[int] = field(default_factory=list)", "x: list[int] = Field(default_factory=lambda: [])", []),
        ("x: int = Field(default=1, ge=0)", "x: int = 1", []),
        ("x: int = Field(1)", "x: int = Field(1, deprecated=True)", ["deprecated"]),
        ("x: int = 1", 'x: int = 1\n    """Deprecated: use `y`."""', ["deprecated"]),
        ("_x: int = 1", "_x: int = 2", []),
        ("x: ClassVar[int] = 1", "x: ClassVar[int] = 2", []),
        ("x: int = 1", "", ["removed"]),
    ],
)
def test_what_changes_a_field(old: str, new: str, kinds: list[str]) -> None:
    head = "@dataclass\nclass CacheConfig"
    rows = compare(CONFIG, make_class(head, old), make_class(head, new))
    assert [row.kind.value for row in rows] == kinds


def test_a_field_that_moves_to_a_base_is_not_removed() -> None:
    old = make_class("class ChatRequest(BaseModel)", "x: int = 1")
    base = make_class("class Mixin(BaseModel)", "x: int = 1")
    new = make_class("class ChatRequest(Mixin)")
    assert list_rows(change(API, old, new), change("vllm/entrypoints/base/protocol.py", None, base)) == []
    # the new base may have it: it is in a file that isn't there
    assert list_rows(change(API, old, make_class("class ChatRequest(Mixin, BaseModel)"))) == []


def test_whole_classes_are_rows_about_python() -> None:
    text = make_class("class ChatRequest(BaseModel)", "x: int = 1")
    assert list_kinds(API, text, "") == []
    assert list_kinds(API, "", text) == []


def test_a_class_in_the_place_of_a_second_name_adds_its_fields() -> None:
    base = make_class("class ChatRequest(BaseModel)", "x: int = 1")
    new = make_class("class PoolRequest(ChatRequest)", "x: int = 1\n    y: int = 2")
    alias, own = f"{base}\n\nPoolRequest = ChatRequest\n", f"{base}\n\n{new}"
    assert list_kinds(API, alias, own) == [("added", "PoolRequest.y")]
    assert list_kinds(API, own, alias) == [("removed", "PoolRequest.y")]
    assert list_kinds(API, base, alias) == []


def test_a_struct_inherits_how_it_is_sent() -> None:
    text = "class Event(msgspec.Struct, array_like=True):\n    pass\n\n\nclass Stored(Event):\n    a: int\n{}"
    (row,) = compare(WIRE, text.format(""), text.format("    b: int\n"))
    assert (row.name, row.after) == ("Stored.b", "b: int (position 2)")


def test_a_default_that_another_class_gives_is_resolved_or_unknown() -> None:
    arguments = "@dataclass\nclass EngineArgs:\n    x: int = {}.x\n"
    old, new = arguments.format("ModelConfig"), arguments.format("RendererConfig")
    assert list_kinds("vllm/engine/arg_utils.py", old, new) == []
    config = "@config\nclass {}:\n    x: int = {}\n"
    rows = list_rows(
        change("vllm/engine/arg_utils.py", old, new),
        change(CONFIG, config.format("ModelConfig", 1), config.format("RendererConfig", 2)),
    )
    assert rows == [("configuration field", "default", "EngineArgs.x")]


def test_a_removed_field_keeps_the_deadline_that_was_announced() -> None:
    text = "`x` is deprecated and will be removed in v0.12.0. Please pass `json` to `outputs`."
    field = f"x: int = Field(1, deprecated='{text}')"
    head = "class ChatRequest(BaseModel)"
    (row,) = compare(API, make_class(head, field), make_class(head))
    assert row.deadline is not None
    assert (row.deadline.when, row.deadline.replacement) == ("v0.12.0", "outputs.json")
