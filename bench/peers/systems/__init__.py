"""The systems of the comparison, a file each."""
