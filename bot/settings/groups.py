"""Each variable once, with its type, default and description, in groups as documents have them.

A new setting is a field of one of the groups; ``python -m docs.settings`` then writes it into ``.env.example`` and
``docs/settings.md``.
"""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import ClassVar, Literal
from zoneinfo import ZoneInfo

from platformdirs import user_state_path
from pydantic import SecretStr, ValidationInfo, field_validator

from bot.platform.pulls.models import derive_web_address
from bot.settings.description import Process, SettingsGroup, setting
from bot.settings.values import (
    LOOPBACK,
    MIN_TOKEN_LENGTH,
    Address,
    ChannelId,
    CloneFolders,
    CloudName,
    Dollars,
    DownstreamSetting,
    HostNames,
    ListenAddress,
    ListenHost,
    LongToken,
    MetricsAddress,
    ModelPrices,
    PackageIndexSetting,
    PrivateAddress,
    ProfileNames,
    RequiredAddress,
    SlackId,
    SlackIds,
    StorePrefix,
    TimeOfDay,
    Zone,
    parse_downstreams,
    parse_or_advise,
    split_list,
)
from impact.repository import Repository

# readers of a setting; without any, all processes read it
_WORK = (Process.WORKER, Process.COMMANDS)
_ADMISSION = (Process.WEB, Process.WORKER)
_WORKER, _WEB, _COMMANDS = (Process.WORKER,), (Process.WEB,), (Process.COMMANDS,)
_LONG_PROCESSES = (Process.WEB, Process.WORKER, Process.CLOCK)

# in Slack, where no repository is set
CHOOSE_REPOSITORY = (
    "No repository is chosen yet: send /prdigest subscribe owner/name with a public one in the channel for its "
    "digest, or have PRDIGEST_REPO set where the bot runs."
)
_PATHS_EXAMPLE = """\
["vllm-project/vllm"]
product = ["examples/online_serving/**/*.py"]
docs = ["design/"]
critical = ["vllm/v1/engine/", "!*moe*"]
without_defaults = ["support"]"""

LogFormat = Literal["text", "json"]

_DOWNSTREAMS = parse_downstreams(
    "vllm-project/vllm=vllm-project/vllm-ascend,vllm-project/vllm-gaudi,vllm-project/tpu-inference"
)


class GitHubSettings(SettingsGroup):
    heading: ClassVar = "GitHub"

    github_token: SecretStr | None = setting(
        'A token for GitHub. A fine-grained one needs read-only access to "Pull requests" and "Contents", and for '
        'private repositories also to "Issues". Everything except the demo needs it, or the GitHub App below.',
        _WORK,
        address_field="github_api_url",
        is_token=True,
    )
    github_app_id: str | None = setting(
        "Instead of a token: the id of a GitHub App installed on the repository.", _WORK
    )
    github_app_private_key: SecretStr | None = setting(
        "The private key of that app: its PEM text, or the path of a PEM file.",
        _WORK,
        address_field="github_api_url",
    )
    github_app_installation_id: int | None = setting(
        "The id of the app's installation: the number at the end of its settings page's address.", _WORK
    )
    github_api_url: Address = setting(
        "The address of GitHub's API. For GitHub Enterprise, set your server's; links go there too.",
        default="https://api.github.com",
        examples=["https://github.example.com/api/v3"],
    )

    @property
    def github_web_url(self) -> str:
        return derive_web_address(self.github_api_url)


class ClaudeSettings(SettingsGroup):
    heading: ClassVar = "Claude"

    anthropic_api_key: SecretStr | None = setting(
        "The key of Claude's API. Without it, summaries contain facts only, and say so.",
        _WORK,
        address_field="anthropic_base_url",
        is_token=True,
    )
    anthropic_base_url: Address = setting(
        "The address of Claude's API, or of a gateway to it. The key is sent there.",
        _WORK,
        default="https://api.anthropic.com",
    )
    # the registry knows which there are (bot/platform/models/registry.py), and checks the name
    prdigest_model_provider: str = setting(
        "Where the models run: {providers}. A cloud needs an extra, as in `pip install 'prdigest[bedrock]'`. It "
        "finds its own credentials. ANTHROPIC_API_KEY is used with `anthropic` alone.",
        _WORK,
        default="anthropic",
    )
    prdigest_model_region: CloudName = setting(
        "The region of Bedrock or Vertex AI. On Vertex AI it may be `global`.", _WORK, examples=["us-east-1"]
    )
    prdigest_model_project: CloudName = setting(
        "The id of the Google Cloud project, for Vertex AI.", _WORK, examples=["my-project-123"]
    )
    prdigest_summary_model: str = setting(
        "The model that reads each pull request.", _WORK, default="claude-haiku-5-5"
    )
    prdigest_answer_model: str = setting(
        "The larger model, for overviews and answers.", _WORK, default="claude-sonnet-5-5"
    )
    prdigest_diff_tokens: int = setting(
        "Maximum tokens of diff in one prompt, 1000 to 90000 (4 characters each). The model and the reader are "
        "told what did not fit. Most pull requests need fewer than 5000.",
        _WORK,
        default=30_000,
        ge=1_000,
        le=90_000,
    )


