"""Credentials as people commit or write them by mistake; in parts, so that no scanner takes them for real.

What must not happen in any place of one (a title, a description, a diff, the name of a file, a question, a reply,
a model's answer): that it reaches a model, Slack, a report, a terminal or the log. What must not happen to the
texts that look like one: that anything of them is taken out.
"""

_MIXED = "a1B2c3D4e5F6g7H8i9J0kLmN" * 5
_HEX = "0123456789abcdef" * 8
_LETTERS = "qwertyuiopasdfghjklzxcvb"
_SMALL = "q7w2e9r4t6y1u3i8o5p0" * 4
_DASHES = "-" * 5


def _key(kind: str = "", line_end: str = "\n") -> str:
    lines = [
        f"{_DASHES}BEGIN {kind}PRIVATE KEY{_DASHES}",
        _MIXED[:64],
        _MIXED[7:71],
        f"{_DASHES}END {kind}PRIVATE KEY{_DASHES}",
    ]
    return line_end.join(lines)


_SSH2_KEY = (
    f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{_MIXED[:64]}\n{_MIXED[7:71]}\n"
    "---- END SSH2 ENCRYPTED PRIVATE KEY ----"
)
_PUTTY_KEY = (
    "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\n"
    f"{_MIXED[:64]}\nPrivate-Lines: 1\n{_MIXED[7:71]}\nPrivate-MAC: {_HEX[:40]}"
)


def _jwt() -> str:
    return f"ey{'JhbGciOiJIUzI1NiJ9'}.ey{'JzdWIiOiIxMjM0NTY3ODkwIn0'}.{_MIXED[:43]}"


