"""Many ways to say a thing and many ways to ask for it, each with each."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from memdash.simulator.pretend import HonestModel
from memdash.simulator.pretend.questions import asked

MODEL = HonestModel()


class Theme(NamedTuple):
    """Sentences with a gap, values for the gap, and questions of which each must be answered by each of the sentences."""

    said: tuple[str, ...]
    values: tuple[str, ...]
    questions: tuple[str, ...]


THEMES = {
    "name": Theme(
        (
            "My name is {}.",
            "I'm {}.",
            "Hi, {} here.",
            "You can call me {}.",
            "This is {}, writing from work.",
            "Hello, my name's {} and I need some help.",
            "I am {}, nice to meet you.",
        ),
        ("Zofia", "Callum"),
        (
            "What is my name?",
            "What's my first name?",
            "Who am I?",
            "Could you tell me my name?",
            "Do you know my name?",
            "Do you remember my name?",
            "How am I called?",
            "What do I go by?",
            "Please state the user's name.",
            "What name did I introduce myself with?",
            "Which name did I tell you at the start?",
            "By which name should you address me?",
            "Under what name do you know me?",
            "What did I say my name was?",
            "Can you recall who I am?",
            "Who is asking you this?",
        ),
    ),
    "budget": Theme(
        (
            "Our budget is {}.",
            "We have a total budget of {}.",
            "We can spend {} at most.",
            "We have {} to spend altogether.",
            "The trip must not cost more than {}.",
            "Our spending limit is {}.",
            "We've set aside {} for this trip.",
            "Keep everything under {} in total, please.",
            "Money-wise we're capped at {}.",
            "The whole trip should cost no more than {}.",
        ),
        ("2,750 euros", "$4,100"),
        (
            "What is our budget?",
            "What's the budget?",
            "How much money do we have?",
            "How much are we allowed to spend?",
            "What is the maximum we can spend?",
            "How much can the trip cost at most?",
            "What's our spending limit?",
            "How much did we budget for the trip?",
            "What budget did I mention?",
            "How much have we got to spend?",
            "What is the total amount we can spend?",
            "What's our financial limit?",
            "Tell me our budget.",
            "How much money is available for the trip?",
            "What sum did I give you as our budget?",
            "How expensive may the trip be?",
            "How much do we want to spend?",
        ),
    ),
    "allergy": Theme(
        (
            "I'm allergic to {}.",
            "I have a severe {} allergy.",
            "I can't eat {}.",
            "Please note that I am allergic to {}.",
            "I have an allergy to {}.",
            "I must avoid {} because of an allergy.",
            "Keep in mind my allergy: {}.",
            "Eating {} sends me to hospital, I'm badly allergic.",
            "My body doesn't tolerate {}; I'm allergic.",
            "No {} for me, I'm allergic.",
        ),
        ("sesame", "kiwi"),
        (
            "What am I allergic to?",
            "What is my allergy?",
            "Which food am I allergic to?",
            "What food allergy do I have?",
            "Do I have any allergies?",
            "What should I avoid eating?",
            "What can I not eat?",
            "Which ingredient is dangerous for me?",
            "What must a restaurant leave out of my meals?",
            "What did I say I'm allergic to?",
            "Is there something I can't eat?",
            "Which allergy did I mention?",
            "Remind me what I am allergic to.",
            "What foods must I stay away from?",
            "Can you name my allergy?",
            "What do I react badly to?",
        ),
    ),
    "arrival": Theme(
        (
            "We arrive on {}.",
            "Our plane lands on {}.",
            "We'll be landing on {}.",
            "Our flight gets in on {}.",
            "We get there on {}.",
            "Arrival is on {}.",
            "We fly in on {}.",
            "I arrive {}.",
            "Our arrival: {}.",
            "We touch down on {}.",
        ),
        ("12 April at 14:30", "3 November at 9:05 pm"),
        (
            "When do we arrive?",
            "What is our arrival date and time?",
            "On which day and at what time do we arrive?",
            "When do we land?",
            "When does our flight land?",
            "What time and date do we get in?",
            "When are we arriving?",
            "At what time do we arrive, and on which date?",
            "When will we get there?",
            "When is our arrival?",
            "Do you remember when we arrive?",
            "Tell me the date and time of our arrival.",
            "When did I say we'd arrive?",
            "What date and time does our flight get in?",
            "When are we due to land?",
            "When do we touch down?",
        ),
    ),
    "locker": Theme(
        (
            "The locker code is {}.",
            "My locker's code is {}.",
            "The combination for the locker is {}.",
        ),
        ("5527", "A9-31"),
        (
            "What is the locker code?",
            "What's the code for the locker?",
            "Which code opens the locker?",
            "What combination do I need for the locker?",
        ),
    ),
    "colour": Theme(
        (
            "My favourite color is {}.",
            "I love the colour {} most.",
            "{} is my favourite colour.",
        ),
        ("Orange", "Indigo"),
        (
            "What's my favourite colour?",
            "Which colour is my favourite?",
            "What colour do I like most?",
            "What is the colour I like best?",
        ),
    ),
    "cat": Theme(
        (
            "My cat is named {}.",
            "I have a cat called {}.",
            "My cat {} hates travelling.",
            "Our cat's name is {}.",
        ),
        ("Mowgli", "Tinka"),
        (
            "What is my cat's name?",
            "What's the cat called?",
            "What did I name my cat?",
            "What is the name of my cat?",
            "Do you know my cat's name?",
        ),
    ),
    "city": Theme(
        (
            "I grew up in {}.",
            "My home town is {}.",
        ),
        ("Gdansk", "Leeds"),
        (
            "Where did I grow up?",
            "Which city did I grow up in?",
        ),
    ),
    "secret": Theme(
        (
            "The secret ingredient is {}.",
            "Our secret ingredient is {}.",
        ),
        ("cardamom", "fennel"),
        (
            "What is the secret ingredient?",
            "Which ingredient is the secret one?",
            "What was the secret ingredient again?",
        ),
    ),
    "wed": Theme(
        (
            "Our wedding anniversary is on {}.",
            "We celebrate our anniversary on {}.",
        ),
        ("8 July", "2 March"),
        (
            "When is our anniversary?",
            "What's the date of our wedding anniversary?",
            "On which date is our anniversary?",
        ),
    ),
    "lead": Theme(
        (
            "The project lead is {}.",
            "{} leads the project.",
        ),
        ("Hanna Voss", "Teo Marin"),
        (
            "Who is the project lead?",
            "Who leads the project?",
            "What's the name of the project lead?",
        ),
    ),
    "db": Theme(
        (
            "The app uses {} as its database.",
            "Our database is {}.",
        ),
        ("CockroachDB", "MariaDB"),
        (
            "Which database do we use?",
            "What database does the app use?",
            "What is our database?",
        ),
    ),
    "where": Theme(
        (
            "The meeting is in {}.",
            "The meeting takes place in {}.",
        ),
        ("Utrecht", "Room Kepler"),
        (
            "Where is the meeting?",
            "Where does the meeting take place?",
        ),
    ),
    "host": Theme(
        (
            "The backup host is {}.",
            "Backups go to the host {}.",
        ),
        ("bkp-07.internal", "vault-3"),
        (
            "What is the backup host?",
            "Which host do the backups go to?",
            "What's the name of the backup host?",
        ),
    ),
    "tick": Theme(
        (
            "Our booking reference is {}.",
            "The booking number is {}.",
        ),
        ("QX7L2P", "88-2041"),
        (
            "What is our booking reference?",
            "What's the booking number?",
            "Which reference does our booking have?",
            "What was our reservation number?",
        ),
    ),
    "shoe": Theme(
        (
            "My shoe size is {}.",
            "I wear size {} shoes.",
        ),
        ("43", "38"),
        (
            "What is my shoe size?",
            "Which shoe size do I wear?",
            "What size shoes do I need?",
        ),
    ),
    "doc": Theme(
        (
            "My dentist appointment is on {}.",
            "I have a dentist appointment on {}.",
        ),
        ("Tuesday at 10:15", "19 June at 8 am"),
        (
            "When is my dentist appointment?",
            "What day is my dentist appointment?",
            "When do I have to be at the dentist?",
        ),
    ),
    "team": Theme(
        (
            "There are {} of us travelling.",
            "We are a group of {}.",
            "We're {} people.",
        ),
        ("six", "nine"),
        (
            "How many people are in our group?",
            "How many of us are travelling?",
            "How many people are we?",
            "How large is our group?",
        ),
    ),
    "instr": Theme(
        (
            "I play the {}.",
            "In my free time I play the {}.",
        ),
        ("cello", "banjo"),
        (
            "Which instrument do I play?",
            "What instrument do I play?",
            "What do I play?",
        ),
    ),
    "timeout": Theme(
        (
            "The request timeout is {} seconds.",
            "We set the request timeout to {} seconds.",
        ),
        ("45", "90"),
        (
            "What is the request timeout?",
            "What is the request timeout set to?",
            "How long is the request timeout?",
            "To how many seconds is the request timeout set?",
        ),
    ),
    "branch": Theme(
        (
            "The release branch is called {}.",
            "We release from the branch {}.",
        ),
        ("harvest-24", "rel/9.2"),
        (
            "What is the release branch called?",
            "Which branch do we release from?",
            "What's the name of the release branch?",
        ),
    ),
    "intolerance": Theme(
        (
            "Heads-up: {} are off the menu for me, I have a nasty allergy.",
            "I'm lactose intolerant, so no {} please.",
        ),
        ("peanuts", "milk"),
        (
            "What am I allergic to?",
            "Which food do I need to avoid?",
            "What can't I eat?",
        ),
    ),
    "money": Theme(
        (
            "Let's not go over {} for the lot.",
            "We've saved up {} for it.",
            "{} is all we have.",
            "There's {} in the travel fund.",
            "I'd like to stay below {} overall.",
            "The budget? {}, flights included.",
        ),
        ("1,500 pounds",),
        (
            "What is our budget?",
            "How much can we spend?",
            "How much money do we have for the trip?",
        ),
    ),
    "landing": Theme(
        (
            "Touchdown is planned for {}, 11:20.",
            "The ferry docks on {} at 11:20.",
            "We're due in on {} at 11:20.",
            "Our train pulls in on {} at 11:20.",
            "Landing: {}, 11:20.",
            "Flight TP1327 arrives {} 11:20.",
            "Pick-up at the airport on {} at 11:20, that's when we land.",
        ),
        ("5 May",),
        (
            "When do we arrive?",
            "What date and time do we arrive?",
        ),
    ),
    "introduction": Theme(
        (
            "{}'s the name.",
            "It's {} again.",
            "People call me {}.",
            "{} Holt, pleased to meet you.",
            "I go by {}.",
            "Best wishes, {}",
            "The name is {}.",
        ),
        ("Kasimir",),
        (
            "What is my name?",
            "Who am I?",
        ),
    ),
}

SINGLE = (
    ("The alarm code is 7712.", "7712", "What is the alarm code?"),
    ("We picked Tuesday for the release.", "Tuesday", "Which day did we pick for the release?"),
    ("The customer is called Nordwind Logistics.", "Nordwind", "What is the customer called?"),
    ("The invoice number is RE-5531.", "RE-5531", "What's the invoice number?"),
    ("The contract runs until 31 January.", "31 January", "Until when does the contract run?"),
    ("My son's name is Emil.", "Emil", "What is my son's name?"),
    ("My daughter turns 7 in June.", "7", "How old will my daughter be in June?"),
    ("We fly with Condor.", "Condor", "Which airline do we fly with?"),
    ("The gate is B42.", "B42", "Which gate is it?"),
    ("Our table is booked for 20:15.", "20:15", "For what time is our table booked?"),
    ("My licence plate is K-AB 123.", "K-AB 123", "What is my licence plate?"),
    ("The API key rotates every 30 days.", "30 days", "How often does the API key rotate?"),
    ("Max upload size is 25 MB.", "25 MB", "What is the maximum upload size?"),
    ("The cron job runs at 02:30.", "02:30", "When does the cron job run?"),
    ("We decided to use Redis for caching.", "Redis", "What did we decide to use for caching?"),
    ("The bug is tracked as PAY-2214.", "PAY-2214", "Under which ticket is the bug tracked?"),
    ("The replica lag was 340 ms.", "340 ms", "What was the replica lag?"),
    ("The staging database is called st_orders.", "st_orders", "What is the staging database called?"),
    ("My manager is Ines Albrecht.", "Ines", "Who is my manager?"),
    ("My blood type is AB negative.", "AB negative", "What is my blood type?"),
    ("We're meeting at the north entrance.", "north entrance", "Where are we meeting?"),
    ("The tour starts at 9:45 on Thursday.", "9:45", "When does the tour start?"),
    ("I drive a Skoda.", "Skoda", "What car do I drive?"),
    ("My email is kas@holt.example.", "kas@holt.example", "What is my email address?"),
    ("The door opens with 0815#.", "0815", "What code opens the door?"),
    ("The deposit is 300 euros.", "300", "How much is the deposit?"),
    ("Our anniversary gift idea is a kite.", "kite", "What is our anniversary gift idea?"),
    ("The flat is on the fourth floor.", "fourth", "Which floor is the flat on?"),
)

CHAT = (
    "What can you tell me about the local food?",
    "Is the metro safe at night?",
    "We both like long walks and good coffee.",
    "How far is the beach from the centre?",
    "Which museum would you visit first?",
    "Should we rent bikes for a day?",
    "I read that the market is lively on Saturdays.",
    "What is a good souvenir?",
    "Do we need to reserve a table for dinner on weekends?",
    "My feet hurt after yesterday's hike.",
    "Where do locals have breakfast?",
    "Can you explain how the tickets work?",
    "Is there a day trip you would recommend?",
    "What do people drink there?",
    "How many days would you spend in the old town?",
    "We might skip the castle.",
    "Does it rain much in October?",
    "Tell me a fun fact about the harbour.",
    "Which neighbourhood has the best view?",
    "Okay, that's a plan.",
)


def answer(said: list[str], question: str) -> str:
    messages: list[dict[str, Any]] = []
    for text in said:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "Sure, gladly."}]
    return MODEL.draft(
        {"max_tokens": 900, "messages": [*messages, {"role": "user", "content": question}]}, None, 1
    ).text


ASKED = [
    pytest.param(name, question, id=f"{name}: {question}")
    for name, one in THEMES.items()
    for question in one.questions
]


@pytest.mark.parametrize(("name", "question"), ASKED)
def test_every_way_to_ask_finds_every_way_to_say_it(name: str, question: str) -> None:
    theme = THEMES[name]
    for number, pattern in enumerate(theme.said):
        value = theme.values[number % len(theme.values)]
        assert value in answer([*CHAT[:8], pattern.format(value), *CHAT[8:]], question)


@pytest.mark.parametrize(("name", "question"), ASKED)
def test_what_nobody_said_is_not_known(name: str, question: str) -> None:
    assert "I don't know" in answer(list(CHAT), question)


@pytest.mark.parametrize(("said", "value", "question"), SINGLE)
def test_one_thing_among_many_is_found_and_missed(said: str, value: str, question: str) -> None:
    others = [one for one, _, _ in SINGLE if one != said]
    assert value in answer([*others[:14], said, *others[14:], *CHAT], question)
    assert "I don't know" in answer([*others, *CHAT], question)


@pytest.mark.parametrize(
    "text",
    [*CHAT, *(one.said[0].format(one.values[0]) for one in THEMES.values()), *(one for one, _, _ in SINGLE)],
)
def test_none_of_the_statements_is_a_question(text: str) -> None:
    assert asked(text) is None
