"""Made-up streets: ground, walls, poles, wires, bushes, with labels, at surveyed coordinates."""

from __future__ import annotations

import itertools

import numpy as np

from gapcut.scenes.clouds import PointCloud

NAMES = {2: "ground", 5: "wall", 6: "pole", 9: "wire", 11: "bush"}


def street(seed: int, name: str | None = None, colour: bool = False, spacing: float = 0.2) -> PointCloud:
    """A piece of street, 24 m x 12 m, about 12,000 points; one point in fifty unlabelled."""
    rng = np.random.default_rng(seed)

    def patch(u: float, v: float) -> np.ndarray:
        a, b = np.meshgrid(np.arange(0, u, spacing), np.arange(0, v, spacing), indexing="ij")
        return np.c_[a.ravel(), b.ravel()]

    parts: list[np.ndarray] = []
    labels: list[int] = []

    def add(label: int, points: np.ndarray) -> None:
        parts.append(points)
        labels.append(label)

    flat = patch(24, 12)
    add(2, np.c_[flat, np.zeros(len(flat))])
    upright = patch(24, 6)
    add(5, np.c_[upright[:, 0], np.full(len(upright), 12.0), upright[:, 1]])
    tops = []
    for x in np.arange(3, 24, 6) + rng.uniform(-1, 1, 4):
        h = np.arange(0.2, 7, spacing / 2)
        turn = rng.uniform(0, 2 * np.pi, len(h))
        add(6, np.c_[x + 0.12 * np.cos(turn), 2 + 0.12 * np.sin(turn), h])
        tops.append(x)
    for a, b in itertools.pairwise(tops):
        t = np.arange(0.5, b - a - 0.5, spacing / 2)
        for y in (1.8, 2.2):
            add(9, np.c_[a + t, np.full(len(t), y), 6.8 - 0.4 * np.sin(np.pi * t / (b - a))])
    for _ in range(3):
        centre = np.array([rng.uniform(1, 23), rng.uniform(4, 10), 0.9])
        add(11, centre + rng.normal(size=(250, 3)) * [0.6, 0.6, 0.35])
    xyz = np.concatenate(parts) + rng.normal(scale=0.01, size=(sum(map(len, parts)), 3))
    label = np.repeat(labels, [len(p) for p in parts])
    order = rng.permutation(len(xyz))
    xyz, label = xyz[order] + np.array([500_000.0, 6_000_000.0, 120.0]), label[order]
    shades = np.array([[90, 90, 90], [190, 120, 80], [60, 60, 60], [20, 20, 20], [40, 160, 50]])
    place = np.searchsorted(sorted(NAMES), label)
    paint = np.clip(shades[place] + rng.integers(-15, 15, (len(xyz), 3)), 0, 255) if colour else None
    label[rng.random(len(label)) < 0.02] = -1
    return PointCloud(xyz, label, NAMES, colour=paint, name=name or f"street-{seed}")
