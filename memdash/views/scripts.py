"""The Scripts page: read a script with its facts and probes, check one of your own, start a comparison with it."""

from __future__ import annotations

import streamlit as st

from memdash.views.components import empty, plain
from memdash.views.script_reader import read_script, summary
from memdash.views.script_upload import upload
from memdash.views.state import broken_scripts, scripts_at_hand

st.header("Scripts", anchor=False)
st.caption(
    "A script is one side of a conversation, with facts planted in it and questions that ask for them later."
)

left, right = st.columns([1, 2.3], gap="large")
with left:
    upload()
    scripts = scripts_at_hand()  # read after the upload, which may have added one
    ids = list(scripts)
    wanted = st.query_params.get("script")
    if wanted is not None and wanted not in scripts:
        st.caption(f":orange[:material/link_off: There is no script {plain(repr(wanted))} here.]")
    if "script" not in st.session_state and wanted in scripts:
        st.session_state["script"] = wanted
    if scripts:
        chosen = st.radio(
            "Script",
            ids,
            format_func=lambda one: plain(scripts[one].title),
            captions=[plain(summary(script)) for script in scripts.values()],
            key="script",
            label_visibility="collapsed",
        )
        if chosen != (wanted or ids[0]):
            st.query_params["script"] = chosen
with right:
    if not scripts:
        empty("No scripts", "Upload a YAML script on the left, or set MEMDASH_SCRIPTS to a folder of them.")
    elif chosen in scripts:
        read_script(scripts[chosen])
for problem in broken_scripts():
    st.caption(f":orange[:material/warning: {plain(problem)}]")
