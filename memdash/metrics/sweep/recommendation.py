"""Which setting to ship, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memdash import numbers
from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.result import Mark
from memdash.metrics.sweep.differences import SAME, cost_differences
from memdash.metrics.sweep.intervals import Estimate, estimates
from memdash.metrics.sweep.losses import Basis, Loss
from memdash.metrics.sweep.pairs import Verdict, compare
from memdash.metrics.sweep.settings import Setting
from memdash.metrics.sweep.wording import amount, points

Replays = Mapping[str, Sequence[ReplayOutcome]]
"""The replays of each series."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The setting to ship for one model, in numbers and words.

    ``baseline`` is the full history it is compared with: the cheapest one of the model. ``saving_usd`` is per conversation
    with its paired interval, ``saving`` the same as a share of the baseline's cost, ``saving_per_month_usd`` for the
    conversations a month that were given. Where ``decisive`` is False, ``caveats`` say why; ``ties`` are further settings that
    qualify and that cost the same as far as the replays can tell. ``headline`` is the answer in one sentence.
    """

    setting: Setting
    baseline: Setting
    saving_usd: Estimate
    saving: float
    saving_per_month_usd: float
    basis: Basis
    decisive: bool
    ties: tuple[str, ...]
    headline: str
    caveats: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The answer with everything that limits it."""
        return " ".join((self.headline, *self.caveats))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a recommendation is asked for."""

    basis: Basis
    max_loss: float
    conversations_per_month: float


def recommend(settings: Sequence[Setting], replays: Replays, wanted: Wanted) -> Recommendation | str:
    """Return the setting to ship among those of one model, else why none can be named.

    It is the cheapest one that is cheaper than full history and whose loss stays within the largest allowed: at its upper bound,
    or where no bound can show that, as observed. Where there is none it is full history itself. Only ranked settings that can
    run live are looked at.
    """
    able = [one for one in settings if one.ranked and not one.simulator_only]
    if not able:
        return _nothing_to_rank(settings)
    priced = {one.series: one.cost_usd.mean for one in able if one.cost_usd is not None}
    whole = [one for one in able if one.is_full_history]
    if not whole:
        played = any(one.is_full_history for one in settings)
        why = "did not finish everywhere" if played else "was not played"
        return f"No recommendation: full history {why}, and losses are measured against it."
    if not priced.keys() >= {one.series for one in whole}:
        return "No recommendation: what full history costs is not known."
    baseline = min(whole, key=lambda one: priced[one.series])
    if baseline.loss is None:
        return f"No recommendation: there is no {wanted.basis.noun} to lose in these scripts, or it was not looked at."
    others = [
        (one, one.loss)
        for one in able
        if one.loss is not None and not one.is_full_history and one.series in priced
    ]
    cheaper = [
        (one, loss) for one, loss in others if priced[one.series] < priced[baseline.series] * (1 - SAME)
    ]
    fit = [(one, loss) for one, loss in cheaper if loss.high <= wanted.max_loss] or [
        (one, loss) for one, loss in cheaper if loss.mean <= wanted.max_loss
    ]
    if not fit:
        return _keep_full_history(baseline, others, cheaper, replays, wanted)
    lowest = min(priced[one.series] for one, _ in fit)
    best, loss = min(
        ((one, loss) for one, loss in fit if priced[one.series] <= lowest * (1 + SAME)),
        key=lambda pair: pair[1].mean,
    )
    rivals = [(one.series, best.series) for one, _ in fit if one is not best]
    ties = tuple(pair.series for pair in compare(rivals, replays) if pair.verdict is Verdict.TIE)
    return _ship(best, loss, baseline, ties, replays, wanted)


def _nothing_to_rank(settings: Sequence[Setting]) -> str:
    if any(one.ranked for one in settings):
        return "No recommendation: limits of the API were relaxed, so these settings exist in the simulator only."
    return "No recommendation: no setting has finished every script and repeat."


def _saving(setting: Setting, baseline: Setting, replays: Replays) -> Estimate:
    sample = cost_differences(replays[baseline.series], replays[setting.series])
    if sample is None:
        raise ValueError(f"{setting.series} and {baseline.series} are not ranked on the same replays")
    return estimates({None: sample})[None]


def _recommendation(
    setting: Setting,
    baseline: Setting,
    saving: Estimate,
    wanted: Wanted,
    *,
    decisive: bool,
    ties: tuple[str, ...],
    headline: str,
    caveats: Sequence[str],
) -> Recommendation:
    whole = baseline.cost_usd.mean if baseline.cost_usd else 0.0
    return Recommendation(
        setting=setting,
        baseline=baseline,
        saving_usd=saving,
        saving=saving.mean / whole if whole else 0.0,
        saving_per_month_usd=saving.mean * wanted.conversations_per_month,
        basis=wanted.basis,
        decisive=decisive,
        ties=ties,
        headline=headline,
        caveats=tuple(caveats),
    )


def _ship(
    best: Setting, loss: Loss, baseline: Setting, ties: tuple[str, ...], replays: Replays, wanted: Wanted
) -> Recommendation:
    saving = _saving(best, baseline, replays)
    shown = loss.high <= wanted.max_loss
    sure = saving.low is not None and saving.low > 0
    caveats = []
    if not shown:
        caveats.append(_on_too_few_scripts(loss, wanted))
    if saving.low is None:
        caveats.append(
            "Not decisive: one replay of one script says nothing of chance; use more repeats and scripts."
        )
    elif not sure:
        caveats.append(f"The saving is a tie: its 95 % interval, {_interval(saving)}, includes 0.")
    if ties:
        verb = "costs" if len(ties) == 1 else "cost"
        caveats.append(f"As far as these replays can tell, {numbers.listing(ties)} {verb} the same.")
    if idle := best.marks.get(Mark.NEVER_FIRES):
        caveats.append(f"Its threshold was never reached on {numbers.listing(idle)}.")
    caveats += _on_evidence(best, wanted.basis)
    return _recommendation(
        best, baseline, saving, wanted,
        decisive=shown and sure,
        ties=ties,
        headline=f"Ship {best.series}: {_gain(saving, baseline, wanted)}; {_wait(best, baseline)}{_price(loss, wanted.basis)}.",
        caveats=caveats,
    )  # fmt: skip


def _gain(saving: Estimate, baseline: Setting, wanted: Wanted) -> str:
    whole = baseline.cost_usd.mean if baseline.cost_usd else 0.0
    spread = _interval(saving)
    return (
        f"it saves {numbers.usd(saving.mean)} a conversation against {baseline.series} "
        f"({numbers.percent(saving.mean / whole)}{'; 95 % interval ' + spread if spread else ''}), "
        f"{numbers.usd_whole(saving.mean * wanted.conversations_per_month)} a month at "
        f"{wanted.conversations_per_month:,.0f} conversations"
    )


def _interval(estimate: Estimate) -> str:
    """Its ends in dollars; nothing where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    return numbers.span(estimate.low, estimate.high, numbers.usd)


