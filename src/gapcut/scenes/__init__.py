"""Scenes: point clouds to labelled parts."""
