import pytest

from tests.contract.surfaces.changes import compare, list_kinds

PATH = "vllm/grpc/engine.proto"
TEXT = """
syntax = "proto3";
// message Commented { string a = 1; }
service Engine {
  rpc Generate(Request) returns (stream Response);
}
message Request {
  optional float temperature = 1;
  map<int32, float> bias = 2; // a map
  oneof constraint { string regex = 16; }
  enum Mode { FAST = 0; SLOW = 1; }
  message Inner { repeated string names = 1; }
  reserved 5;
}
message Empty {}
"""


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("temperature = 1", "temperature = 3", [("signature", "Request.temperature")]),
        ("optional float", "optional double", [("signature", "Request.temperature")]),
        ("  optional float temperature = 1;", "", [("removed", "Request.temperature")]),
        ("string regex = 16;", "string regex = 16; string json = 17;", [("added", "Request.json")]),
        ("SLOW = 1", "SLOW = 2", [("signature", "Request.Mode.SLOW")]),
        ("(stream Response)", "(Response)", [("signature", "Engine.Generate")]),
        ("repeated string names", "string names", [("signature", "Request.Inner.names")]),
        ("bias = 2;", "bias = 2 [deprecated = true];", [("deprecated", "Request.bias")]),
        ("message Empty {}", "message Other { int32 a = 1; }", [("removed", "Empty"), ("added", "Other")]),
        ("// a map", "// another = 3;", []),
    ],
)
def test_what_changes_a_message(old: str, new: str, rows: list[tuple[str, str]]) -> None:
    assert sorted(list_kinds(PATH, TEXT, TEXT.replace(old, new))) == sorted(rows)


def test_the_line_of_a_field() -> None:
    (row,) = compare(PATH, TEXT, TEXT.replace("reserved 5;", "reserved 5;\n  int32 late = 9;"))
    assert (row.name, row.line, row.after) == ("Request.late", 14, "int32 late = 9")