def _wait(setting: Setting, baseline: Setting) -> str:
    if setting.wait_p95_ms is None or baseline.wait_p95_ms is None:
        return ""
    ours, theirs = numbers.seconds(setting.wait_p95_ms.mean), numbers.seconds(baseline.wait_p95_ms.mean)
    return (
        f"its p95 wait stays {ours}; " if ours == theirs else f"its p95 wait is {ours} instead of {theirs}; "
    )


def _price(loss: Loss, basis: Basis) -> str:
    if not loss.facts:
        return f"it lost no {basis.noun} that full history has (at most {numbers.percent(loss.high)} at 95 % confidence)"
    lost = amount(loss.facts)
    noun = basis.noun if lost == "1" else basis.noun + "s"
    return (
        f"it loses {lost} {noun} a conversation that full history has "
        f"({numbers.percent(loss.mean)}, at most {numbers.percent(loss.high)} at 95 % confidence)"
    )


def _on_too_few_scripts(loss: Loss, wanted: Wanted) -> str:
    shown = (
        f"Not decisive: {numbers.count(loss.scripts, 'script')} cannot show a {points(wanted.max_loss)} loss"
    )
    if loss.scripts_needed is None:
        return f"{shown}, and at the loss seen no number of them would."
    return (
        f"{shown}; {loss.scripts_needed:,} in all would if the loss stayed as it is "
        "(more questions in the same scripts would not)."
    )


def _on_evidence(setting: Setting, basis: Basis) -> list[str]:
    """What the ranking rests on, where that is not the recall of a live model."""
    if basis is Basis.RECALL:
        return []
    if setting.simulated:
        return ["Ranked on the facts kept in the simulator: confirm recall live."]
    return ["Ranked on the facts kept: the model was asked no question about them."]


def _keep_full_history(
    baseline: Setting,
    others: Sequence[tuple[Setting, Loss]],
    cheaper: Sequence[tuple[Setting, Loss]],
    replays: Replays,
    wanted: Wanted,
) -> Recommendation:
    losing = {one.series for one, loss in others if loss.low > wanted.max_loss}
    pairs = compare([(one.series, baseline.series) for one, _ in others], replays)
    dearer = {
        one.series for one in pairs if one.difference_usd.low is not None and one.difference_usd.low >= 0
    }
    open_still = [one.series for one, _ in others if one.series not in losing | dearer]
    caveats = []
    if open_still:
        caveats.append(
            f"Not decisive: these replays cannot rule out that {numbers.listing(open_still)} would cost less "
            f"within a {points(wanted.max_loss)} loss."
        )
    caveats += _on_evidence(baseline, wanted.basis)
    return _recommendation(
        baseline, baseline, _saving(baseline, baseline, replays), wanted,
        decisive=bool(others) and not open_still,
        ties=(),
        headline=_why_full_history(baseline, others, cheaper, wanted),
        caveats=caveats,
    )  # fmt: skip


def _why_full_history(
    baseline: Setting,
    others: Sequence[tuple[Setting, Loss]],
    cheaper: Sequence[tuple[Setting, Loss]],
    wanted: Wanted,
) -> str:
    cost = f"it costs {numbers.usd(baseline.cost_usd.mean if baseline.cost_usd else None)} a conversation"
    if not others:
        return f"Keep {baseline.series}: {cost}, and no other setting can be ranked."
    if not cheaper:
        return f"Keep {baseline.series}: {cost}, and no setting that was played is cheaper."
    least, loss = min(cheaper, key=lambda pair: pair[1].mean)
    return (
        f"Keep {baseline.series}: {cost}, and every cheaper setting loses more than {numbers.percent(wanted.max_loss)} of "
        f"the {wanted.basis.noun}s that it has ({least.series} the least, {numbers.percent(loss.mean)})."
    )