class ModelServerSettings(SettingsGroup):
    heading: ClassVar = "OpenAI-compatible server"

    prdigest_model_url: PrivateAddress = setting(
        "The base address of an OpenAI-compatible server, such as vLLM, with `/v1` at its end. "
        "`PRDIGEST_MODEL_PROVIDER=openai-compatible` needs it, and both names of models. Plain `http` is for this "
        "machine and private networks alone.",
        _WORK,
        examples=["http://127.0.0.1:8000/v1"],
    )
    prdigest_model_key: SecretStr | None = setting(
        "The key of that server, if it asks for one.", _WORK, address_field="prdigest_model_url", is_token=True
    )
    prdigest_model_prices: ModelPrices = setting(
        "What the models of that server cost, in US dollars for a million tokens of input and of output: `0/0` "
        "for all of them, or `NAME=IN/OUT` for each. Without it costs are unknown, and budgets in dollars limit "
        "nothing.",
        _WORK,
        default_factory=dict,
        examples=["small=0.10/0.40 large=0.60/2.40"],
    )
    prdigest_context_tokens: int | None = setting(
        "The context window of that server's models in tokens, 4096 or more. Without it, the server is asked "
        "(vLLM says it). Longer requests are shortened before they are sent.",
        _WORK,
        ge=4_096,
    )


class SlackSettings(SettingsGroup):
    heading: ClassVar = "Slack"

    # the second prefix begins a token that Slack renews (docs.slack.dev, "Token rotation")
    slack_bot_token: SecretStr | None = setting(
        "The bot token (xoxb-…). Needed to post, but not for --dry-run.",
        address_field="slack_api_url",
        is_token=True,
        prefixes=("xoxb-", "xoxe.xoxb-"),
    )
    slack_app_token: SecretStr | None = setting(
        "The app-level token (xapp-…) with the scope connections:write, for Socket Mode. Socket Mode needs no "
        "public address.",
        _WEB,
        address_field="slack_api_url",
        is_token=True,
        prefixes=("xapp-",),
    )
    slack_signing_secret: SecretStr | None = setting(
        "The app's signing secret. Needed only without an app-level token: Slack then sends requests over HTTP to "
        "/slack/events on PORT, and the secret proves that they are from Slack.",
        _WEB,
        is_token=True,
    )
    slack_api_url: Address = setting(
        "The address of Slack's API. Change it only for tests.", default="https://slack.com/api/"
    )


