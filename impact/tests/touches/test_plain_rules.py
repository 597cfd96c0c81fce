"""Names that are not Python code: what of a profile a change of them concerns."""

from dataclasses import replace

from impact.contract.models import ChangeKind, ContractClass
from impact.profile.models import Use, UseKind
from impact.testing.checks import check_rows
from impact.testing.touches import make_change, make_merge, make_profile, make_use
from impact.touches.judgement import list_touches
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex

NO, TOUCHES, MAY_BREAK, SILENT, BREAKS = TouchLevel
REMOVED, SIGNATURE, DEFAULT = ChangeKind.REMOVED, ChangeKind.SIGNATURE, ChangeKind.DEFAULT
FLAG, METRIC, ENDPOINT = ContractClass.FLAG, ContractClass.METRIC, ContractClass.ENDPOINT
DEPENDENCY = ContractClass.DEPENDENCY
API_FIELD, CONFIGURATION, WIRE = ContractClass.API_FIELD, ContractClass.CONFIGURATION, ContractClass.WIRE


def rate(subject: ContractClass, kind: ChangeKind, name: str, use: Use) -> TouchLevel:
    touches = list_touches(make_merge(make_change(kind, name, subject)), ProfileIndex(make_profile([use])))
    return max((each.level for each in touches), default=NO)


@check_rows(
    {
        "gone": (API_FIELD, REMOVED, "Chat.guided_json", UseKind.API_FIELD, "guided_json", MAY_BREAK),
        "another default": (API_FIELD, DEFAULT, "Chat.guided_json", UseKind.API_FIELD, "guided_json", TOUCHES),
        "a word that is long enough": (API_FIELD, REMOVED, "Chat.stream", UseKind.API_FIELD, "stream", MAY_BREAK),
        "short, of two words": (API_FIELD, REMOVED, "Chat.top_k", UseKind.API_FIELD, "top_k", MAY_BREAK),
        "a name of many classes": (API_FIELD, REMOVED, "Chat.model", UseKind.API_FIELD, "model", NO),
        "a letter": (API_FIELD, REMOVED, "Chat.n", UseKind.API_FIELD, "n", NO),
        "of a query": (API_FIELD, REMOVED, "GET /sleep?level_of_it", UseKind.API_FIELD, "level_of_it", MAY_BREAK),
        "between processes": (WIRE, REMOVED, "Batch.kv_params", UseKind.API_FIELD, "kv_params", MAY_BREAK),
        "of a configuration": (
            CONFIGURATION,
            REMOVED,
            "C.block_size",
            UseKind.CONFIGURATION,
            "block_size",
            MAY_BREAK,
        ),
        "the same class": (CONFIGURATION, REMOVED, "C.block_size", UseKind.CONFIGURATION, "C.block_size", BREAKS),
        "another class": (CONFIGURATION, REMOVED, "C.block_size", UseKind.CONFIGURATION, "D.block_size", NO),
        "of a request, not of a configuration": (
            CONFIGURATION,
            REMOVED,
            "C.block_size",
            UseKind.API_FIELD,
            "block_size",
            NO,
        ),
        "without a class, exactly": (API_FIELD, REMOVED, "n", UseKind.API_FIELD, "n", BREAKS),
    }
)
def test_a_field_is_known_without_its_class(
    subject: ContractClass, kind: ChangeKind, name: str, use: UseKind, used: str, level: TouchLevel
) -> None:
    assert rate(subject, kind, name, make_use(use, used)) is level


@check_rows(
    {
        "a flag": (FLAG, REMOVED, "--max-len", UseKind.FLAG, "--max-len", BREAKS),
        "its short name": (FLAG, REMOVED, "-q", UseKind.FLAG, "-q", BREAKS),
        "declared with underscores": (FLAG, REMOVED, "--max_len", UseKind.FLAG, "--max-len", BREAKS),
        "a switch that is off": (FLAG, DEFAULT, "--prefix-caching", UseKind.FLAG, "--no-prefix-caching", TOUCHES),
        "the off side alone": (FLAG, REMOVED, "--no-x", UseKind.FLAG, "--x", NO),
        "a flag that begins so": (FLAG, REMOVED, "--max", UseKind.FLAG, "--max-len", NO),
        "what upstream needs": (DEPENDENCY, REMOVED, "torch", UseKind.PIN, "torch", TOUCHES),
        "a version it builds with": (DEPENDENCY, REMOVED, "T_VERSION", UseKind.ENVIRONMENT, "T_VERSION", NO),
    }
)
def test_other_names_are_known_as_they_are_written(
    subject: ContractClass, kind: ChangeKind, name: str, use: UseKind, used: str, level: TouchLevel
) -> None:
    assert rate(subject, kind, name, make_use(use, used)) is level


def test_an_argument_of_an_image_says_nothing_of_what_code_reads() -> None:
    use = make_use(UseKind.ENVIRONMENT, "UP_DEVICE")
    gone = make_change(REMOVED, "UP_DEVICE", ContractClass.ENVIRONMENT)
    levels = [
        [
            each.level
            for each in list_touches(make_merge(replace(gone, path=path)), ProfileIndex(make_profile([use])))
        ]
        for path in ("docker/Dockerfile.cpu", "up/envs.py")
    ]
    assert levels == [[TOUCHES], [SILENT]]
