"""Conversation-memory strategies: one small class in one file each, known to everything by its registration."""