class DigestSettings(SettingsGroup):
    heading: ClassVar = "What to post, where and when"

    prdigest_repo: Repository | None = setting(
        "The repository that the digests are about. If empty, the first public one that somebody subscribes to in "
        "Slack.",
        examples=["owner/name"],
    )
    prdigest_repos: tuple[Repository, ...] = setting(
        "More repositories that people may ask about, separated by commas. The bot answers about no others. So "
        "nobody learns about a private repository that only the token may read.",
        default=(),
    )
    prdigest_name: str | None = setting("The name of the repository in headings. Default: its own name.", _WORK)
    prdigest_paths: Path | None = setting(
        "A TOML file that says which paths are product code, tests, documentation and so on, and which are "
        "critical. You need it only if the defaults don't fit; `prdigest doctor --paths` shows them. Patterns are "
        "those of .gitignore, and come before all defaults. Read when a process starts. The file has one table "
        'for each repository; `["*"]` is for all others. The classes are lock, generated, ci, tests, docs, build, '
        "support, product and other: the first match wins. `critical` adds to its defaults, and `!` removes from "
        "them.",
        _WORK,
        examples=[_PATHS_EXAMPLE],
    )
    prdigest_channel: ChannelId = setting("The id (C…, not the name) of the channel for the daily digest.")
    prdigest_timezone: Zone = setting(
        "The time zone in which a day begins and ends, as an IANA name.",
        default_factory=lambda: ZoneInfo("UTC"),
        examples=["America/Los_Angeles"],
    )
    prdigest_post_at: TimeOfDay = setting(
        "When to post yesterday's digest: a local time in that zone, such as 09:00 or 9am.", default=time(9, 0)
    )
    prdigest_catch_up_hours: int = setting(
        "How many hours late a digest may still be posted, 1 to 168. Older ones are skipped, and the next digest "
        "says so. A weekly one is posted until the next is due.",
        (Process.CLOCK,),
        default=24,
        ge=1,
        le=168,
    )
    prdigest_admin_channel: SlackId = setting(
        "Id of a channel for reports about late, failed, skipped or incomplete digests, and about jobs that "
        "failed for good. If empty, subscribers get the reports about their digests, PRDIGEST_CHANNEL those about "
        "its own. Jobs are then only in the log.",
        (Process.WORKER, Process.CLOCK, Process.COMMANDS),
    )

    @field_validator("prdigest_repo", mode="before")
    @classmethod
    def _parse_repository(cls, value: object, others: ValidationInfo) -> object:
        def parse(text: str) -> Repository:
            return Repository.parse(text, derive_web_address(others.data.get("github_api_url", "")))

        return parse_or_advise(parse, value, "write it as owner/name, such as vllm-project/vllm")

    @field_validator("prdigest_repos", mode="before")
    @classmethod
    def _parse_repositories(cls, value: object, others: ValidationInfo) -> object:
        if not isinstance(value, str):
            return value
        return tuple(cls._parse_repository(name, others) for name in split_list(value))


class AccessSettings(SettingsGroup):
    heading: ClassVar = "Who may ask"

    prdigest_allowed_workspaces: SlackIds = setting(
        "Ids (T…) of other workspaces whose people may ask too, separated by commas. By default, only people of "
        "the bot's own workspace may ask, also in shared channels. Slack gives the id of an organization (E…) "
        "with commands only.",
        _ADMISSION,
        default=frozenset(),
    )
    prdigest_allowed_channels: SlackIds = setting(
        "Ids of the only channels (C…, G…, D…) where the bot answers, separated by commas. Empty means all.",
        _ADMISSION,
        default=frozenset(),
    )
    prdigest_allowed_users: SlackIds = setting(
        "Ids of the only people (U…, W…) who may ask, separated by commas. Empty means all.",
        _ADMISSION,
        default=frozenset(),
    )
    prdigest_previews_in_shared_channels: bool = setting(
        "Show previews of links also in channels that are shared with other workspaces. Their people then see "
        "titles and risks of pull requests, private ones too.",
        _WORKER,
        default=False,
    )
    prdigest_user_limit: int = setting(
        "Maximum requests of one person in a minute, 1 to 1000.", _ADMISSION, default=20, ge=1, le=1_000
    )
    prdigest_user_calls: int = setting(
        "Maximum model calls of one person in a minute, 1 to 1000. Above that, the bot waits if there is time, "
        "and otherwise answers with facts only.",
        _WORKER,
        default=100,
        ge=1,
        le=1_000,
    )
    prdigest_daily_budget: Dollars = setting(
        "Maximum US dollars for all model calls of a day in PRDIGEST_TIMEZONE. A quarter is reserved for "
        "scheduled digests. When the budget runs low, the bot first leaves out the AI bug review, then "
        "overviews. Then it summarizes small pull requests from facts only, then all; posts say so. Commands in a "
        "terminal don't count.",
        default=10.0,
    )
    prdigest_monthly_budget: Dollars | None = setting(
        "Maximum US dollars for all model calls of a calendar month in PRDIGEST_TIMEZONE. Empty means that only "
        "the days are limited. A month that runs low leaves out the same things as a day, in the same order.",
        _WORK,
    )
    prdigest_review_budget: Dollars = setting(
        "Maximum US dollars a day for the AI bug review: PRDIGEST_ANSWER_MODEL reviews the pull requests that "
        "change product code for bugs, the riskiest first. 0 turns it off. A review costs about 5 cents. It also "
        "counts toward PRDIGEST_DAILY_BUDGET, where it is left out first.",
        _WORK,
        default=1.4,
    )
    prdigest_user_budget: Dollars = setting(
        "Maximum US dollars for one person's model calls of a day.", _WORKER, default=2.0
    )


