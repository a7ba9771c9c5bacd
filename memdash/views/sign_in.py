"""What somebody sees who has not signed in yet, where this instance asks for it."""

from __future__ import annotations

import streamlit as st

from memdash.access import Access
from memdash.views.components import plain


def sign_in(rules: Access) -> None:
    """Draw a button for each identity provider, and nothing of what is stored here."""
    st.space("large")
    with st.container(border=True, horizontal_alignment="center", gap="small", key="sign_in"):
        st.markdown("#### :material/lock: Sign in to memdash", text_alignment="center")
        st.caption(
            "Comparisons on this instance are for people who sign in. A link that brought you here opens once you have.",
            text_alignment="center",
        )
        for provider in rules.providers:
            name = "Sign in" if provider is None else plain(f"Sign in with {provider}")
            args = () if provider is None else (provider,)
            st.button(
                name,
                type="primary",
                icon=":material/login:",
                key=f"sign_in.{provider or ''}",
                on_click=st.login,
                args=args,
            )
