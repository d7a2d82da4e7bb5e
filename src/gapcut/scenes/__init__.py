"""Scenes: from solids and point clouds to graphs of labelled parts."""