# what stands in a text, and the part of it that nobody may see; an empty one is the whole
_WRITTEN: dict[str, tuple[str, str]] = {
    "GitHub": ("gh" + f"p_{_MIXED[:36]}", ""),
    "GitHub, by an app": ("gh" + f"s_{_MIXED[:36]}", ""),
    "GitHub, of a user by an app": ("gh" + f"u_{_MIXED[:36]}", ""),
    "GitHub, OAuth": ("gh" + f"o_{_MIXED[:36]}", ""),
    "GitHub, refresh": ("gh" + f"r_{_MIXED[:76]}", ""),
    "GitHub, fine-grained": ("github" + f"_pat_{_MIXED[:22]}_{_MIXED[:59]}", ""),
    "GitLab": ("gl" + f"pat-{_MIXED[:20]}", ""),
    "GitLab, runner, older": ("GR13" + f"48941{_MIXED[:20]}", ""),
    "GitLab, job": ("gl" + f"cbt-a1_{_MIXED[:20]}", ""),
    "GitLab, mail": ("gl" + f"imt-{_MIXED[:25]}", ""),
    "GitLab, trigger": ("gl" + f"ptt-{_MIXED[:40]}", ""),
    "GitLab, agent": ("gl" + f"agent-{_MIXED[:50]}", ""),
    "GitLab, application": ("gl" + f"oas-{_MIXED[:64]}", ""),
    "Slack, bot": ("xox" + f"b-123456789012-{_MIXED[:24]}", ""),
    "Slack, user": ("xox" + f"p-123456789012-{_MIXED[:24]}", ""),
    "Slack, refresh": ("xox" + f"e-1-{_MIXED[:40]}", ""),
    "Slack, configuration": ("xox" + "e.xox" + f"p-1-{_MIXED[:40]}", _MIXED[:40]),
    "Slack, app": ("xap" + f"p-1-A012345-{_MIXED[:24]}", ""),
    "Slack, webhook": (
        "https://hooks.slack.com/" + f"services/T0ABCDEFG/B0ABCDEFG/{_MIXED[:24]}",
        f"B0ABCDEFG/{_MIXED[:24]}",
    ),
    "Slack, answer to a command": (
        "https://hooks.slack.com/" + f"commands/T0ABCDEFG/1234567890123/{_MIXED[:24]}",
        _MIXED[:24],
    ),
    "Slack, workflow": (
        "https://hooks.slack.com/" + f"workflows/T0ABCDEFG/A0ABCDEFG/123/{_MIXED[:24]}",
        _MIXED[:24],
    ),
    "AWS": ("AK" + "IAQ3EGUJX7LW2RVBZN", ""),
    "AWS, for a while": ("AS" + "IAQ3EGUJX7LW2RVBZN", ""),
    "AWS, bearer of a service": ("AB" + "IAQ3EGUJX7LW2RVBZN", ""),
    "AWS, context": ("AC" + "CAQ3EGUJX7LW2RVBZN", ""),
    "AWS, older": ("A3" + "TXQ3EGUJX7LW2RVBZN", ""),
    "AWS, by another name": (f"aws_pw = '{_MIXED[:40]}'", _MIXED[:40]),
    "AWS, secret": (f"aws_secret_access_key = {_MIXED[:40]}", _MIXED[:40]),
    "AWS, secret in JSON": (f'"SecretAccessKey": "{_MIXED[:40]}"', _MIXED[:40]),
    "Google": ("AI" + f"za{_MIXED[:35]}", ""),
    "Google, OAuth client": ("GOC" + f"SPX-{_MIXED[:28]}", ""),
    "Google, access": ("ya" + f"29.{_MIXED[:60]}", ""),
    "Google, service account": (f'"private_key": "{_key(line_end=chr(92) + "n")}"', _MIXED[7:71]),
    "Azure, storage": (f"AccountName=a;AccountKey={_MIXED[:86]}==;EndpointSuffix=core.windows.net", _MIXED[:86]),
    "Azure, service bus": (f"SharedAccessKeyName=a;SharedAccessKey={_MIXED[:43]}=", _MIXED[:43]),
    "Azure, shared signature": (
        f"https://a.blob.core.windows.net/b?sv=2024-01-01&sig={_MIXED[:43]}%3D",
        _MIXED[:43],
    ),
    "Azure, client": ("abc8" + f"Q~{_MIXED[:34]}", ""),
    "OpenAI": ("s" + f"k-{_MIXED[:48]}", ""),
    "OpenAI, project": ("s" + f"k-proj-{_MIXED[:60]}", ""),
    "OpenAI, service account": ("s" + f"k-svcacct-{_MIXED[:60]}", ""),
    "OpenRouter": ("s" + f"k-or-v1-{_HEX[:64]}", ""),
    "DeepSeek": ("s" + f"k-{_HEX[:32]}", ""),
    "Anthropic": ("s" + f"k-ant-api03-{_MIXED[:80]}-x_AA", ""),
    "Hugging Face": ("h" + f"f_{_MIXED[:34]}", ""),
    "Hugging Face, organisation": ("api" + f"_org_{_MIXED[:34]}", ""),
    "Replicate": ("r" + f"8_{_MIXED[:37]}", ""),
    "Groq": ("gs" + f"k_{_MIXED[:52]}", ""),
    "NVIDIA": ("nv" + f"api-{_MIXED[:64]}", ""),
    "LangSmith": ("ls" + f"v2_pt_{_HEX[:32]}_{_HEX[:10]}", ""),
    "Weights & Biases": (f"WANDB_API_KEY={_HEX[:40]}", _HEX[:40]),
    "npm": ("np" + f"m_{_MIXED[:36]}", ""),
    "npm, in its file": (f"//registry.npmjs.org/:_authToken={_HEX[:36]}", _HEX[:36]),
    "PyPI, for tries": ("py" + f"pi-AgENdGVzdC5weXBpLm9yZw{_MIXED[:70]}", ""),
    "OpenAI, older": ("s" + f"k-{_MIXED[:20]}T3Blbk" + f"FJ{_MIXED[:20]}", ""),
    "npm, a UUID": (
        f"//registry.npmjs.org/:_authToken={_HEX[:8]}-{_HEX[:4]}-{_HEX[:4]}-{_HEX[:4]}-{_HEX[:12]}",
        _HEX[:12],
    ),
    "PyPI": ("py" + f"pi-AgEIcHlwaS5vcmc{_MIXED[:70]}", ""),
    "RubyGems": ("ruby" + f"gems_{_HEX[:48]}", ""),
    "Docker": ("dc" + f"kr_pat_{_MIXED[:27]}", ""),
    "Docker, in its file": (f'"auth": "{_MIXED[:40]}="', _MIXED[:40]),
    "Stripe": ("sk" + f"_live_{_MIXED[:24]}", ""),
    "Stripe, restricted": ("rk" + f"_live_{_MIXED[:24]}", ""),
    "Stripe, webhook": ("wh" + f"sec_{_MIXED[:32]}", ""),
    "Square": ("sq0" + f"csp-{_MIXED[:43]}", ""),
    "Square, access": ("sq0" + f"atp-{_MIXED[:22]}", ""),
    "Twilio, account": ("A" + f"C{_HEX[:32]}", ""),
    "SendGrid": ("S" + f"G.{_MIXED[:22]}.{_MIXED[:43]}", ""),
    "Twilio": ("S" + f"K{_HEX[:32]}", ""),
    "Mailgun": ("ke" + f"y-{_HEX[:32]}", ""),
    "Mailchimp": (f"{_HEX[:32]}-us" + "12", ""),
    "Telegram": ("123456789" + f":AA{_MIXED[:33]}", ""),
    "Discord, webhook": ("https://discord.com/api/" + f"webhooks/123456789012345678/{_MIXED[:68]}", _MIXED[:68]),
    "Discord, bot": ("MT" + f"{_MIXED[:22]}.{_MIXED[:6]}.{_MIXED[:38]}", ""),
    "Teams, webhook": (
        "https://a.webhook.office.com/" + f"webhookb2/{_MIXED[:36]}@{_HEX[:36]}/IncomingWebhook/b",
        _MIXED[:36],
    ),
    "Artifactory": ('key = "AK' + f'Cp{_MIXED[:69]}"', _MIXED[:69]),
    "Artifactory, password": ('curl -u "ada:AP' + f'B{_MIXED[:30]}"', _MIXED[:30]),
    "Cloudant": (f"cloudant_apikey={_HEX[:64]}", _HEX[:64]),
    "Cloudant, older": (f'cloudant_password: "{_LETTERS}"', _LETTERS),
    "Cloudant, address": (f"https://ada:{_HEX[:64]}@ada.cloudant.com", _HEX[:64]),
    "Cloudant, older address": (f"https://ada:{_LETTERS}@ada.cloudant.com", _LETTERS),
    "IBM": (f"ibm_key={_MIXED[:44]}", _MIXED[:44]),
    "IBM, storage": (f"cos_hmac_secret_access_key={_HEX[:48]}", _HEX[:48]),
    "SoftLayer": (f"softlayer_api_key={_SMALL[:64]}", _SMALL[:64]),
    "SoftLayer, address": (f"https://api.softlayer.com/soap/v3/{_SMALL[:64]}", _SMALL[:64]),
    "Databricks": ("da" + f"pi{_HEX[:32]}", ""),
    "DigitalOcean": ("do" + f"p_v1_{_HEX[:64]}", ""),
    "Vault": ("hv" + f"s.{_MIXED[:24]}", ""),
    "Terraform": (f"{_MIXED[:14]}.atl" + f"asv1.{_MIXED[:67]}", ""),
    "Supabase": ("sb" + f"p_{_HEX[:40]}", ""),
    "PlanetScale": ("psc" + f"ale_tkn_{_MIXED[:43]}", ""),
    "Shopify": ("shp" + f"at_{_HEX[:32]}", ""),
    "Grafana": ("gl" + f"sa_{_MIXED[:32]}_{_HEX[:8]}", ""),
    "Linear": ("lin" + f"_api_{_MIXED[:40]}", ""),
    "Atlassian": ("AT" + f"ATT3{_MIXED[:90]}", ""),
    "Figma": ("fi" + f"gd_{_MIXED[:40]}", ""),
    "Postman": ("PM" + f"AK-{_HEX[:24]}-{_HEX[:34]}", ""),
    "New Relic": ("NR" + "AK-ABCDEFGHIJKLMNOPQRSTUVWXYZ0", ""),
    "Sentry": ("sn" + f"trys_{_MIXED[:64]}", ""),
    "age": ("AGE-SEC" + f"RET-KEY-1{_MIXED[:58].upper()}", ""),
    "JSON web token": (_jwt(), ""),
    "JSON web token, not signed": ("ey" + f"JhbGciOiJub25lIn0.{_MIXED[:40]}", ""),
    "JSON web token, encrypted": (
        "ey" + f"JhbGciOiJSU0EtT0FFUCJ9.{_MIXED[:80]}.{_MIXED[:16]}.{_MIXED[:40]}.{_MIXED[:22]}",
        "",
    ),
    "private key": (_key(), _MIXED[7:71]),
    "private key, RSA": (_key("RSA "), _MIXED[7:71]),
    "private key, SSH": (_key("OPENSSH "), _MIXED[7:71]),
    "private key, EC": (_key("EC "), _MIXED[7:71]),
    "private key, DSA": (_key("DSA "), _MIXED[7:71]),
    "private key, PGP": (_key("PGP ").replace("KEY-", "KEY BLOCK-"), _MIXED[7:71]),
    "private key, SSH2": (_SSH2_KEY, _MIXED[7:71]),
    "private key, PuTTY": (_PUTTY_KEY, _MIXED[7:71]),
    "private key on one line": (f'private_key = "{_MIXED * 14}"', _MIXED[:100]),
    "token of 1,200 characters": (f"access_token={_MIXED * 10}", _MIXED[:100]),
    "header, bearer": (f"Authorization: Bearer {_SMALL[:30]}", _SMALL[:30]),
    "header, basic": (f"Authorization: Basic {_MIXED[:24]}==", _MIXED[:24]),
    "header in code": (f'"Authorization": "token {_SMALL[:30]}"', _SMALL[:30]),
    "header of a key": (f"X-Api-Key: {_SMALL[:30]}", _SMALL[:30]),
    "bearer": (f"curl -H 'bearer {_SMALL[:30]}'", _SMALL[:30]),
    "address with a password": (f"https://ada:{_SMALL[:12]}@git.example/x", _SMALL[:12]),
    "PostgreSQL": (f"postgres://ada:{_SMALL[:12]}@db.example:5432/x", _SMALL[:12]),
    "Redis": (f"redis://:{_SMALL[:12]}@db.example:6379/0", _SMALL[:12]),
    "SQL Server": (f"Server=a;User Id=b;Password={_SMALL[:12]};Encrypt=true", _SMALL[:12]),
    "password": (f"password={_SMALL[:9]}", _SMALL[:9]),
    "password in quotes": ("password: 'correct-horse-staple'", "correct-horse-staple"),
    "password in JSON": (f'{{"db_password": "{_SMALL[:10]}"}}', _SMALL[:10]),
    "password in capitals": (f"export DB_PASSWORD={_SMALL[:10]}", _SMALL[:10]),
    "password of an option": (f"mysql --password {_SMALL[:10]}", _SMALL[:10]),
    "netrc": (f"machine git.example login ada password {_SMALL[:10]}", _SMALL[:10]),
    "API key": (f"api_key: {_SMALL[:24]}", _SMALL[:24]),
    "API key in code": (f'client = Client(api_key="{_SMALL[:24]}")', _SMALL[:24]),
    "API key of an option": (f"serve --api-key {_SMALL[:24]}", _SMALL[:24]),
    "client secret": (f"client_secret = '{_SMALL[:24]}'", _SMALL[:24]),
    "token": (f"token: {_SMALL[:32]}", _SMALL[:32]),
}
# the text in which it stands, and what nobody may see of it
CREDENTIALS: dict[str, tuple[str, str]] = {
    name: (text, hidden or text) for name, (text, hidden) in _WRITTEN.items()
}
PLAUSIBLE: dict[str, str] = {
    "commit": "d670460b4b4aece5915caf5c68d12f560a9fe3e4",
    "short commit": "reverts d670460 and 4b4aece5915c",
    "UUID": "123e4567-e89b-12d3-a456-426614174000",
    "digest": f"docker pull vllm/vllm-openai@sha256:{_HEX[:64]}",
    "image by tag and digest": f"docker://alpine:3.18@sha256:{_HEX[:64]}",
    "lock file": f'{{ url = "https://files.example/a-1.0.whl", hash = "sha256:{_HEX[:64]}", size = 1_024 }}',
    "integrity": f'"integrity": "sha512-{_MIXED[:86]}=="',
    "checksum file": f"h1:{_MIXED[:43]}=",
    "options": (
        "--max-num-batched-tokens 8192 --kv-cache-dtype fp8 --api-key "
        "EMPTY --hf-token $HF_TOKEN --tokenizer-mode auto"
    ),
    "documented key": 'OpenAI(base_url="http://localhost:8000/v1", api_key="token-abc123")',
    "empty key": 'api_key="EMPTY", api_key=None, api_key=""',
    "tokens of a model": (
        "token_ids=[1, 2, 32000], max_tokens=4096, num_tokens: 1048576, "
        "eos_token='<|im_end|>', bos_token_id=151643"
    ),
    "special token": (
        'image_token = "<|image_pad|>", pad_token: "[PAD]", stop_token="</s>", unk_token=self.tokenizer.unk_token2'
    ),
    "keys of a mapping": (
        'key="layers.12.self_attn.q_proj.weight_scale_inv", cache_key = hash_of(block_hash_12345678)'
    ),
    "environment": (
        "os.environ['GITHUB_TOKEN'], ${{ secrets.SLACK_BOT_TOKEN }}, api_key=os.getenv(\"OPENAI_API_KEY2\")"
    ),
    "shell": 'TOKEN="$HF_TOKEN" API_KEY=${API_KEY:-} docker login --password-stdin',
    "code": (
        "password = getpass(), password: str | None = None, secret=config.secret_v2, token = request.headers2[0]"
    ),
    "types": (
        "private_key: Ed25519PrivateKey | Ed448PrivateKey, password: SecretStr, api_key: Optional[str] = None"
    ),
    "placeholders": (
        "postgres://user:password@localhost/db, "
        "redis://[[username]:[password]]@localhost:6379/0, https://<user>:<token>@x"
    ),
    "placeholder in quotes": (
        'password="<your-password>", api_key="YOUR_API_KEY", password: "${DB_PASSWORD}", "password": "********"'
    ),
    "prose": (
        "The basic authentication, a bearer of tokens, the secret: nobody "
        "reads it. password: required, token: see below"
    ),
    "prose of numbers": (
        "Password: 8 to 64 characters. Authorization: see RFC 7235. Basic configuration2 of parallelism"
    ),
    "names of keys": (
        'aws_commit_key = "d670460b4b4aece5915caf5c68d12f560a9fe3e4", iam_policy, ibm_power_key: ppc64le, AKCONFIG'
    ),
    "APFloat": "APFloat::IEEEsingle(), :APIServerDisconnectedByPeerDuringStartup2, =APFixedPointSemantics, AP20",
    "key of PuTTY in prose": "Convert what begins with PuTTY-User-Key-File-2: or BEGIN SSH2 ENCRYPTED PRIVATE KEY",
    "begun token of JSON": "it begins with eyJ, or eyJhbGciOi.. and goes on",
    "scikit-learn": ".sk-toggleable__label-arrow:before sk-estimator-doc-link-of-scikit",
    "identifiers": (
        "hf_hub_download_of_the_whole_repository ghp_short "
        "npm_config_registry glpat-short sk_test_the_scheduler_of_it"
    ),
    "class": "SKETCH SG.Model.forward eyJ AKIAlowercase00000000 MAKIAIOSFODNN7EXAMPLE",
    "module": (
        "Model.layers.attention, NVIDIA_A100-SXM4-80GB, MoEPrepareAndFinalizeNoEP.apply_weights_of_the_whole_layer"
    ),
    "address": "https://github.com/octo/engine/blob/d670460b4b4aece5915caf5c68d12f560a9fe3e4/a.py#L1",
    "address with a port": (
        "http://localhost:8000/v1@main, git+https://github.com/octo/engine.git@v0.17.0, http://10.0.0.1:8080"
    ),
    "mail": "mailto:ada@octo.example, ssh://git@github.com:22/octo/engine",
    "certificate": f"{_DASHES}BEGIN CERTIFICATE{_DASHES}\nMIIE\n{_DASHES}END CERTIFICATE{_DASHES}",
    "public key": (
        f"{_DASHES}BEGIN PUBLIC KEY{_DASHES}\nMIIE\n{_DASHES}END PUBLIC "
        f"KEY{_DASHES} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_MIXED[:43]}"
    ),
    "configuration file": (
        "E=128,N=192,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8,block_shape=[128,128].json"
    ),
}
