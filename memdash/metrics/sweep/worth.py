"""What forgetting is worth: what a lost fact may cost before a cheaper setting no longer pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdash import numbers
from memdash.metrics.sweep.intervals import Estimate
from memdash.metrics.sweep.losses import Basis
from memdash.metrics.sweep.sentences import interval
from memdash.metrics.sweep.settings import Setting
from memdash.metrics.sweep.wording import amount


@dataclass(frozen=True, slots=True)
class Worth:
    """A setting that loses facts which full history keeps.

    ``facts_lost`` is how many a conversation (right answers, where losses are counted in them). ``break_even_usd`` is the price
    of a lost fact at which it costs as much as full history; None where it does not cost less to begin with, or not for sure.
    """

    series: str
    saving_usd: Estimate
    facts_lost: float
    break_even_usd: float | None
    sentence: str


def worth_of(settings: Sequence[Setting], basis: Basis) -> tuple[Worth, ...]:
    """Return what forgetting is worth in each ranked setting that forgets, in the order given."""
    return tuple(
        _worth(one, one.saving_usd, one.loss.facts, basis)
        for one in settings
        if one.ranked and one.saving_usd is not None and one.loss is not None and one.loss.facts > 0
    )


def _worth(setting: Setting, saving: Estimate, lost: float, basis: Basis) -> Worth:
    more = f"{amount(lost)} more {basis.noun if amount(lost) == '1' else basis.noun + 's'}"
    size = numbers.usd(abs(saving.mean))
    low = saving.mean if saving.low is None else saving.low
    high = saving.mean if saving.high is None else saving.high
    if low > 0:
        price = saving.mean / lost
        sentence = (
            f"{setting.series} saves {size} a conversation and loses {more}: "
            f"it pays only if a lost {basis.noun} costs you less than {numbers.usd(price)}."
        )
        return Worth(setting.series, saving, lost, price, sentence)
    if high < 0:
        sentence = (
            f"{setting.series} costs {size} more a conversation and loses {more}: it costs more and forgets."
        )
    else:
        sentence = (
            f"{setting.series} loses {more} and may not be cheaper: what it saves a conversation is {interval(saving)}"
            f"{'' if saving.low is None else ' with 95 % confidence'}."
        )
    return Worth(setting.series, saving, lost, None, sentence)
