from __future__ import annotations

import dataclasses

from memdash import report
from memdash.answerer import VERSION_KEY, Answerer
from memdash.scripts.model import Script, Turn
from memdash.spec import ComparisonSpec
from memdash.store import StoredComparison
from memdash.store.store import as_launched_now
from memdash.strategies import choose


def launched(spec: ComparisonSpec, answered_by: Answerer | None = None) -> StoredComparison:
    """A comparison as the store keeps it, answered live by a server of this kind."""
    made = as_launched_now(dataclasses.replace(spec, provider="simulator"))
    versions = {} if answered_by is None else {VERSION_KEY: answered_by.value}
    return dataclasses.replace(made, spec=spec, versions=versions)


def test_what_the_numbers_rest_on_is_said_of_every_way_to_run() -> None:
    script = Script("s", "S", (Turn(1, ({"type": "text", "text": "Hi"},), reply="Hello."),))
    simulated = ComparisonSpec((script,), (choose("full_history"),))
    live = dataclasses.replace(simulated, provider="anthropic")
    recorded = dataclasses.replace(live, replies="recorded")
    assert (
        report.basis(launched(simulated))
        == "Simulator rules of 2026-11-30, not yet compared with the live API"
    )
    assert report.basis(launched(live, Answerer.LIVE_API)) == "Live API"
    assert report.basis(launched(live, Answerer.COMPATIBLE)) == "Answered by a compatible server"
    assert report.basis(launched(live)) == "Answered by a server that was not recorded"
    told = report.basis(launched(recorded, Answerer.COMPATIBLE))
    assert told.startswith(
        "Recorded replies: tokens, cache and waits of the turns are modelled by simulator rules"
    )
    assert told.endswith("summaries and recall are those of a compatible server")
