from __future__ import annotations

import sys

from impact.profile.models import MAX_LINE_LENGTH, Use, UseKind
from impact.profile.scanned import FileText
from impact.python.models import CallShape, Signature

# uses of a file that are kept: the largest files of a plugin have 2,000
MAX_USES = 20_000
# what is imported everywhere and is no part of the team's own tree
_FOREIGN = sys.stdlib_module_names | frozenset(
    "torch torch_npu numpy np triton transformers pytest pydantic msgspec regex zmq tqdm PIL yaml requests aiohttp"
    " ray psutil cloudpickle packaging huggingface_hub safetensors setuptools pandas modelscope httpx openai"
    " fastapi jax jaxlib flax scipy datasets matplotlib einops xgrammar builtins".split()
)


class UseCollector:
    """Collects the uses of a file that may concern the upstream packages."""

    def __init__(self, file: FileText) -> None:
        self.file = file
        self._lines = file.lines
        self._uses: dict[Use, None] = {}

    def is_upstream(self, symbol: str) -> bool:
        return symbol.partition(".")[0] in self.file.packages

    def is_relevant(self, symbol: str) -> bool:
        """Return whether a symbol may lead to upstream: by its own name, or through the team's own tree."""
        return symbol.partition(".")[0] not in _FOREIGN

    def add(
        self,
        kind: UseKind,
        name: str,
        line: int,
        *,
        definitions: tuple[str, ...] = (),
        owner: str = "",
        call: CallShape | None = None,
        signature: Signature | None = None,
        body: str = "",
        lines: tuple[str, ...] = (),
        is_guarded: bool = False,
        is_guess: bool = False,
    ) -> None:
        """Add a use at a line, which counts from 1."""
        if len(self._uses) >= MAX_USES:
            return
        text = self._lines[line - 1].strip()[:MAX_LINE_LENGTH] if 0 < line <= len(self._lines) else ""
        use = Use(
            kind,
            name,
            self.file.path,
            line,
            text,
            definitions,
            owner=owner,
            call=call,
            signature=signature,
            body=body,
            lines=lines,
            is_guarded=is_guarded,
            is_guess=is_guess,
            is_test=self.file.is_test,
        )
        self._uses.setdefault(use)

    def list_uses(self) -> tuple[Use, ...]:
        """Return the uses as they were met. A string that says what to replace is no other use."""
        replaced = {(use.name, use.line) for use in self._uses if use.kind is UseKind.PATCH}
        return tuple(
            use for use in self._uses if use.kind is not UseKind.NAMED or (use.name, use.line) not in replaced
        )
