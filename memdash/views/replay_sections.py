"""What can be looked at of a replay: one section each, of which the chosen one alone is read and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from memdash.views import replay_address
from memdash.views.components import empty
from memdash.views.losses_list import losses_list
from memdash.views.replay_against import choose_against
from memdash.views.replay_data import losses_of_replay
from memdash.views.replay_panels import Opened
from memdash.views.replay_panels.differences import differences_panel
from memdash.views.replay_panels.events import events_panel
from memdash.views.replay_panels.facts import facts_panel
from memdash.views.replay_panels.raw import raw_panel
from memdash.views.replay_panels.request import request_panel


class Section(NamedTuple):
    """A section's title, and what draws it for a replay at a turn."""

    title: str
    draw: Callable[[Opened, int], None]


def _differences(opened: Opened, turn: int) -> None:
    differences_panel(opened, turn, choose_against(opened))


def _facts(opened: Opened, turn: int) -> None:
    facts_panel(opened, turn, replay_address.open_turn)


def _events(opened: Opened, turn: int) -> None:
    events_panel(opened, turn, replay_address.open_turn)


def _broke(opened: Opened, turn: int) -> None:
    found = losses_of_replay(opened)
    if found:
        losses_list(found, f"broke.{opened.result.id}", simulated=opened.result.recall_simulated)
        return
    empty(
        "Nothing is broken here",
        "No question was answered wrong, and no fact's text has gone. Facts that are looked at only in the end count once the "
        "replay is over.",
        ":material/verified:",
    )


SECTIONS: Final[Mapping[str, Section]] = {
    "request": Section("Request and answer", request_panel),
    "differences": Section("Differences", _differences),
    "facts": Section("Facts", _facts),
    "broke": Section("What it broke", _broke),
    "events": Section("Events", _events),
    "raw": Section("As JSON", raw_panel),
}
"""By the name they have in a link, in the order they are offered; the first is what is shown where nothing is chosen."""
