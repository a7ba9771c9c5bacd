"""Words that mean the same thing: the hand-written part of how the pretend model reads.

Every word is reduced to a *unit*: a concept (upper case) where one is listed here, else its stem. Concepts come in three kinds:
*attributes* are what people ask for (a budget, an arrival), *entities* are what has it (a hotel, a server, a sister), and *soft*
ones say little (trip, plan). A question is only answered by a statement that has its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ATTRIBUTES: Final[Mapping[str, str]] = {
    "BUDGET": "budget budgets budgeted allowance kitty",
    "ALLERGY": "allergy allergies allergic allergen allergens intolerant intolerance anaphylaxis anaphylactic epipen",
    "DIET": "vegetarian vegan coeliac celiac halal kosher pescatarian diet dietary",
    "ARRIVAL": "arrive arrives arriving arrived arrival arrivals land lands landing landed touchdown",
    "DEPARTURE": "depart departs departing departed departure leave leaves leaving takeoff",
    "NAME": "name names named called surname nickname",
    "DEADLINE": "deadline deadlines cutoff cut-off",
    "BIRTHDAY": "birthday birthdays birthdate birth born",
    "ANNIVERSARY": "anniversary",
    "AGE": "age aged",
    "PHONE": "phone telephone mobile cellphone landline",
    "EMAIL": "email e-mail mailbox",
    "HOME": "address street reside resident",
    "JOB": "job profession occupation employed career employer",
    "COLOUR": "colour colours color colors coloured colored",
    "FAVOURITE": "favourite favorite favourites favorites favoured prefer prefers preferred preference fond",
    "PASSWORD": "password passphrase passcode codeword code-word keyword watchword pin combination login credentials",
    "PORT": "port ports",
    "VERSION": "version versions",
    "ERROR": "error errors exception exceptions failure failures fault faults crash crashed crashing fail fails failed "
    "failing traceback fatal panic",
    "CAUSE": "cause causes caused reason reasons culprit",
    "SIZE": "size sizes",
    "DOSE": "dose dosage",
    "SALARY": "salary wage",
    "DISCOUNT": "discount rebate",
    "LANGUAGE": "language languages",
}
"""What is asked for. A word listed here always becomes its concept."""

ENTITIES: Final[Mapping[str, str]] = {
    "WIFI": "wifi wi-fi wlan wireless",
    "DOOR": "door",
    "LOCKER": "locker",
    "SAFE": "safe",
    "GATE": "gate",
    "ALARM": "alarm",
    "BOOKING": "booking bookings reservation reservations",
    "ORDER": "order orders purchase",
    "INVOICE": "invoice invoices bill",
    "TICKET": "ticket tickets",
    "SERVER": "server servers host hosts hostname machine box vm backend node",
    "DATABASE": "database databases db",
    "SERVICE": "service services microservice api",
    "DEPLOY": "deploy deploys deployed deployment deployments rollout rollouts",
    "CUSTOMER": "customer customers",
    "ROOM": "room rooms",
    "SEAT": "seat seats",
    "PLATFORM": "platform",
    "TERMINAL": "terminal",
    "FLIGHT": "flight flights plane aircraft aeroplane airplane",
    "TRAIN": "train trains rail",
    "BUS": "bus buses coach",
    "FERRY": "ferry",
    "CAR": "car cars vehicle",
    "BIKE": "bike bicycle",
    "HOTEL": "hotel hostel guesthouse accommodation lodging lodgings inn",
    "FLAT": "apartment flat",
    "RESTAURANT": "restaurant restaurants",
    "MUSEUM": "museum museums",
    "DOG": "dog dogs puppy",
    "CAT": "cat cats kitten",
    "PET": "pet pets",
    "HORSE": "horse",
    "BIRD": "bird parrot budgie",
    "MEETING": "meeting meetings meet meets",
    "APPOINTMENT": "appointment",
    "DENTIST": "dentist",
    "DOCTOR": "doctor",
    "STAGING": "staging stage",
    "PRODUCTION": "production prod",
    "DEVELOPMENT": "development dev",
    "TEST": "testing test",
    "BREAKFAST": "breakfast",
    "LUNCH": "lunch",
    "DINNER": "dinner supper",
    "FIRST": "first 1st",
    "SECOND": "second 2nd",
    "LAST": "last final",
    "RETURN": "return returning",
    "OUTBOUND": "outbound outward",
    "SHOE": "shoe shoes",
}
"""What has an attribute. A question that names one is not answered by a statement about another."""

PEOPLE: Final[Mapping[str, str]] = {
    "WIFE": "wife",
    "HUSBAND": "husband",
    "PARTNER": "partner spouse girlfriend boyfriend fiance fiancee fiancé fiancée",
    "SISTER": "sister sisters",
    "BROTHER": "brother brothers",
    "MOTHER": "mother mum mom mama",
    "FATHER": "father dad papa",
    "SON": "son sons",
    "DAUGHTER": "daughter daughters",
    "CHILD": "child children kid kids baby toddler",
    "PARENT": "parents",
    "FRIEND": "friend friends mate buddy flatmate roommate",
    "COLLEAGUE": "colleague colleagues coworker co-worker teammate",
    "BOSS": "boss manager supervisor",
    "NEIGHBOUR": "neighbour neighbor neighbours neighbors",
    "UNCLE": "uncle",
    "AUNT": "aunt auntie",
    "COUSIN": "cousin cousins",
    "NIECE": "niece",
    "NEPHEW": "nephew",
    "GRANDMOTHER": "grandmother grandma granny nan",
    "GRANDFATHER": "grandfather grandpa grandad",
    "GUEST": "guest guests",
}
"""Somebody other than the speaker: "my sister is allergic" does not say what I am allergic to."""

SOFT: Final[Mapping[str, str]] = {
    "TRIP": "trip trips holiday holidays vacation getaway journey travel travels travelling traveling excursion",
    "PROJECT": "project work task",
    "PLAN": "plan plans planned planning",
    "TOTAL": "total overall altogether whole entire",
    "COST": "cost costs costing price prices priced pay pays paying paid fee fees charge charges spend spends spending spent "
    "expense expenses expenditure",
    "MONEY": "money cash funds euro euros eur dollar dollars usd pound pounds gbp",
    "FOOD": "food foods eat eats eating eaten meal meals dish dishes menu ingredient ingredients",
    "CODE": "code codes",
    "IDENT": "number numbers id identifier reference ref",
    "DAY": "day date dates",
    "TIME": "time hour clock",
    "LOG": "log logs trace output result results report reported reports check lookup response",
    "LIMIT": "maximum max cap ceiling limit most",
    "SYSTEM": "app application system software product website site tool program team company",
    "GROUP": "people party us",
    "PERSON": "person somebody someone user",
    "PLACE": "place location spot",
    "AIRPORT": "airport",
    "WANT": "want wanted need needs needed like likes liked love loves wish",
    "HAVE": "set sets setting use uses used using run runs running ran book booked take takes took give gave given get gets got "
    "getting go goes going went come comes came coming make made keep kept put bring find found know known stay staying "
    "listen listens listening do done be "
    "open opens opened opening unlock unlocks hold holds held contain contains build builds built serve serves served "
    "write writes wrote start starts started begin begins end ends connect connects load loads store stores stored belong "
    "belongs handle handles manage manages carry carries support supports cover covers apply trigger triggers triggered fix fixes fixed "
    "happen happens happened own owns look looks wear buy buys bought work works worked sit sits stand stands help helps",
    "SAY": "say said says tell told tells mention mentioned remember recall remind agree agreed decide decided choose chose "
    "chosen pick picked settle settled state stated note noted ask asked show shown shows return returned share shared "
    "introduce introduced warn warned speak talk talking",
    "NOW": "now currently current latest new newest today still again actually moment",
    "GENERAL": "thing things exact exactly main kind sort type detail details information info value answer question "
    "conversation chat please earlier previously please before already so far ever supposed personal",
}
"""Words too general to tell one statement from another."""

SOFT_WEIGHTS: Final[Mapping[str, float]] = {
    "SAY": 0.0,
    "GENERAL": 0.0,
    "NOW": 0.0,
    "PERSON": 0.0,
    "HAVE": 0.1,
    "TOTAL": 0.1,
    "LOG": 0.15,
    "WANT": 0.15,
}
"""What those of them weigh that are not worth the usual 0.3."""

RELATED: Final[Mapping[frozenset[str], float]] = {
    frozenset(pair.split()): weight
    for pair, weight in {
        "PASSWORD CODE": 1.0,
        "PASSWORD IDENT": 0.3,
        "CODE IDENT": 0.8,
        "PET DOG": 0.9,
        "PET CAT": 0.9,
        "PET HORSE": 0.9,
        "PET BIRD": 0.9,
        "ALLERGY DIET": 0.5,
        "BOOKING TICKET": 0.5,
        "HOTEL FLAT": 0.55,
        "SERVER SERVICE": 0.7,
        "PHONE IDENT": 0.3,
        "MEETING ROOM": 0.3,
        "HOME FLAT": 0.3,
        "DENTIST APPOINTMENT": 0.6,
        "DOCTOR APPOINTMENT": 0.6,
        "MEETING APPOINTMENT": 0.5,
        "DEPARTURE RETURN": 0.6,
        "FLIGHT AIRPORT": 0.6,
        "DEADLINE DAY": 0.2,
    }.items()
}
"""How far one concept stands in for another; what is not listed does not."""

IMPLIED: Final[Mapping[str, frozenset[str]]] = {
    concept: _set(words)
    for concept, words in {
        "SELF": "NAME HOME PERSON HAVE FIRST LAST",
        "BUDGET": "COST MONEY TOTAL LIMIT TRIP PLAN GROUP HAVE WANT amount upper big large high",
        "ALLERGY": "FOOD WANT HAVE DEPARTURE RESTAURANT DIET health medical suffer react avoid cook kitchen order",
        "DIET": "FOOD",
        "ARRIVAL": "FLIGHT AIRPORT DAY TIME TRIP HAVE due city town destination reach touch",
        "DEPARTURE": "FLIGHT AIRPORT DAY TIME TRIP",
        "NAME": "full PERSON",
        "DEADLINE": "DAY TIME due delivery submission finish deliver ready complete submit hand ship",
        "PORT": "CODE IDENT tcp network reach listen",
        "PHONE": "IDENT SELF contact call reach ring text",
        "EMAIL": "HOME contact",
        "ERROR": "IDENT LOG message",
        "VERSION": "IDENT release build",
        "BIRTHDAY": "DAY",
        "HOME": "PLACE live home city town",
        "CAUSE": "ERROR root outage incident problem behind",
        "AGE": "old year",
        "HEADCOUNT": "GROUP PERSON TRIP SIZE travel big large",
        "COLOUR": "shade",
        "ORIGIN": "PLACE HOME city town grow grew",
        "PASSWORD": "CODE",
        "LANGUAGE": "CODE written write program code",
        "WIFI": "network internet",
        "JOB": "PROJECT HOME live",
        "HOTEL": "PLACE",
        "SEAT": "IDENT",
        "ROOM": "IDENT",
        "ORDER": "IDENT",
        "BOOKING": "IDENT CODE",
        "INVOICE": "IDENT",
        "TICKET": "IDENT",
    }.items()
}
"""What a concept brings along anyway, as concepts and words: a question need not find it said beside the concept."""

_EXCLUSIVE: Final = (
    "ARRIVAL DEPARTURE",
    "DOG CAT HORSE BIRD",
    "STAGING PRODUCTION DEVELOPMENT TEST",
    "BREAKFAST LUNCH DINNER",
    "FLIGHT TRAIN BUS FERRY CAR BIKE",
    "HOTEL RESTAURANT MUSEUM",
    "FIRST SECOND LAST",
    "RETURN OUTBOUND",
    "WIFI DOOR LOCKER SAFE ALARM GATE",
    "PHONE EMAIL HOME",
    "BIRTHDAY ANNIVERSARY",
    "DENTIST DOCTOR",
    "ORDER INVOICE TICKET BOOKING",
    "SEAT GATE PLATFORM TERMINAL ROOM",
    "SERVER DATABASE",
    "monday tuesday wednesday thursday friday saturday sunday",
    " ".join(PEOPLE),
)
RIVALS: Final[Mapping[str, frozenset[str]]] = {
    one: frozenset(line.split()) - {one} for line in _EXCLUSIVE for one in line.split()
}
"""Concepts of which a statement is about one or the other."""

STOP: Final = _set(
    "a an the and or but if then than that this these those there here of in on at to for from by with without about into onto over under "
    "as is are was were be been being am do does did doing have has had having will would can could shall should may might must i me my mine "
    "myself we us our ours you your yours he him his she her hers it its they them their what which who whom whose when where how why not no "
    "nor only just very too also both each any some such own same once more all s t d ll re ve m don didn doesn isn aren wasn weren won "
    "can't cannot don't didn't doesn't isn't aren't wasn't weren't won't mustn't shouldn't i'm i've i'd i'll we're we've we'd we'll you're "
    "you've it's that's what's who's where's when's how's there's let's he's she's they're hi hello hey thanks thank ok okay yes please oh "
    "well because while up down out off again really quite much many long one"
)

NO_NAMES: Final = _set(
    "german french portuguese spanish italian english british irish scottish welsh american canadian australian dutch belgian swiss "
    "austrian polish czech danish swedish norwegian finnish greek turkish indian chinese japanese korean brazilian mexican european "
    "vegan vegetarian coeliac celiac catholic muslim jewish over right and we come from not the"
)
"""What may follow "I'm" in capitals and is no name."""
