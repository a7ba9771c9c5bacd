"""The pretend model itself: what is due, a tool call, a summary, an answer or a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from memdash.simulator.hint import Hint
from memdash.simulator.pretend import answers, replies
from memdash.simulator.pretend.draft import Draft
from memdash.simulator.pretend.handover import open_message
from memdash.simulator.pretend.limits import named
from memdash.simulator.pretend.orders import summary_order
from memdash.simulator.pretend.questions import asked
from memdash.simulator.pretend.summaries import summarise
from memdash.simulator.pretend.toolsteps import due_step, forced_call, steps_taken
from memdash.simulator.pretend.visible import last_user_text, messages, passages, statements, system_text

_EFFORT: Final = {"low": 0.35, "medium": 0.65, "high": 1.0, "xhigh": 1.6, "max": 2.4}
"""Thinking beside that at the default effort, which is ``high``."""


class HonestModel:
    """A pretend model that knows the request and the hint, and nothing else.

    It takes scripted tool steps, gives the recorded reply, writes the summary that is asked for, answers a question about something said
    from what is visible, and chats otherwise. Chat depends on the seed alone, so that every strategy gets the same reply to the same turn.
    """

    def draft(self, request: Mapping[str, Any], hint: Hint | None, seed: int) -> Draft:
        """Return the reply to ``request``; ``seed`` fixes every random choice."""
        given = messages(request)
        random = Random(f"{seed}/{steps_taken(request.get('messages') or ())}")
        thinking = _thinking_tokens(request, random)
        step = due_step(request, hint)
        if step is not None:
            return Draft(step.text, thinking, step.calls)
        if hint is not None and hint.reply is not None:
            return Draft(hint.reply, thinking)
        call = forced_call(request, random)
        if call is not None:
            return Draft(replies.before_calls(random), thinking, (call,))
        return Draft(self._text(request, given, random), thinking)

    def _text(self, request: Mapping[str, Any], given: Sequence[Mapping[str, Any]], random: Random) -> str:
        order = summary_order(request, given)
        if order is not None:
            max_tokens = request.get("max_tokens")
            return summarise(order, max_tokens if isinstance(max_tokens, int) else None)
        said = last_user_text(given)[1] or open_message(given)
        question = asked(said)
        if question is not None:
            # Every place where the very words of the question stand is the question itself, not something said.
            shown = [one for one in statements(passages(request)) if one.text != question.text]
            return answers.answer(question, shown) or replies.unknown(random)
        limits = [
            limit.words for text in (system_text(request), said[-500:]) if (limit := named(text)) is not None
        ]
        return replies.ordinary(random, min(limits, default=None))


def _thinking_tokens(request: Mapping[str, Any], random: Random) -> int:
    tokens = random.randint(30, 120)
    thinking = request.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, Mapping) else None
    if kind == "disabled" or (kind == "between_tools" and not request.get("tools")):
        return 0
    config = request.get("output_config")
    effort = config.get("effort") if isinstance(config, Mapping) else None
    tokens = max(1, round(tokens * _EFFORT.get(str(effort), 1.0)))
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    return min(tokens, budget) if isinstance(budget, int) and budget > 0 else tokens
