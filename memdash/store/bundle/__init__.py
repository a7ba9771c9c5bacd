"""Bundles: comparisons as a zip of Parquet and JSON, which another memdash takes in."""

from memdash.store.bundle.arriving import Arrival, Arrived, take_in
from memdash.store.bundle.layout import Part
from memdash.store.bundle.reading import Bundle
from memdash.store.bundle.writing import Told, all_shapes, untold, write_bundle

__all__ = ["Arrival", "Arrived", "Bundle", "Part", "Told", "all_shapes", "take_in", "untold", "write_bundle"]
