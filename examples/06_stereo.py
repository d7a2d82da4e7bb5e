"""
Depth from two images
=====================

A truncated linear energy on a grid, solved with a proven bound.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from gapcut import Energy, solve

# Three steps of a floor and two things before it, all with a random texture, seen by two cameras beside each other:
# what the left one sees at x, the right one sees shifted by the disparity, more for what is near.
HEIGHT, WIDTH, DISPARITIES = 120, 160, 12
rng = np.random.default_rng(0)
y, x = np.mgrid[:HEIGHT, :WIDTH]
truth = 1 + (3 * y) // HEIGHT  # the floor
truth[(y > 15) & (y < 70) & (x > 20) & (x < 75)] = 6
truth[(y - 70) ** 2 + (x - 110) ** 2 < 35**2] = 9
texture = rng.random((HEIGHT, WIDTH + DISPARITIES))
texture = (texture + np.roll(texture, 1, 0) + np.roll(texture, 1, 1)) / 3
left_image = np.take_along_axis(texture, x + truth, 1) + 0.06 * rng.normal(size=truth.shape)

# Unaries: how much the images differ at each disparity. Neighbours pay for different ones, at most 3 steps' worth,
# and a fourth of it where the left image has an edge, at which depth may jump.
unary = np.stack([np.abs(left_image - texture[:, d : d + WIDTH]) for d in range(DISPARITIES)], axis=-1)
unary = np.minimum(unary, 0.3)
label = np.arange(DISPARITIES)
steps = np.minimum(np.abs(label[:, None] - label), 3)
right = np.where(np.abs(np.diff(left_image, axis=1)) > 0.25, 0.25, 1.0)
down = np.where(np.abs(np.diff(left_image, axis=0)) > 0.25, 0.25, 1.0)
energy = Energy.grid(unary, 0.06 * steps, right=right, down=down)

found = solve(energy, time_limit=20)
depth = found.labels.reshape(HEIGHT, WIDTH)
alone = unary.argmin(axis=-1)
print(energy)
print(f"{found.bound:.3f} <= minimum <= {found.energy:.3f}, {found.status}")
for name, labels in (("each pixel alone", alone), ("with neighbours", depth)):
    print(f"{name:16} {(np.abs(labels - truth) <= 1).mean():.1%} of the pixels right to one step")

# %%
# The picture; a file named on the command line gets it as well.

figure, axes = plt.subplots(1, 4, figsize=(12, 2.6), layout="constrained")
titles = ("left image", "each pixel alone", "with neighbours", "truth")
for axis, title, picture in zip(axes, titles, (left_image, alone, depth, truth), strict=True):
    scale = {} if title == "left image" else {"vmin": 0, "vmax": DISPARITIES - 1}
    axis.imshow(
        picture, cmap="gray" if title == "left image" else "viridis", interpolation="nearest", **scale
    )
    axis.set_title(title)
    axis.set_axis_off()
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=80)
plt.show()
