"""Comparisons as people read them: rows of text for a terminal, for Markdown and for the report."""
