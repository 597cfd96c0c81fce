"""The area of a repository that a pull request changes, determined by its paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES, PathClass, PathClasses
from impact.path_globs import PathGlobs

# the first label that matches a product file wins; a path that matches none has the name of its folder
_LABELS: tuple[tuple[str, PathGlobs], ...] = tuple(
    (label, PathGlobs(patterns.split()))
    for label, patterns in (
        ("Models", "models/"),
        ("Speculative decoding", "*spec_decode* *speculat* *eagle*"),
        ("Quantization and MoE", "*quantiz* *moe*"),
        ("Kernels and attention", "csrc/ kernels/ *kernel* *attention* *attn* *triton* *.cu *.cuh ops/"),
        ("API and serving", "entrypoints/ api/ server/ serving/ routes/ handlers/ *openai* grpc/"),
        ("Distributed", "distributed/ *kv_transfer* *parallel*"),
        ("Multimodal", "multimodal/"),
        ("LoRA", "lora/"),
        ("Engine and scheduling", "engine/ core/ worker/ executor/ *schedul*"),
        ("Platforms", "platforms/ *rocm* *xpu* *tpu* *cpu*"),
        ("Configuration", "config/ *config* envs.py settings*"),
        ("Database", "migrations/ db/ *.sql"),
        ("User interface", "ui/ frontend/ web/ components/ *.vue *.svelte *.tsx *.jsx"),
    )
)
_KIND_LABELS = {
    PathClass.BUILD: "Dependencies and build",
    PathClass.LOCK: "Dependencies and build",
    PathClass.SUPPORT: "Tools and benchmarks",
    PathClass.TESTS: "CI and tests",
    PathClass.CI: "CI and tests",
    PathClass.DOCS: "Documentation",
}
OTHER_AREA = "Other"
OTHER_PRODUCT_AREA = "Elsewhere in the product"
# the least important areas of a digest, in their order
_TRAILING_AREAS = (OTHER_PRODUCT_AREA, "Tools and benchmarks", "CI and tests", "Documentation", OTHER_AREA)


def determine_area(pull: PullRequest, classes: PathClasses = DEFAULT_PATH_CLASSES) -> str:
    """Return the label of the area with the most changed lines; product code takes precedence over all else."""
    files = pull.files or ()
    product = [file for file in files if classes.classify_path(file.path) is PathClass.PRODUCT]
    if product:
        return _select_heaviest_label((_label_product_path(file.path), file) for file in product)
    return _select_heaviest_label(
        (_KIND_LABELS.get(classes.classify_path(file.path), OTHER_AREA), file) for file in files
    )


def build_area_sort_key(label: str, size: int) -> tuple[int, int, str]:
    """Return the sort key of an area: product first, larger first, then by name."""
    rank = _TRAILING_AREAS.index(label) + 1 if label in _TRAILING_AREAS else 0
    return (rank, -size, label)


def is_product_area(label: str) -> bool:
    """Return whether an area contains product code."""
    return label not in _TRAILING_AREAS and label not in _KIND_LABELS.values()


def _select_heaviest_label(labelled: Iterable[tuple[str, ChangedFile]]) -> str:
    weights: Counter[str] = Counter()
    for label, file in labelled:
        weights[label] += 1 + file.changed_lines
    return max(weights, key=lambda label: (weights[label], label)) if weights else OTHER_AREA


def _label_product_path(path: str) -> str:
    for label, globs in _LABELS:
        if globs.has_match(path):
            return label
    folders = PurePosixPath(path).parts[:-1][:2]
    name = folders[-1].strip("._- ").replace("_", " ").replace("-", " ") if folders else ""
    return name[:1].upper() + name[1:] or OTHER_AREA
