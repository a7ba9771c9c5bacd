"""Looking inside a replay: what the model was sent, what became of each fact, and what was lost. Pure: records in, rows out."""
