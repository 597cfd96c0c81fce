import importlib.util
import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from bot.monitoring import PORT_OFFSETS
from bot.settings import Process, Settings, is_secret
from tests.deploy.files import DEPLOY, load_yaml
from tests.helpers.processes.command import ROOT

_LACKS = next(
    (name for name in ("helm_python", "kubernetes_validate") if importlib.util.find_spec(name) is None), ""
)
needs_helm = pytest.mark.skipif(bool(_LACKS), reason=f"there is no {_LACKS}: uv sync --group deploy")

CHART = DEPLOY / "chart"
# the oldest that Chart.yaml allows and has schemas, and the newest
KUBERNETES = ("1.27", "1.37")
LEAST = {"existingSecret": "prdigest", "settings": {"PRDIGEST_REPO": "owner/name"}}
MONITORED = {"enabled": True, "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}}
FULL = LEAST | {
    "image": {
        "repository": "registry.example/prdigest",
        "digest": f"sha256:{'a' * 64}",
        "pullSecrets": ["registry"],
    },
    "settings": {"PRDIGEST_REPO": "owner/name", "REDIS_URL": "redis://valkey:6379/0"},
    "metrics": MONITORED,
    "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/prdigest"}},
    "nodeSelector": {"kubernetes.io/arch": "arm64"},
    "tolerations": [{"key": "spot", "operator": "Exists"}],
    "podAnnotations": {"team": "platform"},
    "web": {"replicas": 2},
}
VALUES = [pytest.param(LEAST, id="least"), pytest.param(FULL, id="full")]


def render(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    import helm_python  # noqa: PLC0415 (a library of a hundred megabytes, which not every machine has)

    with helm_python.Chart.load(CHART) as chart:
        files = chart.render(dict(values), name="rel", namespace="digests")
    texts = [text for path, text in files.items() if path.endswith(".yaml")]
    return [each for text in texts for each in yaml.safe_load_all(text) if each]


def select(manifests: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in manifests if each["kind"] == kind}


def get_container(deployment: Mapping[str, Any]) -> dict[str, Any]:
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return dict(container)


def test_it_is_the_version_of_the_bot() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{load_yaml("chart/Chart.yaml")["appVersion"]}"\n' in text


def test_its_example_values_name_settings_that_exist() -> None:
    helpers = (CHART / "templates" / "_helpers.tpl").read_text(encoding="utf-8")
    refused = set(re.findall(r'"(\w+)"', helpers.partition("$secrets := list")[2].partition("-}}")[0]))
    secrets = {name.upper() for name, field in Settings.model_fields.items() if is_secret(field)}
    # REDIS_URL has a password or none
    assert refused == secrets - {"REDIS_URL"}


@needs_helm
@pytest.mark.parametrize("values", VALUES)
def test_helm_lint_finds_nothing(values: Mapping[str, Any]) -> None:
    import helm_python  # noqa: PLC0415

    report = helm_python.lint(CHART, dict(values), strict=True)
    # severity 1 is information: a chart may have an icon
    assert [each for each in report["messages"] if each["severity"] > 1] == []
    assert report["errors"] == []


@needs_helm
@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("values", VALUES)
def test_what_it_renders_keeps_the_schemas_of_kubernetes(values: Mapping[str, Any], version: str) -> None:
    import kubernetes_validate  # noqa: PLC0415

    checked = [each for each in render(values) if each["kind"] != "ServiceMonitor"]
    for manifest in checked:
        kubernetes_validate.validate(manifest, version, strict=True)
    assert {each["kind"] for each in checked} == {"ConfigMap", "Deployment", "Service", "ServiceAccount"}


@needs_helm
@pytest.mark.parametrize("values", VALUES)
def test_each_process_of_the_procfile_is_a_deployment_without_rights(values: Mapping[str, Any]) -> None:
    deployments = select(render(values), "Deployment")
    processes = [line.partition(":")[0] for line in (ROOT / "Procfile").read_text().splitlines()]
    assert list(deployments) == [f"rel-{name}" for name in processes]
    for name, deployment in zip(processes, deployments.values(), strict=True):
        container, pod = get_container(deployment), deployment["spec"]["template"]["spec"]
        assert container["args"] == [name]
        rights = container["securityContext"]
        assert (rights["readOnlyRootFilesystem"], rights["allowPrivilegeEscalation"]) == (True, False)
        assert rights["capabilities"] == {"drop": ["ALL"]}
        assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10_001)
        assert pod["automountServiceAccountToken"] is False
        # above the twenty seconds that a process takes to end
        assert pod["terminationGracePeriodSeconds"] > 20
        assert {each["mountPath"] for each in container["volumeMounts"]} == {"/data", "/tmp"}  # noqa: S108 (in a pod)


