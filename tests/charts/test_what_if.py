"""What was charged and what it would have been: titles that say what is seen, marks that need no colour, the same in words."""

from __future__ import annotations

from typing import get_args

import pytest

from memdash.charts import what_if
from memdash.metrics.what_if import Answer, Repriced, WhatIf, answer_to, terms_for
from memdash.palette import Theme, assign
from memdash.prices import PriceTable
from memdash.spec import CacheLifetime
from tests import builders
from tests.metrics.outcomes import outcome

OURS = PriceTable.load()


def answer(*settings: tuple[str, float | None, float | None], script: str = "trip") -> Answer:
    """The answer without caching, for settings with what they cost and would have cost."""
    terms = terms_for(WhatIf(cache=CacheLifetime.OFF), OURS, [builders.spec()], OURS)
    return answer_to(
        terms,
        [
            Repriced(outcome(name, cost_usd=before, script=script), after, 0, 0, 0)
            for name, before, after in settings
        ],
    )


def drawn(found: Answer, theme: Theme = "light"):
    styles = assign((row.series, row.strategy) for row in found.rows)
    return what_if.cost_before_and_after(found, styles, theme)


TURNED = answer(("full history", 0.1, 0.4), ("window of 4", 0.2, 0.3))


def test_the_title_says_who_becomes_or_stays_the_cheapest() -> None:
    assert what_if.title(TURNED) == "With no caching window of 4 becomes the cheapest, at $0.3000"
    same = answer(("full history", 0.1, 0.2), ("window of 4", 0.2, 0.3))
    assert what_if.title(same) == "With no caching full history stays the cheapest, at $0.2000"
    assert what_if.title(answer(("full history", 0.1, None))) == "With no caching: n/a, no cost is known"


@pytest.mark.parametrize("theme", get_args(Theme))
def test_a_hollow_mark_is_what_was_charged_and_a_filled_one_what_it_would_have_been(theme: Theme) -> None:
    figure = drawn(TURNED, theme)
    charged, changed = figure.data
    assert (charged.name, list(charged.x), charged.marker.symbol) == ("as charged", [0.1, 0.2], "circle-open")
    assert (changed.name, list(changed.x), changed.marker.symbol) == ("what if", [0.4, 0.3], "circle")
    assert [(line.x0, line.x1) for line in figure.layout.shapes] == [(0.1, 0.4), (0.2, 0.3)]
    assert figure.layout.xaxis.title.text == "US dollars a replay"
    assert figure.layout.xaxis.rangemode == "tozero"


def test_of_very_many_settings_those_are_drawn_whose_cost_changes_most() -> None:
    many = answer(*[(f"s{n}", 1.0, 1.0 + n / 100) for n in range(40)])
    figure = drawn(many)
    assert len(figure.data[0].x) == what_if.MOST_ROWS
    assert min(figure.data[1].x) == pytest.approx(1.16)
    assert "the 24 settings whose cost changes most" in figure.layout.title.subtitle.text


def test_what_is_not_known_is_left_out_of_the_picture_and_said_in_words() -> None:
    found = answer(("full history", 0.1, 0.4), ("window of 4", 0.2, None))
    assert len(drawn(found).data[0].x) == 1
    assert what_if.alt(found).endswith("full history $0.4000 instead of $0.1000; not known for window of 4.")
    assert drawn(answer(("full history", None, None))).layout.annotations[0].text == "No costs to draw"


def test_names_are_shown_as_text() -> None:
    figure = drawn(answer(("<b>$x$</b>", 0.1, 0.2)))
    assert figure.data[0].text[0].startswith("&lt;b&gt;&#36;x&#36;")
