"""What a page does that not everybody may: each act is checked here, where it happens, whatever the page showed or hid.

No view starts a run, lets one go on, deletes or erases in any other way.
"""

from __future__ import annotations

from memdash.access import Act
from memdash.launch import Launch
from memdash.spec import ComparisonSpec, Provider
from memdash.views import people
from memdash.views.state import services


def start(spec: ComparisonSpec) -> str:
    """Start a comparison, and return its id; where just the same one runs already, that one's.

    Raises :class:`memdash.errors.NotAllowed` for a live one that this person may not start, and what the worker raises.
    """
    launch = _allowed(spec)
    worker = services().worker
    return worker.running_alike(spec) or worker.submit(spec, launch)


def go_on(comparison_id: str) -> int:
    """Let the replays of a comparison that stopped early go on; returns how many. Raises as :func:`start` does."""
    held = services()
    launch = _allowed(held.store.comparison(comparison_id).spec)
    return held.worker.resume(comparison_id, launch)


def delete(comparison_id: str) -> None:
    """Stop a comparison and delete it. Raises :class:`memdash.errors.NotAllowed` where this person may not."""
    people.require(Act.DELETE)
    held = services()
    held.worker.cancel(comparison_id)
    held.store.delete(comparison_id)


def purge() -> None:
    """Erase for good what was deleted. Raises :class:`memdash.errors.NotAllowed` where this person may not."""
    people.require(Act.DELETE)
    services().store.purge()


def _allowed(spec: ComparisonSpec) -> Launch:
    """Return who starts a run. A live one needs somebody who may, and a key; a simulated one costs nothing and is everybody's."""
    if spec.provider is not Provider.ANTHROPIC:
        return Launch(people.who())
    people.require(Act.RUN_LIVE)
    people.check_key("a live run")
    return Launch(people.who(), people.own_key())
