"""Graphs of other libraries as arguments of :class:`gapcut.Graph`, and back. Each library is imported where it is used.

Nothing here knows the Graph itself: ``Graph.from_networkx`` and its kin call these functions with arrays.
"""
