"""The simulator's error, number by number: simulated replays against the live ones that were started to check them.

A live replay is held against the simulated one of the same script, strategy with its parameters, model, cache, marks and repeat.
Only pairs that both finished count; the others are named with the reason. Money is computed at one price table for both sides, so
that its error is the tokens' alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memdash import numbers
from memdash.answerer import Answerer
from memdash.metrics.measure import measure_all
from memdash.metrics.number_errors import Errors, Measured, Number, NumberError, Side, errors_of
from memdash.metrics.pricing import Prices
from memdash.records import RequestRecord, Status
from memdash.replay_log import ReplayLog
from memdash.spec import ReplaySpec


@dataclass(frozen=True, slots=True)
class Pair:
    """One live replay that finished and the simulated one it checks; ``series`` is the live one's."""

    spec: ReplaySpec
    simulated_id: str
    requests: int
    errors: Errors

    @property
    def series(self) -> str:
        """The strategy with the settings that tell it apart."""
        return self.spec.series


@dataclass(frozen=True, slots=True)
class SettingErrors:
    """The errors over all finished pairs of a setting."""

    series: str
    pairs: int
    errors: Errors


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A live replay without a finished pair; a status is None where there is no such simulated replay."""

    label: str
    simulated: Status | None
    live: Status
    message: str | None

    @property
    def words(self) -> str:
        """Why it does not count."""
        simulated = "is not there" if self.simulated is None else _spelled(self.simulated)
        reason = f": {self.message}" if self.message else ""
        return f"simulated {simulated}, live {_spelled(self.live)}{reason}"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What came of playing settings of a simulated comparison live.

    ``at`` is when the live comparison was launched, ``requests`` what was answered in the finished pairs, probes included.
    ``notes`` say what the two sides did not have in common.
    """

    simulated: str
    live: str
    at: datetime
    answered_by: Answerer
    planned: int
    pairs: tuple[Pair, ...]
    settings: tuple[SettingErrors, ...]
    total: Errors
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    @property
    def requests(self) -> int:
        """How many live requests the errors rest on."""
        return sum(pair.requests for pair in self.pairs)

    @property
    def finished(self) -> bool:
        """Whether every replay that was planned has its pair."""
        return bool(self.pairs) and len(self.pairs) == self.planned

    def worst(self, number: Number) -> tuple[str, NumberError] | None:
        """The setting with the largest error of a number, and that error; None where it is known of no setting."""
        known = [
            (setting.series, error)
            for setting in self.settings
            for error in setting.errors
            if error.number is number and error.difference is not None
        ]
        return min(known, key=lambda one: one[1].rank) if known else None

    def told(self, of: str = "") -> str:
        """Say with what result, when and on how many requests (``of`` what, where that has to be said).

        The errors are those of the setting where they are largest: none is averaged away.
        """
        scope = [numbers.count(self.requests, "request") + (f" {of}" if of else "")]
        if not self.finished:
            scope.append(f"{len(self.pairs)} of {numbers.count(self.planned, 'replay')}")
        results = ", ".join(f"{one.words} {self._within(one)}" for one in (Number.COST, Number.PROMPT))
        day = self.at.astimezone(UTC).date().isoformat()
        return f"compared with {self.answered_by} on {day} ({', '.join(scope)}): {results}"

    def _within(self, number: Number) -> str:
        worst = self.worst(number)
        relative = None if worst is None else worst[1].relative
        return numbers.NOT_AVAILABLE if relative is None else f"within {numbers.change(relative)}"


def confirm(
    simulated: Sequence[ReplayLog],
    live: Sequence[ReplayLog],
    prices: Prices,
    *,
    at: datetime,
    answered_by: Answerer,
) -> Confirmation:
    """Hold the replays of a live comparison against the simulated ones they check.

    ``simulated`` may hold more replays than were confirmed. Raises :class:`ValueError` without live replays.
    """
    if not live:
        raise ValueError("a confirmation needs the replays of a live comparison")
    partners = {_identity(side.log.spec): side for side in _sides(simulated, prices)}
    pairs: list[Measured] = []
    left_out: list[LeftOut] = []
    for side in _sides(live, prices):
        partner = partners.get(_identity(side.log.spec))
        if partner is not None and partner.result.done and side.result.done:
            pairs.append((partner, side))
        else:
            left_out.append(_left_out(partner, side))
    groups: dict[str, list[Measured]] = {}
    for pair in pairs:
        groups.setdefault(pair[1].result.series, []).append(pair)
    settings = [SettingErrors(series, len(group), errors_of(group)) for series, group in groups.items()]
    return Confirmation(
        simulated=simulated[0].spec.comparison_id if simulated else "",
        live=live[0].spec.comparison_id,
        at=at,
        answered_by=answered_by,
        planned=len(live),
        pairs=tuple(_pair(*pair) for pair in pairs),
        settings=tuple(sorted(settings, key=lambda one: one.errors[0].rank)),
        total=errors_of(pairs) if pairs else (),
        left_out=tuple(left_out),
        notes=_notes([pair[0].log.spec for pair in pairs], [pair[1].log.spec for pair in pairs]),
    )


