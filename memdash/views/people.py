"""Who looks at a page: the person that Streamlit's own OpenID Connect sign-in has let in, where one is configured."""

from __future__ import annotations

import streamlit as st

_NAMES = ("email", "preferred_username", "name", "sub")
"""The claims of an identity token that can name its person, the most telling first."""


def who() -> str | None:
    """Return who is signed in on this page: an e-mail address, else a name. None where nobody is, or no sign-in is configured."""
    claims = st.user.to_dict()
    if not claims.get("is_logged_in"):
        return None
    return next((str(claims[name]) for name in _NAMES if claims.get(name)), None)
