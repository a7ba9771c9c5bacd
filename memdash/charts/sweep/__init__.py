"""Plotly figures of a sweep: typed settings in, figure out.

drawn = curves(sweep.families, analysis.settings)
styles = curve_styles(drawn)
threshold_chart(Measure.COST, drawn, styles, "light"), thresholds.title(Measure.COST, drawn)
frontier_chart(analysis.frontier, unranked, drawn, styles, "light")
"""

from memdash.charts.sweep import frontier, grid, thresholds
from memdash.charts.sweep.curves import Curve, Grid, Point, curve_styles, curves, grids, style_of
from memdash.charts.sweep.frontier import frontier_chart
from memdash.charts.sweep.grid import grid_chart
from memdash.charts.sweep.measures import Measure
from memdash.charts.sweep.thresholds import threshold_chart

__all__ = [
    "Curve",
    "Grid",
    "Measure",
    "Point",
    "curve_styles",
    "curves",
    "frontier",
    "frontier_chart",
    "grid",
    "grid_chart",
    "grids",
    "style_of",
    "threshold_chart",
    "thresholds",
]
