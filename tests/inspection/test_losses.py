"""What a strategy broke: the losses of many replays, the worst first."""

from __future__ import annotations

import dataclasses

from memdash.inspection.losses import LossKind, losses, lost_facts, texts_of_losses
from memdash.inspection.survival import Blocks, Whereabouts
from memdash.records import EventKind, Survival
from tests.inspection.plays import play, saying
from tests.replay.scripts import budget, chat


def losses_of(*played):
    pairs = [(one.log, one.result) for one in played]
    texts = {block: text for one in played for block, text in one.texts.items()}
    return losses(pairs, Blocks({block: texts[block] for block in texts_of_losses(pairs)}))


def answering(played, **changes):
    """The replay with other answers to its questions."""
    probes = tuple(dataclasses.replace(one, **changes) for one in played.result.probes)
    return played._replace(result=dataclasses.replace(played.result, probes=probes))


def test_what_was_kept_and_answered_is_no_loss():
    assert losses_of(play(chat(6, budget()), "full_history")) == ()


def test_a_loss_names_the_question_the_answer_and_the_event_that_removed_the_fact():
    played = play(chat(6, budget()), "window:2")
    (loss,) = losses_of(played)
    assert (loss.fact, loss.question, loss.asked_after) == ("budget", "What is our budget?", 6)
    assert loss.answer == played.result.probes[0].answer
    assert (loss.kind, loss.whereabouts) == (LossKind.WRONG, Whereabouts.GONE)
    assert loss.removed is not None
    assert loss.removed.event is not None
    assert (loss.removed.event.event, loss.removed.event.turn) == (EventKind.TRIM, 3)
    assert (loss.turn, loss.missing) == (3, 4)  # the requests of turns 3 to 6 go without it
    assert (loss.series, loss.replay, loss.replays, loss.of) == ("window of 2", played.result.id, 1, 1)


def test_an_outdated_answer_is_worse_than_a_wrong_one_and_that_worse_than_one_with_the_text_in_sight():
    gone = play(chat(6, budget()), "window:2")
    seen = answering(play(chat(6, budget()), "window:9"), passed=False, answer="I don't know.")
    stale = answering(play(chat(6, budget()), "window:3"), passed=False, stale=True)
    found = losses_of(gone, seen, stale)
    assert [loss.kind for loss in found] == [LossKind.OUTDATED, LossKind.WRONG, LossKind.UNUSED]
    assert (found[2].removed, found[2].whereabouts, found[2].missing) == (None, Whereabouts.VERBATIM, 0)


def test_a_fact_that_is_gone_counts_also_where_the_answer_was_right_and_where_nothing_was_asked():
    right = answering(play(chat(6, budget()), "window:2"), passed=True, answer="2,400")
    (loss,) = losses_of(right)
    assert (loss.kind, loss.answer, loss.missing) == (LossKind.GONE, "2,400", 4)
    silent = right._replace(result=dataclasses.replace(right.result, probes=()))
    (loss,) = losses_of(silent)
    assert (loss.kind, loss.answer, loss.asked_after) == (LossKind.GONE, None, None)


def test_a_probe_that_is_no_test_counts_for_nothing():
    played = answering(play(chat(6, budget()), "full_history"), passed=False, is_test=False)
    assert lost_facts(played.result) == frozenset()
    assert losses_of(played) == ()


def test_an_early_question_is_judged_by_what_was_there_when_it_was_asked():
    played = play(chat(8, budget(1, probe_after=(2, 8))), "window:3")
    early = answering(played, passed=False)
    first = next(probe for probe in early.result.probes if probe.asked_after == 2)
    only = early._replace(result=dataclasses.replace(early.result, probes=(first,)))
    (loss,) = losses_of(only)
    assert (loss.kind, loss.asked_after, loss.whereabouts) == (LossKind.UNUSED, 2, Whereabouts.VERBATIM)


def test_repeats_are_one_loss_that_says_how_many_lost_it():
    script = chat(6, budget())
    lost = play(script, "window:2")
    kept = play(script, "full_history")
    again = kept._replace(
        log=dataclasses.replace(kept.log, spec=dataclasses.replace(kept.log.spec, repeat=2)),
        result=dataclasses.replace(kept.result, series="window of 2", repeat=2),
    )
    (loss,) = losses_of(lost, again)
    assert (loss.replays, loss.of, loss.replay) == (1, 2, lost.result.id)


def test_only_replays_with_losses_are_read():
    kept, lost = play(chat(6, budget()), "full_history"), play(chat(6, budget()), "window:2")
    assert texts_of_losses([(kept.log, kept.result)]) == []
    assert set(texts_of_losses([(lost.log, lost.result)])) <= set(lost.texts)


def test_a_summary_that_lost_the_fact_is_what_removed_it():
    script = saying(chat(12, budget()), t2="And what about the weather there?")
    played = play(script, "compaction:trigger=500,words=5")
    (loss,) = losses_of(played)
    assert played.result.survival["budget"] is Survival.GONE
    assert loss.removed is not None
    assert loss.removed.event is not None
    assert loss.removed.event.event is EventKind.COMPACTION
    assert loss.removed.event.data["replaced_turns"][0] == 1