@needs_helm
def test_secrets_are_named_and_never_rendered() -> None:
    manifests = render(LEAST)
    assert select(manifests, "Secret") == {}
    for deployment in select(manifests, "Deployment").values():
        container = get_container(deployment)
        assert {"secretRef": {"name": "prdigest"}} in container["envFrom"]
        # the store is not optional: the embedded one would be another in each pod
        [store] = container["env"]
        assert store == {
            "name": "REDIS_URL",
            "valueFrom": {"secretKeyRef": {"name": "prdigest", "key": "REDIS_URL"}},
        }


@needs_helm
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (LEAST | {"image": {"repository": "prdigest", "digest": "latest"}}, "digest"),
        (LEAST | {"replicas": 3}, "replicas"),
        (LEAST | {"web": {"replicas": -1}}, "replicas"),
    ],
)
def test_values_that_would_not_work_are_refused(values: Mapping[str, Any], reason: str) -> None:
    import helm_python  # noqa: PLC0415

    with pytest.raises(helm_python.HelmValuesError, match=reason):
        render(values)


@needs_helm
def test_probes_ask_what_a_process_answers() -> None:
    plain = {name: get_container(each) for name, each in select(render(LEAST), "Deployment").items()}
    assert plain["rel-web"]["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert plain["rel-web"]["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    # without metrics, workers and clocks listen on nothing
    assert "livenessProbe" not in plain["rel-worker"]
    full = {name: get_container(each) for name, each in select(render(FULL), "Deployment").items()}
    assert full["rel-worker"]["livenessProbe"]["tcpSocket"] == {"port": "metrics"}


@needs_helm
def test_metrics_are_off_until_a_value_says_so() -> None:
    assert "9464" not in yaml.safe_dump(render(LEAST))
    manifests = render(FULL)
    [monitor] = select(manifests, "ServiceMonitor").values()
    assert monitor["spec"]["endpoints"] == [{"port": "metrics", "path": "/metrics", "interval": "30s"}]
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    service = select(manifests, "Service")["rel-metrics"]
    match_labels = monitor["spec"]["selector"]["matchLabels"]
    assert match_labels.items() <= service["metadata"]["labels"].items()
    # it finds that service alone, and through it the pods of all processes
    assert not match_labels.items() <= select(manifests, "Service")["rel"]["metadata"]["labels"].items()
    assert [(port["name"], port["port"]) for port in service["spec"]["ports"]] == [("metrics", 9464)]
    for name, deployment in select(manifests, "Deployment").items():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert service["spec"]["selector"].items() <= labels.items()
        # each process listens on a port of its own
        port = 9464 + PORT_OFFSETS[Process(name.removeprefix("rel-"))]
        assert {"name": "metrics", "containerPort": port, "protocol": "TCP"} in get_container(deployment)["ports"]


@needs_helm
@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "existingSecret is empty: set it to the name of a Secret with SLACK_BOT_TOKEN,"),
        (LEAST | {"settings": {}}, "settings.PRDIGEST_REPO is empty: set it to the repository to read,"),
        (LEAST | {"existingSecret": ""}, "existingSecret is empty: set it to the name of a Secret"),
        *(
            (
                LEAST | {"settings": {"PRDIGEST_REPO": "o/n", name: "ghp_x"}},
                f"settings.{name} is a secret: put it into the Secret that existingSecret names, not into values.",
            )
            for name in ("GITHUB_TOKEN", "SLACK_BOT_TOKEN", "PRDIGEST_MODEL_KEY")
        ),
        *(
            (
                LEAST | {"settings": {"PRDIGEST_REPO": "o/n", name: 1}},
                f"settings.{name} is set by the chart: leave it",
            )
            for name in ("PORT", "PRDIGEST_METRICS_ADDRESS")
        ),
    ],
)
def test_what_is_set_in_the_wrong_place_is_told_in_a_sentence(values: Mapping[str, Any], sentence: str) -> None:
    import helm_python  # noqa: PLC0415

    with pytest.raises(helm_python.HelmRenderError) as caught:
        render(values)
    assert f": {sentence}" in str(caught.value)
    assert "ghp_x" not in str(caught.value)


@needs_helm
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (16, "16"),
        (51_234_567, "51234567"),
        (2.5, "2.5"),
        (0, "0"),
        (True, "true"),
        ("09:00", "09:00"),
        ('a"b', 'a"b'),
    ],
)
def test_a_setting_is_text_for_a_pod(value: object, text: str) -> None:
    values = LEAST | {"settings": {"PRDIGEST_REPO": "owner/name", "GITHUB_APP_ID": value}}
    [settings] = select(render(values), "ConfigMap").values()
    assert settings["data"]["GITHUB_APP_ID"] == text


@needs_helm
def test_pods_start_again_when_a_setting_changes() -> None:
    def read_checksums(values: Mapping[str, Any]) -> set[str]:
        deployments = select(render(values), "Deployment").values()
        return {each["spec"]["template"]["metadata"]["annotations"]["checksum/settings"] for each in deployments}

    changed = LEAST | {"settings": {"PRDIGEST_REPO": "owner/another"}}
    assert len(read_checksums(LEAST) | read_checksums(changed)) == 2