class AgentSettings(SettingsGroup):
    heading: ClassVar = "Agents (MCP)"

    prdigest_mcp_profiles: ProfileNames = setting(
        "The profiles that agents may see over MCP, separated by commas. Empty means none: the tools about "
        "profiles are then left out. One whose team says `explain: off` stays hidden all the same.",
        _COMMANDS,
        default=frozenset(),
        examples=["plugin"],
    )
    prdigest_mcp_clones: CloneFolders = setting(
        "Folders of local git clones that agents may compare over MCP, separated by commas, upstream's first. "
        "They have the names of their folders, and agents see paths and lines of them. Empty means none: the "
        "tools over clones are then left out.",
        _COMMANDS,
        default=(),
        examples=["/src/engine,/src/plugin"],
    )
    prdigest_mcp_calls: int = setting(
        "Maximum tool calls over MCP in a minute, 1 to 10000, of each way to connect.",
        _COMMANDS,
        default=60,
        ge=1,
        le=10_000,
    )
    prdigest_mcp_token: LongToken = setting(
        f"The bearer token that clients of `prdigest mcp --http` send, {MIN_TOKEN_LENGTH} characters or more. "
        "Anybody who has it reads what the tools read. Not needed over standard input and output.",
        _COMMANDS,
        is_token=True,
    )
    prdigest_mcp_slackbot: bool = setting(
        "Let Slackbot use the tools of `prdigest mcp --http` for those who may ask the bot. Slack signs its "
        "requests with SLACK_SIGNING_SECRET, and SLACK_BOT_TOKEN is needed to look people up.",
        _COMMANDS,
        default=False,
    )
    prdigest_mcp_address: RequiredAddress = setting(
        "Where `prdigest mcp --http` listens: a port on this machine alone, or HOST:PORT. Tokens and texts cross "
        "it unencrypted, so put a proxy with TLS in front before others reach it.",
        _COMMANDS,
        default=ListenAddress(LOOPBACK, 3010),
        examples=["3010", "10.0.0.5:3010"],
    )
    prdigest_mcp_hosts: HostNames = setting(
        "Names under which clients reach `prdigest mcp --http`, separated by commas, besides those of this "
        "machine. Requests for another host, and from the page of another one, are refused.",
        _COMMANDS,
        default=frozenset(),
        examples=["mcp.example.com"],
    )


