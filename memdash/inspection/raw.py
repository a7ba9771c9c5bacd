"""A request as it can be made once more: body, headers and a line for curl, at ``memdash simulate`` or at the API itself."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from memdash.inspection.blocks import entries_of
from memdash.inspection.counting import API_VERSION
from memdash.inspection.requests import recorded_context, request_before
from memdash.records import RequestRecord
from memdash.replay.hints import hint_of
from memdash.replay_log import ReplayLog
from memdash.simulator.hint import HINT_HEADER, SIMULATED_KEY
from memdash.simulator.rules import CACHE_DIAGNOSTICS
from memdash.spec import Provider, Replies
from memdash.strategies.messages import strip_thinking

SIMULATOR_URL: Final = "http://127.0.0.1:8787"
"""Where ``memdash simulate`` answers unless told otherwise."""
_KEY_VARIABLE: Final = "$ANTHROPIC_API_KEY"
_LONGEST_HINT: Final = 60_000
"""A longer argument is more than a command line of every system takes."""


class Target(StrEnum):
    """Who is to answer; the values are the words for it."""

    SIMULATE = "memdash simulate"
    API = "the API"


@dataclass(frozen=True, slots=True)
class RawRequest:
    """What is sent: ``url``, ``headers`` and ``body``. ``notes`` say in what it differs from the recorded request.

    The key of the API is a shell variable in it, never the key itself.
    """

    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def json(self) -> str:
        """The body as indented JSON.

        Characters that a terminal or an editor acts on instead of showing them are escaped; to a JSON reader it is the same.
        """
        return _UNSEEN.sub(_escaped, json.dumps(self.body, ensure_ascii=False, indent=2))

    def curl(self, body_file: str | None = None) -> str:
        """Return the command that sends it: with the body in it, or in ``body_file`` where that is given."""
        lines = [f'curl -sS "{self.url}/v1/messages"']
        lines += [f"  -H {_quoted(f'{name}: {value}')}" for name, value in self.headers.items()]
        if body_file is not None:
            return " \\\n".join([*lines, f"  --data-binary @{shlex.quote(body_file)}"])
        # No line of indented JSON is the closing word: line ends inside texts are escaped.
        return " \\\n".join([*lines, "  --data-binary @- <<'JSON'"]) + f"\n{self.json}\nJSON"


def raw_request(
    log: ReplayLog, record: RequestRecord, texts: Mapping[str, str], target: Target
) -> RawRequest:
    """Return a recorded request as it can be sent to ``target``; ``texts`` are its recorded texts by id.

    Thinking is left out where the other side signed it: neither the API nor the simulator can verify the other's signatures.
    """
    body = _body(log, record, texts)
    notes = []
    if _signed_by_simulator(log) is not (target is Target.SIMULATE):
        stripped = strip_thinking(body["messages"])
        if stripped.blocks:
            body["messages"] = list(stripped.messages)
            signer = "the API" if target is Target.SIMULATE else "the simulator"
            notes.append(
                f"Its thinking blocks ({stripped.blocks}) are left out: {signer} signed them, and {target} cannot verify that."
            )
        if _has_signed_compaction(body["messages"]):
            notes.append(f"It holds a compaction block that the other side signed; {target} will refuse it.")
    if log.spec.relax_limits:
        notes.append(
            "This replay accepted thresholds below the API's floors; a request with such a threshold is refused."
        )
    headers = {
        "content-type": "application/json",
        "x-api-key": SIMULATED_KEY if target is Target.SIMULATE else _KEY_VARIABLE,
        "anthropic-version": API_VERSION,
    }
    if record.betas:
        headers["anthropic-beta"] = ",".join(record.betas)
    if target is Target.SIMULATE and record.modelled:
        hint = hint_of(log.spec, record, log.probes)
        encoded = "" if hint is None else hint.encode()
        if 0 < len(encoded) <= _LONGEST_HINT:
            headers[HINT_HEADER] = encoded
        else:
            notes.append(
                "Without the replay's hint, which is not known or too long for a command, the reply will be another."
            )
    url = SIMULATOR_URL if target is Target.SIMULATE else "${ANTHROPIC_BASE_URL:-https://api.anthropic.com}"
    return RawRequest(url, headers, body, tuple(notes))


def _body(log: ReplayLog, record: RequestRecord, texts: Mapping[str, str]) -> dict[str, Any]:
    """The body as it was sent."""
    context = recorded_context(log, record)
    body = dict(record.options)
    if (
        CACHE_DIAGNOSTICS in record.betas
    ):  # the question is asked anew of each request and is not among its options
        before = request_before(log, record)
        body["diagnostics"] = {"previous_message_id": None if before is None else before.message_id}
    if context.tools is not None:
        body["tools"] = json.loads(texts[context.tools])
    if context.system is not None:
        body["system"] = json.loads(texts[context.system])
    messages: list[dict[str, Any]] = []
    for entry in entries_of(context):
        if entry.message == len(messages):
            messages.append({"role": entry.role, "content": []})
        messages[-1]["content"].append(json.loads(texts[entry.block]))
    body["messages"] = messages
    return body


def _signed_by_simulator(log: ReplayLog) -> bool:
    """Whether the simulator answered the conversation, so that what it thought carries its signatures."""
    return log.spec.provider is Provider.SIMULATOR or log.spec.replies is Replies.RECORDED


def _has_signed_compaction(messages: list[dict[str, Any]]) -> bool:
    return any(
        block.get("type") == "compaction" and "signature" in block
        for message in messages
        for block in message["content"]
    )


_UNSEEN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


def _quoted(header: str) -> str:
    """Quote a header for a shell; of all that is sent the key alone is a variable, and nothing recorded is ever expanded."""
    return f'"{header}"' if header == f"x-api-key: {_KEY_VARIABLE}" else shlex.quote(header)
