"""The same tally where the data lives: tables of any length, read batch by batch."""
