"""Plausible chat that says nothing: replies to ordinary turns, with no number, name or value that could answer a question later."""

from __future__ import annotations

from random import Random
from typing import Final

SHORTEST, LONGEST = 50, 74
"""The range a reply's length is drawn from, in words, where nobody asks for less."""

_OPENERS: Final = (
    "That sounds like a sensible next step, and it fits well with the rest.",
    "Good thinking; that is a point many would only notice much later.",
    "Happy to help with that, and it is simpler than it may look.",
    "There are a few ways to go about this, and most of them work.",
    "I see what you mean, and I would lean the same way.",
    "That makes sense to me, with one small caveat worth keeping in view.",
    "Thanks for the extra context, it makes the picture a good deal clearer.",
    "Nothing speaks against it, as long as there is a little slack.",
    "It depends a little on taste, but one option stands out for me.",
    "Fair question, and the honest reply is that both sides have merit.",
    "Understood, and I will keep that in view as we carry on.",
    "Right, let us look at this calmly and one piece after another.",
    "That is well put, and it narrows the choice down nicely.",
    "Sure, here is how I would approach it if it were up to me.",
    "You are on a good track, and only small things remain open.",
    "Let me sketch the simplest form of it and then add to that.",
)

_BODIES: Final = (
    "I would start with the simplest option and only add effort where it clearly pays off.",
    "It helps to separate what is fixed from what can still move.",
    "A short walk through the alternatives usually shows which one is robust.",
    "Keeping things flexible for as long as possible tends to be the calmer choice.",
    "If something turns out differently, we can adjust without losing much.",
    "Small steps with a look around after each of them keep surprises small as well.",
    "The quieter alternative is often the more pleasant one in the end.",
    "It is wise to allow some slack between the parts, so nobody has to rush.",
    "Looking at it from the other side, the downside seems small and easy to undo.",
    "A rough outline is enough for the moment, and the finer points can follow.",
    "Most of the difficulty lies in the preparation, and the rest follows almost by itself.",
    "I would not overthink it, since either way ends in a decent outcome.",
    "The usual trap is to pack in too much and then enjoy too little of it.",
    "Where the options look alike, whichever is easier to reverse comes out ahead.",
    "A little patience at the beginning spares a lot of hurry towards the end.",
    "It pays to look at the obvious explanation before the clever one.",
    "Writing the open points down, even roughly, makes them much easier to sort.",
    "If it feels complicated, that is normally a sign that one piece can be dropped.",
    "Trying it out in a small way teaches more than another round of thinking.",
    "The mood on the spot matters more than any guidebook wisdom.",
    "Whatever comes at the beginning tends to shape the rest, so it deserves some care.",
    "I would keep a fallback in mind without spending much effort on it.",
    "Often the less obvious corner turns out to be the one worth lingering in.",
    "There is no harm in taking the slower road when the scenery is pleasant.",
    "Another pair of eyes would be helpful, but it is not strictly necessary.",
    "The pieces fit together better once the largest of them is settled.",
    "It would surprise me if this turned out to be a real obstacle.",
    "Comfort counts for something too, and it is easy to underestimate.",
    "Rather than guessing, I would look closely at what has changed around it.",
    "Good preparation shows mainly in how relaxed everything feels afterwards.",
    "Once the groundwork is solid, the remaining choices are mostly a matter of style.",
    "Mixing something lively with something quiet gives the whole a natural rhythm.",
    "It is reasonable to treat this as an experiment and to learn from it.",
    "The gain is modest but steady, which is usually what one wants.",
    "I would rather do fewer parts well than many of them in passing.",
    "Doing it while others still sleep usually means fewer crowds and clearer heads.",
    "Whichever way you turn it, the effort stays within sensible bounds.",
    "Keep an eye on how it develops, and react only if it really drifts.",
    "Simple tools, used with some care, are entirely sufficient for this.",
    "Curiosity is a good guide here, and a wrong turn rarely does damage.",
    "Nobody will mind which part comes before the other, so pick whatever feels natural.",
    "With a bit of luck the weather plays along, and otherwise indoors is lovely as well.",
    "What looks like a detour frequently turns into the highlight.",
    "I find it useful to picture the ideal outcome and to work backwards from there.",
    "A clear head and a tidy overview are worth more than haste.",
    "There may be quirks that only become visible once you are in the middle of it.",
    "Everything else can wait until this part feels right.",
    "That keeps the effort balanced and still allows for something spontaneous.",
)

_CLOSERS: Final = (
    "Tell me which direction appeals to you, and we continue from there.",
    "Shall I go a little deeper into any of these thoughts?",
    "I am glad to refine this whenever you like.",
    "Let me hear how it feels once you have slept on it.",
    "We can come back to it any time, there is no pressure.",
    "If you like, I can compare the alternatives in more depth.",
    "Whenever you are ready, we can look at the next part.",
    "I hope that helps you to move forward with a good feeling.",
    "Just say the word and I will sort it into a neat outline.",
    "Does that match what you had in the back of your head?",
)

_SHORT: Final = ("Understood, let us carry on.", "That sounds sensible.", "Gladly.")

_UNKNOWN: Final = (
    "I don't know; I cannot see that anywhere in what I have in front of me.",
    "I don't know. Nothing that I can see here says so.",
    "Sorry, I don't know that; it does not appear in anything visible to me.",
)

_BEFORE_CALLS: Final = ("Let me look into that.", "I will check.", "One moment, I am having a look.")


def ordinary(random: Random, limit: int | None = None) -> str:
    """Return a reply of seeded length, never longer than ``limit`` words."""
    target = random.randint(SHORTEST, LONGEST)
    most = min(80, limit) if limit is not None else 80
    target = min(target, most)
    opener, closer = random.choice(_OPENERS), random.choice(_CLOSERS)
    bodies = random.sample(_BODIES, 10)
    chosen = [opener]
    length = _count(opener)
    if length > most:
        fitting = [one for one in _SHORT if _count(one) <= most]
        return random.choice(fitting) if fitting else _SHORT[-1]
    for body in bodies:
        if length + _count(closer) >= target:
            break
        if length + _count(body) <= most:
            chosen.append(body)
            length += _count(body)
    if length + _count(closer) <= most:
        chosen.append(closer)
    return " ".join(chosen)


def unknown(random: Random) -> str:
    """Return a sentence that says the answer is not known, and holds no value."""
    return random.choice(_UNKNOWN)


def before_calls(random: Random) -> str:
    """Return what the model says before it calls a tool of its own accord."""
    return random.choice(_BEFORE_CALLS)


def _count(text: str) -> int:
    return len(text.split())
