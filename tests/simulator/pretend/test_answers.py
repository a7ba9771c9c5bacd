"""What the pretend model answers when it is asked for something that was said: from the request, or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from memdash.simulator.pretend import HonestModel
from memdash.simulator.pretend.questions import asked

MODEL = HonestModel()
UNKNOWN = "I don't know"


class Planted(NamedTuple):
    """A fact: how it is said, what a right answer holds, and ways to ask for it."""

    said: str
    value: str
    questions: tuple[str, ...]


FACTS: dict[str, Planted] = {
    "name": Planted(
        "Hello! My name is Ottilie Brandt and I could use a hand with a trip.",
        "Ottilie",
        (
            "What is my name?",
            "Who am I?",
            "Do you remember what I'm called?",
            "How did I introduce myself?",
            "What should you call me?",
            "Tell me my name, please.",
        ),
    ),
    "name, casually": Planted(
        "Hi, I'm Rasmus, good to meet you.",
        "Rasmus",
        (
            "What's my name?",
            "Can you tell me what my name is?",
            "By what name do I go?",
            "Which name did I give you?",
            "Who are you talking to?",
        ),
    ),
    "budget": Planted(
        "All in all, our budget for the week is 1,850 euros.",
        "1,850",
        (
            "What is our budget?",
            "How much money do we have for the trip?",
            "How much can we spend in total?",
            "What's the most we may spend?",
            "Remind me what our total budget was.",
            "What spending limit did I give you?",
            "How much are we able to spend overall?",
        ),
    ),
    "budget, other words": Planted(
        "We can spend at most $3,200 on the whole thing.",
        "3,200",
        (
            "What's our budget?",
            "How big is our budget?",
            "What is the upper limit for our spending?",
            "How much did I say we could spend?",
        ),
    ),
    "allergy": Planted(
        "Before you suggest restaurants: I am allergic to hazelnuts.",
        "hazelnuts",
        (
            "What am I allergic to?",
            "Which allergy do I have?",
            "What food do I have to avoid?",
            "Is there anything I can't eat?",
            "Do I have a food allergy, and if so, which?",
            "Which ingredient must be kept off my plate?",
        ),
    ),
    "allergy, other words": Planted(
        "One thing: I can't eat shellfish, it makes me really ill.",
        "shellfish",
        (
            "What am I allergic to?",
            "What can't I eat?",
            "What should I never eat?",
            "Which food did I say I have to avoid?",
        ),
    ),
    "arrival": Planted(
        "Our flight lands on 23 September at 16:25.",
        "23 September at 16:25",
        (
            "When do we arrive?",
            "On which date and at what time do we land?",
            "What's our arrival date and time?",
            "When does our plane get in?",
            "When exactly will we be arriving?",
            "What day and time do we touch down?",
        ),
    ),
    "arrival, other words": Planted(
        "We'll be getting in on Friday 6 June, at a quarter past nine in the evening.",
        "6 June",
        (
            "When do we arrive?",
            "What day do we land?",
            "When did I say we would arrive?",
            "What is our arrival date?",
        ),
    ),
    "wifi code": Planted(
        "The Wi-Fi password at the flat is kestrel-4471.",
        "kestrel-4471",
        (
            "What is the wifi code?",
            "What's the Wi-Fi password at the flat?",
            "Which password do I need for the wireless?",
            "Can you give me the wifi password again?",
        ),
    ),
    "project deadline": Planted(
        "The report has to be finished by 30 October.",
        "30 October",
        (
            "When is the report due?",
            "What is the deadline for the report?",
            "By when must the report be ready?",
            "What's our deadline?",
        ),
    ),
    "deadline, other words": Planted(
        "Our deadline for the migration is the 12th of March.",
        "12th of March",
        (
            "When does the migration have to be done?",
            "What is the migration deadline?",
            "By which date must the migration be finished?",
            "When is the migration due?",
        ),
    ),
    "server port": Planted(
        "The staging server listens on port 8443.",
        "8443",
        (
            "Which port does the staging server use?",
            "What port is the staging server listening on?",
            "On which port can I reach the staging host?",
            "What was the staging server's port?",
        ),
    ),
    "favourite colour": Planted(
        "My favourite colour is teal, so I'd like the cover in that.",
        "teal",
        (
            "What is my favourite colour?",
            "Which colour do I like best?",
            "What colour do I prefer?",
            "Do you remember my favorite color?",
        ),
    ),
    "dog's name": Planted(
        "My dog is called Biscuit and he travels with us.",
        "Biscuit",
        (
            "What is my dog's name?",
            "What's my dog called?",
            "How is my dog called?",
            "What is the name of my dog?",
            "Which name does my dog have?",
        ),
    ),
    "order number": Planted(
        "My order number is KX-20981, by the way.",
        "KX-20981",
        (
            "What is my order number?",
            "Which order number did I give you?",
            "What's the number of my order?",
            "Can you repeat my order ID?",
        ),
    ),
    "meeting room": Planted(
        "We meet in room Heron on the third floor.",
        "Heron",
        (
            "Which room do we meet in?",
            "What's the name of our meeting room?",
            "In which room is our meeting?",
            "Which meeting room did I mention?",
        ),
    ),
    "version": Planted(
        "We are running version 4.7.2 of the gateway.",
        "4.7.2",
        (
            "Which version of the gateway are we running?",
            "What gateway version do we use?",
            "What version did I say we're on?",
            "Which release of the gateway is it that we run?",
        ),
    ),
    "phone": Planted(
        "You can reach me on +49 170 5550123 in the evening.",
        "+49 170 5550123",
        (
            "What's my phone number?",
            "Which number can you call me on?",
            "What telephone number did I give you?",
            "On what number can I be reached?",
        ),
    ),
    "home": Planted(
        "I live in Trondheim, close to the river.",
        "Trondheim",
        (
            "Where do I live?",
            "Which city do I live in?",
            "Where did I say I live?",
            "In what town is my home?",
        ),
    ),
    "job": Planted(
        "I work as a structural engineer.",
        "structural engineer",
        ("What do I do for a living?", "What is my job?", "What's my profession?", "What do I work as?"),
    ),
    "seat": Planted(
        "I booked seat 14C for the outbound flight.",
        "14C",
        (
            "Which seat did I book?",
            "What's my seat number?",
            "What seat do I have?",
            "Where do I sit on the outbound flight?",
        ),
    ),
    "hotel": Planted(
        "We are staying at the Casa Lira.",
        "Casa Lira",
        (
            "Where are we staying?",
            "What's the name of our hotel?",
            "Which hotel are we staying at?",
            "What is our hotel called?",
        ),
    ),
    "headcount": Planted(
        "There will be seven of us on the trip.",
        "seven",
        (
            "How many people are travelling?",
            "How many of us are there?",
            "How many are we on this trip?",
            "What's the size of our group?",
        ),
    ),
    "language": Planted(
        "The service is written in Elixir.",
        "Elixir",
        (
            "Which language is the service written in?",
            "What is the service written in?",
            "In what programming language did we write the service?",
        ),
    ),
    "sister's allergy": Planted(
        "My sister is allergic to cats.",
        "cats",
        (
            "What is my sister allergic to?",
            "Which allergy does my sister have?",
            "What did I say my sister is allergic to?",
        ),
    ),
    "locker": Planted(
        "Locker 17 opens with the code 9034.",
        "9034",
        (
            "What is the code of locker 17?",
            "Which code opens locker 17?",
            "How do I open locker 17? What was the code?",
        ),
    ),
    "reason": Planted(
        "We chose Postgres because the team knows it well.",
        "team knows it",
        ("Why did we choose Postgres?", "What was our reason for choosing Postgres?"),
    ),
    "birthday": Planted(
        "My birthday is on 9 August.",
        "9 August",
        ("When is my birthday?", "On which day was I born?", "What's the date of my birthday?"),
    ),
    "contact": Planted(
        "Our contact at the venue is Priya Nair.",
        "Priya",
        (
            "Who is our contact at the venue?",
            "What's the name of our contact at the venue?",
            "Who did I say is our venue contact?",
        ),
    ),
}

CHAT: tuple[str, ...] = (
    "What should we do on a rainy day?",
    "Is the tram pass worth it?",
    "The museum costs 12 euros and the boat tour 18 dollars.",
    "Tell me something about the old bridge.",
    "How do we get from the airport to the centre?",
    "Which pastry should I try first?",
    "How much should we tip in a restaurant?",
    "Could you recommend a quiet beach?",
    "Are the hills hard to walk?",
    "What is the weather like in June?",
    "Thanks, that helps a lot!",
    "Let's keep Sunday free for a walk along the river.",
    "Can you summarise what a pastel de nata is?",
    "My friend Paul is allergic to dust, by the way.",
    "The train to the coast leaves every hour at 25 past.",
    "What kind of shoes do I need for the cobbles?",
    "Is it better to book the wine cellar in advance?",
    "A ticket for the funicular is 2.50 euros.",
    "My brother wants to hear fado.",
    "What can we bring home as a present?",
    "Do people speak English there?",
    "I would rather avoid the crowds.",
    "How long does the walk to the lighthouse take?",
    "What would you pack for a week?",
    "Is there a good place for breakfast near the market?",
    "The viewpoint closes at 19:00.",
    "Sounds lovely, let's do that.",
    "What else is there to see across the river?",
    "Which day is best for the market?",
    "Could we combine the garden and the museum?",
)


def conversation(said: Sequence[str], question: str) -> dict[str, Any]:
    """A chat in which the user said ``said``, one message each, and now asks ``question``."""
    messages: list[dict[str, Any]] = []
    for number, text in enumerate(said):
        chat = MODEL.draft({"messages": [{"role": "user", "content": "Nice."}]}, None, number).text
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": chat}]
    return {
        "model": "claude-opus-5-5",
        "system": "You help people to plan. Keep every reply to at most 80 words.",
        "max_tokens": 1024,
        "messages": [*messages, {"role": "user", "content": question}],
    }


def answer(said: Sequence[str], question: str) -> str:
    return MODEL.draft(conversation(said, question), None, 1).text


ASKED = [
    pytest.param(fact, question, id=f"{name}: {question}")
    for name, fact in FACTS.items()
    for question in fact.questions
]


@pytest.mark.parametrize(("fact", "question"), ASKED)
def test_a_stated_fact_is_answered_wherever_it_stands(fact: Planted, question: str) -> None:
    for place in (0, 10, len(CHAT)):
        assert fact.value in answer([*CHAT[:place], fact.said, *CHAT[place:]], question)


@pytest.mark.parametrize(("fact", "question"), ASKED)
def test_a_fact_that_is_not_visible_is_not_known(fact: Planted, question: str) -> None:
    assert UNKNOWN in answer(CHAT, question)
    assert UNKNOWN in answer([], question)


OTHER_VALUES = {
    "Ottilie": "Severin",
    "Rasmus": "Yolanda",
    "1,850": "970",
    "3,200": "4,750",
    "hazelnuts": "strawberries",
    "shellfish": "celery",
    "23 September at 16:25": "2 May at 07:05",
    "6 June": "9 July",
    "kestrel-4471": "badger-90",
    "30 October": "15 January",
    "12th of March": "1st of June",
    "8443": "9090",
    "teal": "crimson",
    "Biscuit": "Pepper",
    "KX-20981": "ZT-11872",
    "Heron": "Kingfisher",
    "4.7.2": "5.0.11",
    "+49 170 5550123": "+44 7700 900461",
    "Trondheim": "Leuven",
    "structural engineer": "piano tuner",
    "14C": "22F",
    "Casa Lira": "Villa Onda",
    "seven": "five",
    "cats": "horses",
    "9034": "1188",
    "9 August": "27 February",
    "Priya": "Lukas",
}


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        pytest.param(fact, question, id=f"{name}: {question}")
        for name, fact in FACTS.items()
        if fact.value in OTHER_VALUES
        for question in fact.questions
    ],
)
def test_the_answer_follows_the_value(fact: Planted, question: str) -> None:
    other = OTHER_VALUES[fact.value]
    said = answer([*CHAT[:5], fact.said.replace(fact.value, other), *CHAT[5:]], question)
    assert other in said
    assert fact.value not in said


@pytest.mark.parametrize(
    ("name", "question"), [pytest.param(n, q, id=f"{n}: {q}") for n, f in FACTS.items() for q in f.questions]
)
def test_all_other_facts_together_do_not_answer_by_luck(name: str, question: str) -> None:
    kind = name.split(",")[0].removeprefix("project ")
    others = [
        fact.said for other, fact in FACTS.items() if other.split(",")[0].removeprefix("project ") != kind
    ]
    assert UNKNOWN in answer([*CHAT, *others], question)
    assert FACTS[name].value in answer([*others[:12], FACTS[name].said, *others[12:], *CHAT], question)


# -- ordinary chat -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*CHAT, *(fact.said for fact in FACTS.values())])
def test_chat_and_statements_are_no_questions_about_something_said(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    "question",
    [
        "What should I wear for dinner?",
        "Which wine would you drink with it?",
        "How would you tell the children about this week in two sentences?",
        "What do we do if it rains?",
        "How old is the bridge?",
        "Is our budget enough for a boat tour?",
        "Why does the worker restart at night?",
        "Could you check whether anything still complains?",
        "What does a connection pool do?",
        "Remind me to call the hotel tomorrow.",
        "Tell me about the harbour.",
        "Give me three ideas for Sunday.",
        "Where can we hear live music?",
        "How many days do people usually stay?",
        "How do I tell a waiter about my allergy?",
        "What time should we be at the airport?",
        "Which is the cheapest way into town?",
        "Does our budget cover a boat tour?",
        "Where should we eat on the first evening, given my allergy?",
    ],
)
def test_asking_for_advice_or_about_the_world_is_ordinary_chat(question: str) -> None:
    assert asked(question) is None


def test_a_request_without_a_question_mark_is_understood() -> None:
    said = ["Our total budget is 2,400 euros."]
    for question in (
        "Please repeat our budget.",
        "Tell me what our budget is.",
        "I forgot what our budget was.",
        "Remind me of our budget, please.",
        "State our total budget",
    ):
        assert "2,400" in answer(said, question)


def test_instructions_around_the_question_do_not_hide_it() -> None:
    said = ["Our total budget is 2,400 euros."]
    for question in (
        "What is our total budget? Answer in one short sentence.",
        "Quick check before we go on: what is our total budget? If you don't know, say so.",
        "Answer from our conversation only. What is our total budget?",
        "By the way, what was our total budget again?",
        "And our budget?",
    ):
        assert "2,400" in answer(said, question)


# -- whose, which, and really said ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "distractor",
    [
        "The museum costs 12 euros.",
        "We spent 40 euros on the tram, well within the budget.",
        "Is 2,000 euros a realistic budget?",
        "A typical budget for a week is 1,500 euros.",
        "Half the budget goes to the hotel.",
        "The hotel charges 95 euros a night in total.",
        "My brother's budget is 500 euros.",
        "If our budget were 5,000 euros we would fly business.",
        "Dinner was 60 euros altogether.",
        "A budget airline charges 30 euros a bag.",
    ],
)
def test_another_amount_is_no_budget(distractor: str) -> None:
    for question in ("What is our total budget?", "How much can we spend in total?", "What's our budget?"):
        assert UNKNOWN in answer([*CHAT[:3], distractor], question)
        assert "2,400" in answer(["Our total budget is 2,400 euros.", *CHAT[3:6], distractor], question)


@pytest.mark.parametrize(
    "distractor",
    [
        "My sister is allergic to cats.",
        "My friend Paul, who is allergic to bees, comes along.",
        "Ben is allergic to nuts.",
        "Is it true that many people are allergic to peanuts?",
        "I love peanuts.",
        "He is allergic to dust.",
    ],
)
def test_what_others_cannot_eat_is_not_my_allergy(distractor: str) -> None:
    for question in ("What am I allergic to?", "Which food can't I eat?"):
        assert UNKNOWN in answer([*CHAT[:3], distractor], question)
        assert "walnuts" in answer(["I am allergic to walnuts.", *CHAT[:3], distractor], question)


@pytest.mark.parametrize(
    "distractor",
    [
        "My dog is called Biscuit.",
        "The guide's name is Joana.",
        "I'm Portuguese by birth.",
        "The name of the hotel is Casa Lira.",
        "My sister's name is Ana.",
    ],
)
def test_another_name_is_not_mine(distractor: str) -> None:
    for question in ("What is my name?", "Who am I?", "What am I called?"):
        assert UNKNOWN in answer([*CHAT[:3], distractor], question)
        assert "Marta" in answer(["Hello, I'm Marta Oliveira.", *CHAT[:3], distractor], question)


@pytest.mark.parametrize(
    "distractor",
    [
        "We leave for home on 21 May at 9:15.",
        "My sister arrives on 20 May at 10:00.",
        "The parcel arrives on Friday.",
        "The return flight is on 21 May at 9:15.",
    ],
)
def test_another_date_is_not_our_arrival(distractor: str) -> None:
    for question in ("When do we arrive?", "What are our arrival date and time?"):
        assert UNKNOWN in answer([*CHAT[:3], distractor], question)
        assert "14 May at 18:40" in answer(["We land on 14 May at 18:40.", *CHAT[:3], distractor], question)


def test_of_many_alike_the_one_asked_for_answers() -> None:
    lockers = [f"The code of locker {number} is K-{400 + number}." for number in range(1, 61)]
    assert "K-417" in answer(lockers, "What is the code of locker 17?")
    assert UNKNOWN in answer(lockers[:16] + lockers[17:], "What is the code of locker 17?")
    words = [
        f"The codeword for project {name} is {word}."
        for name, word in (("Heron", "lantern"), ("Falcon", "marble"), ("Wren", "copper"))
    ]
    assert "marble" in answer(words, "What is the codeword for project Falcon?")
    assert UNKNOWN in answer([words[0], words[2]], "What is the codeword for project Falcon?")


def test_the_other_server_does_not_answer() -> None:
    said = ["The production server listens on port 8443."]
    assert UNKNOWN in answer(said, "Which port does the staging server use?")
    assert "8443" in answer(
        [*said, "The staging server listens on port 9000."], "Which port does the production server use?"
    )


# -- the newest wins -------------------------------------------------------------------------------------------------------

UPDATES_ANYWHERE = [
    "The budget is now 3,100 euros.",
    "Good news: my mum chips in, so we can spend 3,100 euros.",
    "Scrap the 2,400 figure, we have 3,100 euros to play with.",
    "About the budget: my aunt helps out, so it's 3,100 euros now.",
    "We changed the budget from 2,400 to 3,100 euros.",
    "Correction: our budget is 3,100 euros, not 2,400 euros.",
    "My father called. He adds something, so our budget grows to 3,100 euros.",
    "Our total budget is now 3,100 euros instead of 2,400 euros.",
    "Let me correct myself, the budget is 3,100 euros.",
]
UPDATES_RIGHT_AFTER = [
    "Actually, make that 3,100 euros.",
    "We raised it to 3,100 euros, the old figure is off.",
]


@pytest.mark.parametrize(
    "question", ["What is our total budget?", "How much can we spend?", "What's the budget now?"]
)
@pytest.mark.parametrize("update", [*UPDATES_ANYWHERE, *UPDATES_RIGHT_AFTER])
def test_an_update_replaces_what_was_said_and_the_stale_value_is_not_repeated(
    update: str, question: str
) -> None:
    between = CHAT[4:9] if update in UPDATES_ANYWHERE else ()
    said = answer([*CHAT[:3], "Our total budget is 2,400 euros.", *between, update, *CHAT[9:14]], question)
    assert "3,100" in said
    assert "2,400" not in said


@pytest.mark.parametrize(
    "later", ["Ten words at most, please.", "No, 15 minutes is plenty.", "Actually, the museum is 14 euros."]
)
def test_what_is_corrected_later_is_not_the_budget(later: str) -> None:
    assert "2,400" in answer(["Our total budget is 2,400 euros.", later], "What is our total budget?")


def test_date_and_time_are_both_given_when_they_stand_in_two_sentences() -> None:
    said = answer(
        ["We land on 14 May. The plane gets in at 18:40."], "On which date and at what time do we arrive?"
    )
    assert "14 May" in said
    assert "18:40" in said


# -- tool results ------------------------------------------------------------------------------------------------------------


def after_tool(result: str, question: str, name: str = "get_status") -> str:
    call = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {"service": "payments"}}
    messages = [
        {"role": "user", "content": "Please look into the payment service."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": result}]},
        {"role": "assistant", "content": "Thanks, I had a look."},
        {"role": "user", "content": question},
    ]
    return MODEL.draft({"messages": messages, "max_tokens": 500}, None, 1).text


@pytest.mark.parametrize(
    "question",
    [
        "What was the error code in the log?",
        "Which error code did the payment service report?",
        "Remind me of the error code from the logs.",
    ],
)
def test_one_line_of_a_long_log_is_found(question: str) -> None:
    lines = [
        f"2026-11-03T10:{n // 60:02d}:{n % 60:02d}Z INFO payments request {1000 + n} ok in {n % 9 + 3} ms"
        for n in range(600)
    ]
    assert UNKNOWN in after_tool("\n".join(lines), question, "get_logs")
    lines.insert(299, "2026-11-03T10:04:59Z ERROR payments code E4417 card gateway timed out after 30 s")
    assert "E4417" in after_tool("\n".join(lines), question, "get_logs")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What was the error code?", "E4417"),
        ("Which error code did the status check return?", "E4417"),
        ("Which version of the payment service is running?", "4.18.2"),
        ("How many replicas did the status check show?", "3"),
        ("In which region does the payments service run?", "eu-west-1"),
        ("What was the status of the payments service?", "degraded"),
        ("Which version of the search service is running?", UNKNOWN),
    ],
)
def test_a_field_of_a_json_result_is_found(question: str, value: str) -> None:
    result = {
        "service": "payments",
        "status": "degraded",
        "error": {"code": "E4417", "message": "card gateway timed out"},
        "replicas": 3,
        "version": "4.18.2",
        "region": "eu-west-1",
    }
    assert value in after_tool(json.dumps(result), question)


# -- summaries and briefs as the only source ---------------------------------------------------------------------------------

SUMMARY = (
    "Summary: The user is called Marta Oliveira. Total budget: 2,400 EUR. Allergic to peanuts. Arrival: 14 May, 18:40 at Porto. "
    "Wifi code of the flat: K7-Q2. Prefers aisle seats."
)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is my name?", "Marta"),
        ("What's our budget?", "2,400"),
        ("What am I allergic to?", "peanuts"),
        ("When do we arrive?", "14 May"),
        ("What is the wifi code?", "K7-Q2"),
        ("What is my dog's name?", UNKNOWN),
    ],
)
def test_a_summary_by_somebody_else_answers_too(question: str, value: str) -> None:
    ahead = [{"role": "user", "content": SUMMARY}, {"role": "user", "content": question}]
    in_one = [{"role": "user", "content": f"{SUMMARY}\n\n{question}"}]
    brief = [
        {"role": "user", "content": "Here is your brief."},
        {"role": "assistant", "content": SUMMARY},
        {"role": "user", "content": question},
    ]
    for messages in (ahead, in_one, brief):
        assert value in MODEL.draft({"messages": messages, "max_tokens": 500}, None, 1).text


def test_an_earlier_i_dont_know_is_no_answer() -> None:
    first = answer(CHAT, "What is our budget?")
    messages = [
        {"role": "user", "content": "What is our budget?"},
        {"role": "assistant", "content": first},
        {"role": "user", "content": "What is our budget?"},
    ]
    assert UNKNOWN in MODEL.draft({"messages": messages, "max_tokens": 500}, None, 1).text


RECORDS = json.dumps(
    {
        "order": "A1",
        "status": "delayed",
        "carrier": "Nordkurier",
        "eta": "2026-12-09",
        "flight_number": "HAT170",
    }
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which carrier has order A1?", "carrier: Nordkurier"),
        ("What is the status of order A1?", "status: delayed"),
        ("What is the ETA of order A1?", "eta: 2026-12-09"),
        ("What was the flight number of order A1?", "flight_number: HAT170"),
    ],
)
def test_a_field_beside_a_short_identifier_answers_and_not_the_identifier_itself(
    question: str, answer: str
) -> None:
    assert after_tool(RECORDS, question).endswith(f"“{answer}”")


def test_another_short_identifier_is_not_known() -> None:
    assert UNKNOWN in after_tool(RECORDS, "What is the status of order B2?")


@pytest.mark.parametrize(
    ("said", "question", "elsewhere"),
    [
        ("I was born in 1987.", "When was I born?", "Where was I born?"),
        ("I was born in 1987.", "What is my year of birth?", "Where was I born?"),
        ("I work as a marine biologist in Gdańsk.", "Where do I work?", "Where do I live?"),
        ("My brother Tao lives in Chengdu.", "Where does Tao live?", "Where does Ken live?"),
        ("My colleague Ruth is allergic to lupin.", "What is Ruth allergic to?", "What is Paul allergic to?"),
        ("Bo arrives on Friday at 9:15.", "When does Bo arrive?", "When does Al arrive?"),
    ],
)
def test_years_work_and_people_by_name_are_asked_for(said: str, question: str, elsewhere: str) -> None:
    assert answer([said, "I like trams a lot."], question) == f"This was said: “{said}”"
    assert UNKNOWN in answer([said, "I like trams a lot."], elsewhere)


@pytest.mark.parametrize(
    "question",
    [
        "Which nut can't my brother eat?",
        "What can my brother not eat?",
        "Which food is dangerous for my brother?",
        "Does my brother have any allergies?",
    ],
)
def test_what_somebody_else_must_not_eat_is_asked_for_in_many_ways(question: str) -> None:
    allergy = "My brother is severely allergic to cashews."
    assert answer([allergy, "My brother draws a lot."], question) == f"This was said: “{allergy}”"
    assert UNKNOWN in answer(["My brother draws a lot."], question)


def test_the_day_we_get_there_is_the_arrival() -> None:
    said = "We arrive on 14 June at 18:40."
    assert answer([said], "What day do we get there?") == f"This was said: “{said}”"
