"""memdash: replay one scripted conversation through every conversation-memory strategy and compare the bill."""

__version__ = "0.1.0"
