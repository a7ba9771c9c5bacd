"""The input that fits a declared parameter of a strategy, and what is written beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from memdash.strategies import Parameter
from memdash.views.components import plain


def caption(one: Parameter) -> str:
    """Name a parameter with its unit."""
    name = one.name.replace("_", " ")
    return f"{name}, {one.unit}" if one.unit and one.unit != name else name


def parameter_input(key: str, one: Parameter, given: Mapping[str, Any], hidden: bool = False) -> Any:
    """Draw the input that fits a declared parameter and return its value."""
    value = given[one.name]
    label = caption(one)  # an input's accessible name is its label as it stands, without Markdown
    shared: dict[str, Any] = {
        "key": key + one.name,
        "help": None if hidden else plain(one.help),
        "label_visibility": "collapsed" if hidden else "visible",
    }
    if one.choices:
        options = [*([None] if one.optional else []), *one.choices]
        return st.selectbox(
            label,
            options,
            index=options.index(value),
            format_func=lambda option: "automatic" if option is None else option.replace("_", " "),
            width=120 if hidden else "stretch",
            **shared,
        )
    if one.type is bool:
        return st.toggle(
            label, value, key=shared["key"], help=shared["help"], label_visibility=shared["label_visibility"]
        )
    if one.type is str:
        text = st.text_input(label, value or "", placeholder="default" if one.optional else None, **shared)
        return (text or None) if one.optional else text
    return _number(label, one, value, 92 if hidden else "stretch", shared)


def _number(label: str, one: Parameter, value: Any, width: Any, shared: dict[str, Any]) -> Any:
    kind: Any = one.type
    bounds: dict[str, Any] = {
        "min_value": None if one.minimum is None else kind(one.minimum),
        "max_value": None if one.maximum is None else kind(one.maximum),
        "value": None if value is None else kind(value),
        "step": _step(value, one),
    }
    return st.number_input(
        label,
        format="%d" if kind is int else "%.2f",
        placeholder="automatic" if one.optional else None,
        width=width,
        **bounds,
        **shared,
    )


def _step(value: Any, one: Parameter) -> Any:
    """A step that suits the size of the number: 1 for exchanges, 500 for thousands of tokens."""
    if one.type is float:
        return 0.05
    size = value or one.default or 1
    if size >= 1_000:
        return 500
    return 10 if size >= 50 else 1