def wanted(simulated: Iterable[ReplaySpec], live: Iterable[ReplaySpec]) -> frozenset[str]:
    """Return the ids of the simulated replays that :func:`confirm` needs, so that no others have to be read.

    Those that ask the controls of the probes belong to them: without them nobody knows which probes are tests.
    """
    checked = {_identity(spec) for spec in live}
    return frozenset(spec.id for spec in simulated if spec.controls or _identity(spec) in checked)


def confirmation_json(confirmation: Confirmation) -> dict[str, Any]:
    """Return a confirmation as the member ``confirmation`` of the JSON contract."""
    return {
        "simulated": confirmation.simulated,
        "live": confirmation.live,
        "at": confirmation.at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "answered_by": confirmation.answered_by.value,
        "requests": confirmation.requests,
        "replays": len(confirmation.pairs),
        "replays_planned": confirmation.planned,
        "sentence": confirmation.told() if confirmation.pairs else None,
        "numbers": [_error_json(error) for error in confirmation.total],
        "settings": [
            {
                "label": setting.series,
                "replays": setting.pairs,
                "numbers": [_error_json(error) for error in setting.errors],
            }
            for setting in confirmation.settings
        ],
        "pairs": [
            {
                "simulated": pair.simulated_id,
                "live": pair.spec.id,
                "script": pair.spec.script.id,
                "label": pair.spec.label,
                "repeat": pair.spec.repeat,
                "numbers": [_error_json(error) for error in pair.errors],
            }
            for pair in confirmation.pairs
        ],
        "left_out": [
            {
                "label": one.label,
                "simulated": None if one.simulated is None else one.simulated.value,
                "live": one.live.value,
                "message": one.message,
            }
            for one in confirmation.left_out
        ],
        "notes": list(confirmation.notes),
    }


def _error_json(error: NumberError) -> dict[str, Any]:
    return {
        "name": error.number.value,
        "simulated": _rounded(error.simulated),
        "live": _rounded(error.live),
        "difference": _rounded(error.difference),
        "relative": _rounded(error.relative),
    }


def _rounded(value: float | None) -> float | None:
    """To twelve digits behind the point: those beyond are noise of the addition."""
    return None if value is None else round(value, 12)


# -- pairing -------------------------------------------------------------------------------------------------------------


def _sides(logs: Sequence[ReplayLog], prices: Prices) -> list[Side]:
    return [Side(result, log) for result, log in zip(measure_all(logs, prices), logs, strict=True)]


def _identity(spec: ReplaySpec) -> tuple[Any, ...]:
    """What a replay is of, whatever its comparison calls it: a label names only what differs within one comparison."""
    params = json.dumps(dict(spec.params), sort_keys=True, default=str)
    return spec.script.id, spec.strategy, params, spec.model, spec.cache, spec.cache_marks, spec.repeat


def _pair(simulated: Side, live: Side) -> Pair:
    return Pair(
        spec=live.log.spec,
        simulated_id=simulated.log.spec.id,
        requests=sum(_answered(request) for request in live.log.requests),
        errors=errors_of([(simulated, live)]),
    )


def _left_out(simulated: Side | None, live: Side) -> LeftOut:
    errors = [*live.result.errors, *(simulated.result.errors if simulated else ())]
    return LeftOut(
        label=live.result.label,
        simulated=simulated.result.status if simulated else None,
        live=live.result.status,
        message=errors[0] if errors else None,
    )


def _answered(request: RequestRecord) -> bool:
    """Whether a server answered: neither the simulator in its place, nor nobody."""
    return not request.modelled and request.error_status is None and request.error_type is None


def _notes(simulated: Sequence[ReplaySpec], live: Sequence[ReplaySpec]) -> tuple[str, ...]:
    """What the sides did not have in common, as far as settings tell."""
    if not live:
        return ()
    notes = []
    paces = (simulated[0].pace, live[0].pace)
    if paces[0] != paces[1]:
        notes.append(f"think time between turns: {_pace(paces[0])} simulated, {_pace(paces[1])} live")
    if any(spec.warm for spec in simulated):
        notes.append("first use of the fixed part: warm in the simulator, cold live")
    if any(turn.reply is not None for spec in live for turn in spec.script.turns[: spec.turns]):
        notes.append(
            "replies: the simulator gave those that the script recorded, live the model wrote its own"
        )
    if any(spec.salt for spec in live):
        notes.append(
            "every live request begins with a short text of its own, so that replays do not share a cache: "
            "some ten prompt tokens more in each"
        )
    return tuple(notes)


def _pace(seconds: float) -> str:
    return f"{seconds:g} s" if seconds else "none"


def _spelled(status: Status) -> str:
    return status.value.replace("_", " ")
