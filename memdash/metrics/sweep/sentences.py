"""What a recommendation says in words: never more than the numbers do."""

from __future__ import annotations

from collections.abc import Sequence

from memdash import numbers
from memdash.metrics.result import Mark
from memdash.metrics.sweep.candidates import Candidate, Contest, Wanted
from memdash.metrics.sweep.intervals import Estimate
from memdash.metrics.sweep.losses import Basis, Loss
from memdash.metrics.sweep.settings import Setting
from memdash.metrics.sweep.wording import amount, points

_MOST_SCRIPTS = 500
"""More scripts than anybody writes to settle one question: where it takes more, what to do instead is said."""
_ONE_REPLAY = "Not decisive: one replay of one script says nothing of chance; use more repeats and scripts."


def ship(best: Candidate, baseline: Candidate, wanted: Wanted, *, decisive: bool) -> str:
    """Say what a setting saves, and what it costs in wait and in facts."""
    saving = best.saving
    verb = "Ship" if decisive else "Provisionally ship"
    spread = f"; 95 % interval {interval(saving)}" if saving.low is not None else ""
    return (
        f"{verb} {best.setting.series}: "
        f"it saves {numbers.usd(saving.mean)} a conversation against {baseline.setting.series} "
        f"({numbers.percent(saving.mean / baseline.cost)}{spread}), "
        f"{numbers.usd_whole(saving.mean * wanted.conversations_per_month)} a month at "
        f"{wanted.conversations_per_month:,.0f} conversations; "
        f"{_wait(best.setting, baseline.setting)}it {_loses(best.loss, wanted.basis)}."
    )


def ship_caveats(best: Candidate, ties: Sequence[str], wanted: Wanted) -> tuple[str, ...]:
    """Say what limits the recommendation of a setting; ``ties`` qualify too and cost the same."""
    caveats = []
    if best.loss.high > wanted.max_loss:
        caveats.append(_too_few_scripts(best.loss, wanted))
    if best.saving.low is None:
        caveats.append(_ONE_REPLAY)
    elif not best.surely_cheaper:
        loses_nothing = ", and full history loses nothing" if best.loss.facts else ""
        caveats.append(
            f"The saving is a tie: its 95 % interval, {interval(best.saving)}, includes 0{loses_nothing}."
        )
    if ties:
        verb = "costs" if len(ties) == 1 else "cost"
        caveats.append(f"As far as these replays can tell, {numbers.listing(ties)} {verb} the same.")
    if idle := best.setting.marks.get(Mark.NEVER_FIRES):
        caveats.append(f"Its threshold was never reached on {numbers.listing(idle)}.")
    return (*caveats, *_evidence(best.setting, wanted.basis))


def keep(contest: Contest, wanted: Wanted) -> str:
    """Say why full history stays."""
    series = contest.baseline.setting.series
    cost = f"it costs {numbers.usd(contest.baseline.cost)} a conversation"
    if not contest.others:
        return f"Keep {series}: {cost}, and no other setting can be ranked."
    least = contest.runner_up
    if least is None or not least.cheaper:
        return f"Keep {series}: {cost}, and no setting that was played is cheaper."
    return (
        f"Keep {series}: {cost}, and every cheaper setting loses more than {numbers.percent(wanted.max_loss)} of "
        f"the {wanted.basis.noun}s that it has ({least.setting.series} the least, {numbers.percent(least.loss.mean)})."
    )


def keep_caveats(baseline: Candidate, possible: Sequence[Candidate], wanted: Wanted) -> tuple[str, ...]:
    """Say what limits keeping full history; ``possible`` are settings that may be better after all."""
    doubts = []
    if any(one.saving.low is None for one in possible):
        doubts.append(_ONE_REPLAY)
    elif possible:
        names = numbers.listing([one.setting.series for one in possible], limit=3)
        scripts = numbers.count(possible[0].loss.scripts, "script")
        doubts.append(
            f"Not decisive: {scripts} cannot rule out that {names} would cost less within a {points(wanted.max_loss)} loss; "
            "more scripts would show."
        )
    return (*doubts, *_evidence(baseline.setting, wanted.basis))


def interval(estimate: Estimate) -> str:
    """Spell the ends of an interval in dollars, the mean where there is none."""
    low = estimate.mean if estimate.low is None else estimate.low
    high = estimate.mean if estimate.high is None else estimate.high
    return numbers.span(low, high, numbers.usd)


def _wait(setting: Setting, baseline: Setting) -> str:
    if setting.wait_p95_ms is None or baseline.wait_p95_ms is None:
        return ""
    ours, theirs = numbers.seconds(setting.wait_p95_ms.mean), numbers.seconds(baseline.wait_p95_ms.mean)
    return (
        f"its p95 wait stays {ours}; " if ours == theirs else f"its p95 wait is {ours} instead of {theirs}; "
    )


def _loses(loss: Loss, basis: Basis) -> str:
    if not loss.facts:
        return f"lost no {basis.noun} that full history has (at most {numbers.percent(loss.high)} at 95 % confidence)"
    lost = amount(loss.facts)
    noun = basis.noun if lost == "1" else basis.noun + "s"
    return (
        f"loses {lost} {noun} a conversation that full history has "
        f"({numbers.percent(loss.mean)}, at most {numbers.percent(loss.high)} at 95 % confidence)"
    )


def _too_few_scripts(loss: Loss, wanted: Wanted) -> str:
    shown = (
        f"Not decisive: {numbers.count(loss.scripts, 'script')} cannot show a {points(wanted.max_loss)} loss"
    )
    if loss.scripts_needed is None:
        return f"{shown}, and at the loss seen no number of them would."
    if loss.scripts_needed > _MOST_SCRIPTS:
        return (
            f"{shown}, and {_MOST_SCRIPTS} would not either: the loss seen, {_near(loss.mean)}, is too near to it. "
            "Allow a larger loss, or ship a setting that loses less."
        )
    return (
        f"{shown}; {loss.scripts_needed:,} in all would if the loss stayed as it is "
        "(more questions in the same scripts would not)."
    )


def _near(share: float) -> str:
    """Spell a share that is near to another one: as finely as it takes to see that they differ."""
    return f"{100 * share:.2g} %"


def _evidence(setting: Setting, basis: Basis) -> list[str]:
    """What the ranking rests on, where that is not the recall of a live model."""
    if basis is Basis.RECALL:
        return []
    if setting.simulated:
        return ["Ranked on the facts kept in the simulator: confirm recall live."]
    return ["Ranked on the facts kept: the model was asked no question about them."]
