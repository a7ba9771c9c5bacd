"""How long conversations are: a distribution of their turns, from quantiles or from a CSV file.

Nothing is drawn at random: a distribution is the share of conversations of each length, worked out exactly.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memdash import numbers
from memdash.errors import InputError

MAX_TURNS = 100_000
"""Longest conversation of a distribution: ten times the longest script."""
MAX_COUNT = 1_000_000_000
"""Most conversations of one row of a CSV file."""
MAX_BYTES = 5_000_000
"""Largest CSV file: about a million lengths."""

_EXAMPLE = "p50=12,p90=40,p100=120"
_QUANTILE = re.compile(r"\s*[pP]([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*=\s*([0-9]{1,9})\s*")
_ROUNDING = 1e-9
"""Shares nearer than this are the same: they differ by the order of a sum."""


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """The share of conversations of each length.

    ``turns`` are the lengths that occur, ascending, and ``shares`` their shares, which add up to 1. ``source`` is what the
    distribution was made from, in words: the quantiles as typed, or the file's name.
    """

    turns: NDArray[np.int64]
    shares: NDArray[np.float64]
    source: str

    @property
    def mean(self) -> float:
        """The mean length in turns."""
        return float(self.turns @ self.shares)

    @property
    def longest(self) -> int:
        """The longest conversation in turns."""
        return int(self.turns[-1])

    def quantile(self, share: float) -> int:
        """Return the smallest length that at least ``share`` of the conversations do not exceed."""
        place = int(np.searchsorted(np.cumsum(self.shares), share - _ROUNDING))
        return int(self.turns[min(place, self.turns.size - 1)])

    def share_above(self, turns: int) -> float:
        """Return the share of conversations that are longer than ``turns``."""
        above = self.turns > turns
        return 1.0 if above.all() else float(self.shares[above].sum())


def read_lengths(text: str) -> Lengths:
    """Return the distribution that a person typed: quantiles (``p50=12,p90=40,p100=120``) or the path of a CSV file.

    Raises :class:`InputError` where it is neither, or cannot be used.
    """
    if all(_QUANTILE.fullmatch(part) for part in text.split(",")):
        return from_quantiles(text)
    path = Path(text.strip())
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(
                f"{path}: larger than {MAX_BYTES // 1_000_000} MB; give turns,count rows instead"
            )
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        if "=" in text:  # no such file: what is wrong with the quantiles is said
            return from_quantiles(text)
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"lengths: {text!r} is neither quantiles such as {_EXAMPLE} nor a CSV file that can be read ({reason})"
        ) from None
    return from_csv(content, str(path))


def from_quantiles(text: str) -> Lengths:
    """Return the distribution with these quantiles, in a straight line between them.

    ``p90=40`` says that 90 % of the conversations have at most 40 turns. The longest has to be given (``p100``); the shortest
    is one turn unless ``p0`` says otherwise. The line's lengths are rounded to whole turns. Raises :class:`InputError`.
    """
    points: dict[float, int] = {}
    for part in text.split(","):
        match = _QUANTILE.fullmatch(part)
        if match is None:
            raise InputError(
                f"lengths: {part.strip()!r} is no quantile; write them as p90=40 (whole turns), for instance {_EXAMPLE}"
            )
        level, turns = float(match[1]), int(match[2])
        name = _quantile_name(level)
        if level > 100:
            raise InputError(f"lengths: {name} is above p100, which is the longest conversation")
        if level in points:
            raise InputError(f"lengths: {name} stands twice")
        points[level] = _bounded(turns, f"lengths: {name}")
    if 100.0 not in points:
        raise InputError(f"lengths: say how long the longest conversation is (p100), for instance {_EXAMPLE}")
    levels = sorted({0.0: 1} | points)
    turns_at = [points.get(level, 1) for level in levels]
    for (low, before), (high, after) in zip(
        zip(levels, turns_at, strict=True), zip(levels[1:], turns_at[1:], strict=True), strict=False
    ):
        if after < before:
            raise InputError(
                f"lengths: {_quantile_name(high)}={after} is below {_quantile_name(low)}={before}; a higher quantile is never "
                "shorter"
            )
    lengths = np.arange(turns_at[0], turns_at[-1] + 1, dtype=np.int64)
    # A length takes the share of the line that rounds to it. No edge falls on a given length, so steps in the line do no harm.
    edges = np.append(lengths - 0.5, lengths[-1] + 0.5)
    shares = np.diff(np.interp(edges, turns_at, np.array(levels) / 100.0))
    return _distribution(lengths, shares, ",".join(part.strip() for part in text.split(",")))


def from_csv(content: bytes, name: str) -> Lengths:
    """Return the distribution in a CSV file: one length a line, or ``turns,count`` columns; a line of headings may come first.

    ``name`` is what messages call it. Raises :class:`InputError` with the line.
    """
    if len(content) > MAX_BYTES:
        raise InputError(f"{name}: larger than {MAX_BYTES // 1_000_000} MB; give turns,count rows instead")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not UTF-8 text (byte {error.start})") from None
    counts: Counter[int] = Counter()
    reader = csv.reader(text.splitlines())
    columns = 0
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            where = f"{name}:{reader.line_num}"
            if not columns:
                columns = len(cells)
                if [cell.lower() for cell in cells] in (["turns"], ["turns", "count"]):
                    continue
            if len(cells) != columns or columns > 2:
                raise InputError(
                    f"{where}: {numbers.count(len(cells), 'column')}; write one length a line, or turns,count"
                )
            count = _whole(cells[1], where, "a count of conversations", MAX_COUNT) if columns == 2 else 1
            counts[_bounded(_whole(cells[0], where, "a number of turns", MAX_TURNS), where)] += count
    except csv.Error as error:
        raise InputError(f"{name}:{reader.line_num}: is no CSV: {error}") from None
    return from_counts(counts, name)


def from_counts(counts: Mapping[int, int], source: str) -> Lengths:
    """Return the distribution of so many conversations of each length; raises :class:`InputError` where there are none."""
    present = sorted(turns for turns, count in counts.items() if count)
    if not present:
        raise InputError(f"{source}: holds no conversation")
    shares = np.array([counts[turns] for turns in present], dtype=np.float64)
    return _distribution(np.array(present, dtype=np.int64), shares / shares.sum(), source)


def _distribution(turns: NDArray[np.int64], shares: NDArray[np.float64], source: str) -> Lengths:
    present = shares > 0
    return Lengths(turns[present], shares[present], source)


def _whole(text: str, where: str, what: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise InputError(f"{where}: {text[:40]!r} is not {what}: a whole number up to {most:,}")
    number = int(text)
    if number > most:
        raise InputError(f"{where}: {number:,} is more than {most:,}")
    return number


def _bounded(turns: int, where: str) -> int:
    if not 1 <= turns <= MAX_TURNS:
        raise InputError(f"{where}: a conversation has 1 to {MAX_TURNS:,} turns, not {turns:,}")
    return turns


def _quantile_name(level: float) -> str:
    return f"p{level:g}"
