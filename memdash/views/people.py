"""Who looks at a page and what they may do: the person that Streamlit's own OpenID Connect sign-in has let in, if any.

The rules are :mod:`memdash.access`'s; here they meet the session of a browser. A person's own key lives in that session's memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import streamlit as st

from memdash import answerer
from memdash.access import Access, Act, Person, Role
from memdash.errors import InputError
from memdash.launch import Key

_OWN_KEY: Final = "own_key"


def access() -> Access:
    """Return the rules of this instance, as ``.streamlit/secrets.toml`` gives them.

    Raises :class:`InputError` where they cannot be read: a slip in the file must not let anybody in.
    """
    return Access.read(_secrets())


def _secrets() -> Mapping[str, Any]:
    secrets = st.secrets
    if secrets.load_if_toml_exists():
        return secrets
    files = [str(file) for file in st.get_option("secrets.files")]
    unread = [file for file in files if Path(file).is_file()]
    if unread:
        raise InputError(f"{unread[0]}: cannot be read as TOML; correct it, for it says who may do what here")
    return {}


def person() -> Person | None:
    """Return who is signed in on this page; None where nobody is, or no sign-in is configured."""
    return Person.of(st.user.to_dict())


def who() -> str | None:
    """Return who is signed in on this page: an e-mail address, else a name. None where nobody is, or no sign-in is configured."""
    someone = person()
    return None if someone is None else someone.name


def role() -> Role:
    """Return what the person on this page is."""
    return access().role(person())


def may(act: Act) -> bool:
    """Return whether the person on this page may do something; what does it checks again, with :func:`require`."""
    return access().may(person(), act)


def require(act: Act) -> None:
    """Raise :class:`memdash.errors.NotAllowed` where the person on this page may not do something."""
    access().check(person(), act)


# -- keys ----------------------------------------------------------------------------------------------------------------


def own_key() -> Key | None:
    """Return the key that was typed into this session, if any."""
    key = st.session_state.get(_OWN_KEY)
    return key if isinstance(key, Key) else None


def keep_key(key: Key) -> None:
    """Keep a key in this session's memory, and nowhere else."""
    st.session_state[_OWN_KEY] = key


def forget_key() -> None:
    """Forget this session's key; a run that was started with it holds it until it ends."""
    st.session_state.pop(_OWN_KEY, None)


def has_key() -> bool:
    """Return whether live requests of this session have a key: the server's or one of their own."""
    return own_key() is not None or answerer.has_key()


def check_key(what: str) -> None:
    """Raise :class:`InputError` where ``what`` (for instance "a confirmation") needs a key and this session has none."""
    if own_key() is None:
        answerer.check_key(what)
