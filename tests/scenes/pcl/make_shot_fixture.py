"""Makes tests/scenes/shot_pcl.npz from the Point Cloud Library 1.13 (Debian: libpcl-dev). Run once, by hand:

    g++ -O1 $(pkg-config --cflags pcl_features) shot_oracle.cpp -o shot_oracle $(pkg-config --libs pcl_features)
    python make_shot_fixture.py ./shot_oracle ../shot_pcl.npz

Inputs are stored exactly (multiples of 1/8192 are float32 numbers); frames are rounded to 1/32767 and descriptors
to 1/1000, far below what the test asks for. Descriptors are kept of every third point.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

RADIUS = 0.25


def scene(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A floor, a wall, a column, a ball and a beam, 3000 points, with noise; and their noisy normals."""
    u = rng.uniform(size=(3000, 2))
    parts, normals = [], []

    def add(points: np.ndarray, normal: np.ndarray) -> None:
        parts.append(points)
        normals.append(np.broadcast_to(normal, points.shape))

    a = u[:900]
    add(np.c_[2.2 * a[:, 0], 2.2 * a[:, 1], 0 * a[:, 0]], np.array([0.0, 0, 1]))
    a = u[900:1500]
    add(np.c_[2.2 * a[:, 0], 0 * a[:, 0], 1.5 * a[:, 1]], np.array([0.0, 1, 0]))
    a = u[1500:2100]
    side = np.c_[np.cos(2 * np.pi * a[:, 0]), np.sin(2 * np.pi * a[:, 0]), 0 * a[:, 0]]
    add(0.25 * side + np.c_[0 * a[:, 0] + 0.7, 0 * a[:, 0] + 0.9, 1.5 * a[:, 1]], side)
    ball = rng.normal(size=(400, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    add(0.3 * ball + [1.6, 1.4, 0.35], ball)
    a = u[2500:2990]
    along, face = 2.2 * a[:, 0], rng.integers(0, 3, 490)
    across = 0.3 * a[:, 1]
    beam = np.select(
        [face[:, None] == 0, face[:, None] == 1, face[:, None] == 2],
        [
            np.c_[along, 1.0 + across, 0 * along + 1.5],
            np.c_[along, 0 * along + 1.0, 1.5 + across],
            np.c_[along, 0 * along + 1.3, 1.5 + across],
        ],
    )
    add(beam, np.array([[0, 0, -1.0], [0, -1, 0], [0, 1, 0]])[face])
    add(rng.uniform(size=(10, 3)) * 3 + 5, np.array([0.0, 0, 1]))  # alone: no frame
    points = np.concatenate(parts) + rng.normal(scale=0.004, size=(3000, 3))
    normal = np.concatenate(normals) + rng.normal(scale=0.05, size=(3000, 3))
    return points, normal / np.linalg.norm(normal, axis=1, keepdims=True)


def main(oracle: str, out: str) -> None:
    points, normals = scene(np.random.default_rng(7))
    points = np.round(points * 8192).astype(np.int32)
    normals = np.round(normals * 8192).astype(np.int16)
    order = np.random.default_rng(8).permutation(len(points))
    points, normals = points[order], normals[order]
    rows = np.c_[points / 8192, normals / 8192]
    text = f"{len(rows)} {RADIUS}\n" + "\n".join(" ".join(f"{x:.9g}" for x in row) for row in rows)
    raw = subprocess.run([oracle], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    values = np.frombuffer(raw, dtype=np.float32).reshape(len(rows), 361)
    undefined = np.isnan(values).any(axis=1)
    values = np.where(undefined[:, None], 0, values)
    np.savez_compressed(
        out,
        radius=RADIUS,
        points=points.astype(np.int16) if np.abs(points).max() < 32768 else points,
        normals=normals,
        undefined=undefined,
        frames=np.round(values[:, [0, 1, 2, 6, 7, 8]] * 32767).astype(np.int16),
        described=np.arange(0, len(rows), 3),
        descriptors=np.round(values[::3, 9:] * 1000).astype(np.uint16),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
