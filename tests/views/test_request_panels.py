"""What the model saw in a turn, what differs from another request, and the request to be made once more."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from memdash.claude import connect
from memdash.replay import replay
from memdash.scripts.model import Script
from memdash.spec import ComparisonSpec
from memdash.store import Store
from memdash.strategies import parse
from memdash.views.replay_panels import markup
from tests.replay.scripts import budget, chat, turn, with_tools
from tests.views.samples import sample_spec, store_sample

MARKUP = "<script>alert('x')</script> **bold** :smile: \u202eturned <img src=x onerror=alert(1)>"


def stored(store: Store, script: Script, *strategies: str, **changes: object) -> list[str]:
    """Play a comparison into the store; returns the ids of its replays."""
    spec = ComparisonSpec((script,), tuple(map(parse, strategies)), token_counter="estimate", **changes)
    store.save_comparison(spec)
    for one in spec.replays():
        client, clock = connect(one)
        store.append(one.id, list(replay(one, client, clock)))
    store.flush()
    return [one.id for one in spec.replays()]


def draw(panel: str, replay_id: str, number: int, other: str | None = None) -> AppTest:
    def page(panel: str, replay_id: str, number: int, other: str | None) -> None:
        from memdash.views.replay_data import opened
        from memdash.views.replay_panels.differences import differences_panel
        from memdash.views.replay_panels.raw import raw_panel
        from memdash.views.replay_panels.request import request_panel

        if panel == "request":
            request_panel(opened(replay_id), number)
        elif panel == "raw":
            raw_panel(opened(replay_id), number)
        else:
            differences_panel(opened(replay_id), number, None if other is None else opened(other))

    app = AppTest.from_function(page, args=(panel, replay_id, number, other), default_timeout=30)
    app.run()
    assert not app.exception
    return app


def pictures(app: AppTest) -> str:
    """All HTML of the page."""
    return "".join(one.proto.body for one in app.get("html"))


def words(app: AppTest) -> str:
    """All text of the page, escapes taken away and tags left out."""
    text = "\n".join([one.value for kind in (app.markdown, app.caption) for one in kind])
    return text.replace("\\", "").replace("**", "") + re.sub(
        r"<[^>]*>", " ", re.sub(r"(?s)<style>.*?</style>", "", pictures(app))
    )


def test_a_request_shows_its_bill_its_new_blocks_and_its_answer(store: Store) -> None:
    (one,) = stored(store, with_tools(), "full_history")
    app = draw("request", one, 1)
    told = words(app)
    assert re.search(r"Request 1: [\d,]+ prompt tokens · claude-opus-5-5", told)
    assert "The first request finds nothing in the cache." in told
    assert "New: 1 block" in told
    assert "user: text" in told
    assert "message 1" in told
    assert "Answer: end turn" in told
    assert "its text is kept by the API" in told
    assert re.search(r"in all\s+\$0\.\d+", told)
    # The fixed part is folded, and not read before it is opened.
    (fixed,) = app.expander
    assert fixed.label.startswith("Fixed part: 2 blocks")
    assert "Help." not in told


def test_each_request_of_a_turn_can_be_chosen(store: Store) -> None:
    (one,) = stored(store, with_tools(), "full_history")
    app = draw("request", one, 2)
    assert "2 · the user's message" in [plain.replace("\\", "") for plain in app.segmented_control[0].options]
    app.segmented_control[0].select(app.segmented_control[0].options[1]).run()
    assert not app.exception
    assert "user: tool result" in words(app)
    assert "look {" in words(app)


def test_a_miss_names_the_event_that_caused_it(store: Store) -> None:
    long = "Please keep in mind what I told you about the trip and the hotel. " * 40
    script = Script("long", "Long", tuple(turn(n, f"{n}: {long}") for n in range(1, 6)))
    (one,) = stored(store, script, "window:2")
    told = words(draw("request", one, 4))
    assert re.search(r"Cache miss of up to [\d,]+ tokens: history edited", told)
    assert re.search(
        r"counted by us \(estimate\)\. In no block: \d+ written to cache, 3 uncached; the API writes", told
    )
    assert "caused by: old turns dropped in turn 4 (dropped turn 2" in told
    assert re.search(r"\$0\.\d+ more than reading them", told)


def test_a_summary_is_marked_and_a_refusal_shows_the_apis_message(store: Store) -> None:
    summarised, refused = stored(
        store, chat(6, budget()), "compaction:250,words=30", "window:keep=2,thinking=keep", check=True
    )
    logs = store.replay_logs(summarised.rpartition("_")[0], [summarised])
    made_in = next(one.turn for one in logs[0].events if one.event == "compaction")
    assert "user: summary" in words(draw("request", summarised, made_in + 1))
    last = draw("request", refused, 3)
    assert any("Invalid" in one.value for one in last.code)
    assert "Refused (400): invalid_request_error" in words(last)


def test_a_turn_without_requests_says_so(store: Store) -> None:
    (one,) = stored(store, chat(2), "full_history")
    for panel in ("request", "raw", "differences"):
        assert "request" in words(draw(panel, one, 9))


def test_differences_against_the_turn_before_and_against_another_replay(store: Store) -> None:
    full, window = stored(store, chat(4), "full_history", "window:2")
    app = draw("differences", full, 3)
    assert "Turn 3 against turn 2, its last request: 3 blocks added; 4 blocks the same" in words(app)
    assert "4 blocks the same" in words(app).split("Prompt tokens")[1]
    assert "+ user: text" in words(app)
    app.toggle[0].set_value(False).run()
    assert "+ user: text" in words(app)
    assert "Hi! Our budget is 2,400 euros." in words(app)
    assert "nothing comes before it" in words(draw("differences", full, 1))
    against = words(draw("differences", window, 4, other=full))
    assert "Turn 4 against full history at the same turn: 7 blocks removed; 3 blocks the same" in against


def test_a_changed_text_shows_its_words(store: Store) -> None:
    script = chat(2)
    script = replace(
        script, system="Help them.", turns=(script.turns[0], replace(script.turns[1], system="Help me."))
    )
    (one,) = stored(store, script, "full_history")
    body = pictures(draw("differences", one, 2))
    assert "Help<del> them</del><ins> me</ins>." in body


def test_of_a_long_text_that_changed_a_little_the_rest_is_left_out(store: Store) -> None:
    long = "All of this stays as it is. " * 100
    first, second = chat(2).turns
    second = replace(second, system=f"{long}New. {long}")
    script = replace(chat(2), system=f"{long}Old. {long}", turns=(first, second))
    (one,) = stored(store, script, "full_history")
    body = pictures(draw("differences", one, 2))
    assert "<del> Old</del><ins> New</ins>" in body
    assert body.count("characters the same …") == 2
    assert len(body) < 6_000


def test_requests_recorded_without_their_blocks_are_shown_by_their_numbers(store: Store) -> None:
    spec = sample_spec()
    store_sample(store, spec)
    replay_id = spec.replays()[0].id
    assert "594 prompt tokens" in words(draw("request", replay_id, 1))
    assert "nothing differs" in words(draw("differences", replay_id, 1, other=spec.replays()[1].id))
    assert draw("raw", replay_id, 1).code


def test_the_raw_request_can_be_copied_for_either_side(store: Store) -> None:
    (one,) = stored(store, chat(2), "full_history")
    app = draw("raw", one, 2)
    command, body = (code.value for code in app.code)
    assert command.startswith('curl -sS "http://127.0.0.1:8787/v1/messages"')
    assert body in command
    app.segmented_control[0].select("the API").run()
    assert '"x-api-key: $ANTHROPIC_API_KEY"' in app.code[0].value
    assert "Its thinking blocks (1) are left out" in words(app)


def test_a_body_too_long_to_show_is_a_file(store: Store) -> None:
    (one,) = stored(store, Script("long", "Long", (turn(1, "word " * 13_000),)), "full_history")
    app = draw("raw", one, 1)
    (command,) = (code.value for code in app.code)
    assert command.endswith("--data-binary @request.json")
    assert app.get("download_button")[0].label == "Body as a file"


def test_text_of_a_script_stays_text(store: Store) -> None:
    script = replace(chat(2), system=MARKUP)
    script = replace(script, turns=(turn(1, MARKUP), turn(2, MARKUP * 20)))
    (one,) = stored(store, script, "full_history")
    for panel in ("request", "differences"):
        body = pictures(draw(panel, one, 2))
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; **bold** :smile:" in body
        assert "<script" not in body
        assert "<img" not in body
        assert "\u202e" not in body
        assert "U+202E" in body


@pytest.mark.parametrize("bad", ["a\ud800b", "a\x1bb", "a\u2066b"])
def test_what_shows_nothing_of_its_own_is_spelled_out(bad: str) -> None:
    shown = markup.escaped(bad)
    assert shown == f'a<span class="unseen">U+{ord(bad[1]):04X}</span>b'
    shown.encode()


def test_long_texts_are_folded_and_very_long_ones_cut() -> None:
    def page() -> None:
        from memdash.views.replay_panels.markup import Shown, block_list

        block_list(
            [Shown("short", (), "a", "x" * 20), Shown("long", (), "b", "y" * 40_000)], "light", alt="Two"
        )

    app = AppTest.from_function(page).run()
    body = pictures(app)
    assert body.count("<details") == 1
    assert "40,000 characters" in body
    assert "… and 10,000 characters more" in body
    assert body.count("y") < 31_000


def test_words_are_told_apart_without_colour() -> None:
    def page() -> None:
        from memdash.inspection.differences import Change, Word
        from memdash.palette import TEAL
        from memdash.views.replay_panels.markup import Shown, block_list

        words = [Word(Change.REMOVED, "<a>"), Word(Change.ADDED, "b")]
        block_list([Shown("one", (), "a", words, TEAL)], "dark", alt="")

    assert "<del>&lt;a&gt;</del><ins>b</ins>" in pictures(AppTest.from_function(page).run())
