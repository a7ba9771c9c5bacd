"""The conversations the benchmarks play: the same words for memdash and for its peer."""

from __future__ import annotations

_SUBJECTS = (
    "the harbour walk",
    "the tram tickets",
    "the little museum",
    "the bakery by the bridge",
    "the ferry times",
)
_ASKS = (
    "What should we know about {0} before we go, and how long would you plan for it?",
    "Could you compare {0} with what you told us before, and say which one suits a rainy afternoon?",
    "We changed our minds about {0}. What would you put in its place, and why that one?",
)


def user_text(conversation: int | str, turn: int) -> str:
    """What the user says in a turn: about thirty words, different in every turn of every conversation."""
    subject = _SUBJECTS[(int(conversation) + turn) % len(_SUBJECTS)]
    ask = _ASKS[turn % len(_ASKS)].format(subject)
    return (
        f"Day {turn} of trip {conversation}: {ask} We would like to leave at {8 + turn % 10}:{turn % 60:02d}."
    )


def reply_text() -> str:
    """About seventy words, as long as the pretend model's replies are on average."""
    return (
        "Noted. I would start early, since the light is best then and the queue is short, and keep about an hour for it. "
        "Bring a coat, because the wind from the water is stronger than it looks on the map. If it rains, the covered "
        "market two streets away is a good second choice, and the tram back runs every twelve minutes until late in the "
        "evening."
    )


def script_yaml(conversation: int, turns: int) -> str:
    """A script of this conversation with one fact, its question asked at the end."""
    lines = [
        f"id: benchmark-{conversation}",
        f"title: Benchmark conversation {conversation}",
        "system: You help two people plan a trip. Answer in at most 80 words.",
        "turns:",
        f"  - user: 'My name is Imre. {user_text(conversation, 1)}'",
        *(f"  - user: '{user_text(conversation, turn)}'" for turn in range(2, turns + 1)),
        "facts:",
        "  - {id: name, turn: 1, question: What is the traveller's name?, answer: Imre}",
    ]
    return "\n".join(lines) + "\n"
