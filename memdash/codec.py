"""Specifications and scripts as JSON: in the database, on their way to a child process and between processes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from memdash.scripts.model import Script
from memdash.spec import ComparisonSpec, ReplaySpec

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from memdash.metrics.sweep.refinement import Proposal


class StoredScript(NamedTuple):
    """A script's JSON and the hash it is known by."""

    hash: str
    body: str


def dump_script(script: Script) -> StoredScript:
    """Return a script as JSON, with the SHA-256 of it."""
    body = _adapter(Script).dump_json(script)
    return StoredScript(hashlib.sha256(body).hexdigest(), body.decode())


def load_script(body: str) -> Script:
    """Read what :func:`dump_script` wrote; raises ``ValueError`` where it is something else."""
    script: Script = _adapter(Script).validate_json(body)
    return script


def dump_settings(spec: ComparisonSpec) -> str:
    """Return a comparison's specification as JSON, without its scripts."""
    return _adapter(ComparisonSpec).dump_json(replace(spec, scripts=())).decode()


def load_settings(settings: str, scripts: Sequence[Script]) -> ComparisonSpec:
    """Read what :func:`dump_settings` wrote and put the scripts back; raises ``ValueError`` where it is something else."""
    spec: ComparisonSpec = _adapter(ComparisonSpec).validate_json(settings)
    return replace(spec, scripts=tuple(scripts))


def dump_proposal(proposal: Proposal) -> str:
    """Return a round of a sweep's refinement as JSON."""
    return _proposals().dump_json(proposal).decode()


def load_proposal(body: str) -> Proposal:
    """Read what :func:`dump_proposal` wrote; raises ``ValueError`` where it is something else."""
    return _proposals().validate_json(body)


def dump_replay(spec: ReplaySpec) -> dict[str, Any]:
    """Return a replay's specification as JSON data, with no turns in its script: the script travels by itself."""
    data: dict[str, Any] = _adapter(ReplaySpec).dump_python(replace(spec, script=_EMPTY), mode="json")
    return data


def load_replay(data: Mapping[str, Any], script: Script) -> ReplaySpec:
    """Read what :func:`dump_replay` wrote and put the script back; raises ``ValueError`` where it is something else."""
    spec: ReplaySpec = _adapter(ReplaySpec).validate_python({**data, "script": _EMPTY})
    return replace(spec, script=script)


_EMPTY = Script(id="", title="", turns=())


def _proposals() -> TypeAdapter[Proposal]:
    from memdash.metrics.sweep.refinement import Proposal  # heavy, and few comparisons have one

    return _adapter(Proposal)


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
