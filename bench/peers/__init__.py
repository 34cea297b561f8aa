"""Quipu beside what a user would pick instead: the same work, on the same machine, in the same run."""