class RuntimeSettings(SettingsGroup):
    heading: ClassVar = "Running"

    redis_url: str | None = setting(
        "The Redis or Valkey server for the bot's data. If empty, the bot starts its own Valkey with the data in "
        "PRDIGEST_STATE_DIR. The server must not evict keys by itself: set its maxmemory-policy to `noeviction` "
        "or `volatile-*`. The address may contain a password.",
        examples=["redis://host:6379/0"],
        may_be_secret=True,
    )
    prdigest_store_prefix: StorePrefix = setting(
        "A prefix for every key, so that several bots can share a server: letters, digits, `.`, `-` and `_`. "
        "After a change, the bot doesn't find its old data.",
        default="",
        examples=["team-a"],
    )
    prdigest_state_dir: Path = setting(
        "The folder of the embedded store, readable by you only. If empty, it is the usual folder for this user's "
        "state.",
        default_factory=lambda: user_state_path("prdigest"),
    )
    prdigest_mirror: Path | None = setting(
        "A folder for a bare git mirror of each repository, updated before a digest; `off` for none. The bot "
        "reads whole files from it instead of from GitHub, and can search all files. It needs git 2.33 or later "
        "and a token that may read contents. If empty, it is `mirror` in PRDIGEST_STATE_DIR.",
        _WORK,
        examples=["off"],
    )
    prdigest_mirror_days: int = setting(
        "How many days of history a mirror has at least, 0 to 3650. It then takes 300 MB at most, and the first "
        "digest waits two minutes at most for it. Where it needs more, it is tried once more with 14 days. 0 is "
        "the whole history: up to 10 GB and ten minutes.",
        _WORK,
        default=180,
        ge=0,
        le=3_650,
    )
    prdigest_package_index: PackageIndexSetting = setting(
        "The address of a package index (PEP 503 or 691), then other hosts where its files may lie, separated by "
        "commas. The model may then read the source of packages that the repository pins to a version, in bug "
        "reviews and answers. The bot sends the index their names, keeps up to 600 MB of wheels in "
        "PRDIGEST_STATE_DIR, and runs nothing of them. It needs a mirror. Empty means that no package is read.",
        _WORK,
        examples=["https://packages.example.com/simple,files.example.com"],
    )
    prdigest_downstreams: DownstreamSetting = setting(
        "Other public repositories that build on a watched one, such as plugins. The bot fetches the last months "
        "of each, every six hours and without a token. It says what they did about a merge: who runs past it, "
        "and who needed a change. It needs a mirror. Write `owner/upstream=owner/name,owner/name`, with "
        "semicolons between upstreams, or `off`.",
        _WORK,
        default=_DOWNSTREAMS,
    )
    prdigest_type_checker: Literal["auto", "off"] = setting(
        "With `auto`, a type checker judges beside the rules what touches a team's code, where PRDIGEST_MIRROR "
        "has both repositories. It is a process of a worker: one at a time, with some 250 MB of memory, for two "
        "minutes at most. With `off`, the rules judge alone.",
        _WORK,
        default="auto",
    )
    port: int = setting(
        "Port of `prdigest web` and `run`, for /healthz, /readyz and, without SLACK_APP_TOKEN, /slack/events.",
        _WEB,
        default=3000,
        ge=0,
        le=65_535,
    )
    prdigest_listen_host: ListenHost = setting(
        "The IP address on which PORT is open. If empty, that is this machine alone in Socket Mode, where only "
        "health checks come, and else every address of it.",
        _WEB,
        examples=["127.0.0.1"],
    )
    prdigest_concurrency: int = setting(
        "How many pull requests are read and summarized at the same time, 1 to 32. In a digest, the bot also "
        "loads the files of up to 8 more in advance.",
        _WORK,
        default=8,
        ge=1,
        le=32,
    )
    prdigest_worker_threads: int = setting(
        "How many jobs a worker runs at the same time, 1 to 64. Two long jobs (digests, overviews) run in "
        "addition.",
        _WORKER,
        default=8,
        ge=1,
        le=64,
    )
    prdigest_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None = setting(
        "DEBUG, INFO, WARNING or ERROR. The log goes to stderr. If empty, processes log from INFO on, single "
        "commands from WARNING on."
    )
    prdigest_log_format: LogFormat = setting(
        "text or json: lines for people, or one JSON object a line for a program that collects them. "
        "docs/monitoring.md names the fields.",
        default="text",
    )
    prdigest_metrics_address: MetricsAddress = setting(
        "Where Prometheus reads /metrics: a port on this machine alone, or HOST:PORT. `run` and `web` use that "
        "port, `worker` the next one and `clock` the one after it. If empty, there are no metrics. Anybody who "
        "reaches the port reads them, so never make it public.",
        _LONG_PROCESSES,
        examples=["9464", "10.0.0.5:9464"],
    )
    otel_exporter_otlp_endpoint: Address | None = setting(
        "The address of an OpenTelemetry collector (OTLP over HTTP). The bot then sends it traces of requests, "
        "jobs and calls. It needs the extra `otel`: `uv sync --no-dev --extra otel`. The other OTEL_ variables "
        "count too, but only those of the environment.",
        _LONG_PROCESSES,
        examples=["http://127.0.0.1:4318"],
    )


# in the order of the documents
GROUPS: tuple[type[SettingsGroup], ...] = (
    GitHubSettings,
    ClaudeSettings,
    ModelServerSettings,
    SlackSettings,
    DigestSettings,
    AccessSettings,
    AgentSettings,
    RuntimeSettings,
)


# pydantic collects fields from the last base to the first; repositories are parsed once GitHub's address is known
class Settings(
    RuntimeSettings,
    AgentSettings,
    AccessSettings,
    DigestSettings,
    SlackSettings,
    ModelServerSettings,
    ClaudeSettings,
    GitHubSettings,
):
    """The environment and ``.env``; an empty value counts as unset. ``docs/settings.md`` explains each."""

    @property
    def mirror_folder(self) -> Path | None:
        """The folder of the mirrors; None if there are none."""
        if self.prdigest_mirror == Path("off"):
            return None
        return self.prdigest_mirror or self.prdigest_state_dir / "mirror"

    @property
    def web_address(self) -> ListenAddress:
        # Slack's requests over HTTP come from anywhere, and its signature guards them
        usual = LOOPBACK if self.slack_app_token else "0.0.0.0"  # noqa: S104
        return ListenAddress(self.prdigest_listen_host or usual, self.port)
