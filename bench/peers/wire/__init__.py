"""How each system is spoken to: only as much of each protocol as the work needs, written for little cost of our own."""
