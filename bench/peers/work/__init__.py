"""The work that every system does, a file for each kind."""
