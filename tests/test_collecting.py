"""The garbage collector is held back for as long as asked, and never for good."""

from __future__ import annotations

import gc

import pytest

from memdash.collecting import uncollected


def test_it_is_held_back_and_let_go_again() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_within_another_hold_the_outer_one_decides() -> None:
    with uncollected():
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_page_that_breaks_off_lets_go_too() -> None:
    @uncollected()
    def page() -> None:
        raise RuntimeError("drawn once more")

    for _ in range(2):  # a page is drawn again and again
        with pytest.raises(RuntimeError):
            page()
        assert gc.isenabled()
