"""Which setting to ship, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdash.metrics.sweep import sentences
from memdash.metrics.sweep.candidates import Candidate, Contest, Replays, Wanted, contest_of
from memdash.metrics.sweep.differences import SAME
from memdash.metrics.sweep.intervals import Estimate
from memdash.metrics.sweep.losses import Basis
from memdash.metrics.sweep.pairs import Verdict, compare
from memdash.metrics.sweep.settings import Setting


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The setting to ship for one model, in numbers and words.

    ``baseline`` is the full history it is compared with: the cheapest one of the model. ``saving_usd`` is per conversation
    with its paired interval, ``saving`` the same as a share of the baseline's cost, ``saving_per_month_usd`` for the
    conversations a month that were given. Where ``decisive`` is False, ``caveats`` say why; ``ties`` are further settings that
    qualify and that cost the same as far as the replays can tell. ``runner_up`` is what comes nearest to replacing full history
    where that stays, None where a setting is recommended or there is no other. ``headline`` is the answer in one sentence.
    """

    setting: Setting
    baseline: Setting
    saving_usd: Estimate
    saving: float
    saving_per_month_usd: float
    basis: Basis
    decisive: bool
    ties: tuple[str, ...]
    runner_up: Setting | None
    headline: str
    caveats: tuple[str, ...]

    @property
    def to_confirm(self) -> tuple[str, ...]:
        """The settings that a live run should confirm: alone, full history would say nothing of what it was preferred to."""
        settings = [self.setting] if self.runner_up is None else [self.setting, self.runner_up]
        return tuple(one.series for one in settings)

    @property
    def sentence(self) -> str:
        """The answer with everything that limits it."""
        return " ".join((self.headline, *self.caveats))


def recommend(settings: Sequence[Setting], replays: Replays, wanted: Wanted) -> Recommendation | str:
    """Return the setting to ship among those of one model, else why none can be named.

    It is the cheapest one that is cheaper than full history and whose loss stays within the largest allowed: at its upper bound,
    or where no bound can show that, as observed. Where there is none it is full history itself. Only ranked settings that can
    run live are looked at. A saving that may be chance is named a tie, and never decides.
    """
    contest = contest_of(settings, replays, wanted.basis)
    if isinstance(contest, str):
        return contest
    cheaper = [one for one in contest.others if one.cheaper]
    fit = [one for one in cheaper if one.loss.high <= wanted.max_loss] or [
        one for one in cheaper if one.loss.mean <= wanted.max_loss
    ]
    return _ship(fit, contest, replays, wanted) if fit else _keep(contest, wanted)


def _ship(fit: Sequence[Candidate], contest: Contest, replays: Replays, wanted: Wanted) -> Recommendation:
    """Recommend the cheapest of the settings that qualify, of equally cheap ones that which loses least."""
    lowest = min(one.cost for one in fit)
    best = min((one for one in fit if one.cost <= lowest * (1 + SAME)), key=lambda one: one.loss.mean)
    rivals = [(one.setting.series, best.setting.series) for one in fit if one is not best]
    ties = tuple(pair.series for pair in compare(rivals, replays) if pair.verdict is Verdict.TIE)
    decisive = best.loss.high <= wanted.max_loss and best.surely_cheaper
    return _recommendation(
        best, contest, wanted,
        decisive=decisive,
        ties=ties,
        runner_up=None,
        headline=sentences.ship(best, contest.baseline, wanted, decisive=decisive),
        caveats=sentences.ship_caveats(best, ties, wanted),
    )  # fmt: skip


def _keep(contest: Contest, wanted: Wanted) -> Recommendation:
    """Recommend full history; that is decisive where everything else is surely no cheaper or surely loses too much."""
    possible = [
        one for one in contest.others if not one.surely_no_cheaper and one.loss.low <= wanted.max_loss
    ]
    return _recommendation(
        contest.baseline, contest, wanted,
        decisive=bool(contest.others) and not possible,
        ties=(),
        runner_up=contest.runner_up,
        headline=sentences.keep(contest, wanted),
        caveats=sentences.keep_caveats(contest.baseline, possible, wanted),
    )  # fmt: skip


def _recommendation(
    chosen: Candidate,
    contest: Contest,
    wanted: Wanted,
    *,
    decisive: bool,
    ties: tuple[str, ...],
    runner_up: Candidate | None,
    headline: str,
    caveats: tuple[str, ...],
) -> Recommendation:
    whole = contest.baseline.cost
    return Recommendation(
        setting=chosen.setting,
        baseline=contest.baseline.setting,
        saving_usd=chosen.saving,
        saving=chosen.saving.mean / whole if whole else 0.0,
        saving_per_month_usd=chosen.saving.mean * wanted.conversations_per_month,
        basis=wanted.basis,
        decisive=decisive,
        ties=ties,
        runner_up=None if runner_up is None else runner_up.setting,
        headline=headline,
        caveats=caveats,
    )
