"""Addresses in the place of a ``response_url``. None may be asked where Slack's interface is at slack.com."""

SLACK = "https://slack.com/api/"

OURS = (
    "https://hooks.slack.com/commands/T0TEAM/1/abc",
    "https://hooks.slack.com/actions/T0TEAM/1/abc",
    "https://slack.com/commands/1",
)

FOREIGN = (
    "https://evil.example/commands/T0TEAM/1/abc",
    "http://hooks.slack.com/commands/T0TEAM/1/abc",
    "https://hooks.slack.com.evil.example/commands/1",
    "https://evilslack.com/commands/1",
    "https://hooks.slack.com@evil.example/commands/1",
    "https://user:password@hooks.slack.com/commands/1",
    "https://evil.example\\@hooks.slack.com/commands/1",
    "https://evil.example#.slack.com/commands/1",
    "https://evil.example?.slack.com/commands/1",
    "https://evil.example%2f.slack.com/commands/1",
    "https://hooks.slack.com",
    "https://127.0.0.1/commands/1",
    "https://169.254.169.254/latest/meta-data/.slack.com/",
    "https://[::1]/commands/1",
    "//hooks.slack.com/commands/1",
    "file:///etc/passwd",
    "ftp://hooks.slack.com/commands/1",
    "https:hooks.slack.com/commands/1",
    " https://hooks.slack.com/commands/1",
    "https://hooks.slack.com\n.evil.example/commands/1",
    "https://hooks.slack.com\t/commands/1",
    "https://hooks.sl\u0430ck.com/commands/1",
    "javascript:alert(1)//hooks.slack.com/",
)
