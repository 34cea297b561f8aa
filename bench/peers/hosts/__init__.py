"""Libraries behind a socket, so that several clients can share them: one line of JSON a request, nothing else added.

These files run in the environment of the library that they host. They import nothing of the harness but each other.
"""
