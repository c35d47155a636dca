"""A complete analysis: its settings, what it found, and how it is stored."""
