"""The options that say what your conversations are like."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from memdash.cli.values import Finite
from memdash.errors import InputError

if TYPE_CHECKING:
    from memdash.metrics.conversations import Traffic

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--lengths",
        metavar="QUANTILES_OR_CSV",
        help="How long your conversations are: quantiles in turns such as p50=12,p90=40,p100=120, or a CSV file with one length "
        "a line or turns,count columns. Adds what they cost with every setting.",
    ),
    click.option(
        "--conversations-per-day",
        type=Finite(),
        metavar="N",
        help="How many conversations begin in a day, for what a month of 30 days costs.",
    ),
    click.option(
        "--peak-hour-share",
        type=Finite(),
        metavar="SHARE",
        help="The share of a day's conversations that fall into the busiest hour, from 0 to 1, for the input tokens a minute.",
    ),
    click.option(
        "--tokens-per-minute",
        type=Finite(),
        metavar="N",
        help="Your limit on input tokens a minute, to be compared with the peak hour: cache writes count, cache reads do not.",
    ),
)


def conversation_options(command: F) -> F:
    """Add the options to a command, which gets them as ``traffic``: a :class:`Traffic`, or None without ``--lengths``."""

    @functools.wraps(command)
    def with_traffic(
        *args: Any,
        lengths: str | None,
        conversations_per_day: float | None,
        peak_hour_share: float | None,
        tokens_per_minute: float | None,
        **others: Any,
    ) -> Any:
        traffic = _traffic(lengths, conversations_per_day, peak_hour_share, tokens_per_minute)
        return command(*args, traffic=traffic, **others)

    decorated: Any = with_traffic
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return cast(F, decorated)


def _traffic(
    lengths: str | None, per_day: float | None, peak_hour_share: float | None, tokens_per_minute: float | None
) -> Traffic | None:
    """Put what was typed together; raises :class:`InputError` where it makes no sense."""
    if lengths is None:
        for name, value in (
            ("--conversations-per-day", per_day),
            ("--peak-hour-share", peak_hour_share),
            ("--tokens-per-minute", tokens_per_minute),
        ):
            if value is not None:
                raise InputError(f"{name} needs --lengths: say how long your conversations are")
        return None
    from memdash.metrics.conversations import Traffic, read_lengths

    return Traffic(read_lengths(lengths), per_day, peak_hour_share, tokens_per_minute)
