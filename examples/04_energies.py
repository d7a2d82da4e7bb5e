"""
Denoising: an energy of your own
================================

Minimise an energy, and know how far from the minimum the labeling can be.
"""

import matplotlib.pyplot as plt
import numpy as np

from gapcut import Energy, solve

# A 60 x 80 picture of three grey levels under noise; neighbours like equal labels (Potts).
rng = np.random.default_rng(0)
rows, columns = 60, 80
y, x = np.mgrid[:rows, :columns]
truth = (x > 25).astype(int) + ((y - 30) ** 2 + (x - 50) ** 2 < 300)
seen = truth + 0.8 * rng.normal(size=truth.shape)

node = np.arange(rows * columns).reshape(rows, columns)
right = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
unaries = (seen.reshape(-1, 1) - np.arange(3)) ** 2
energy = Energy(unaries, np.concatenate([right, down]), 0.8 * (1 - np.eye(3)))

print(energy)
for method in ("icm", "trws", "auto"):
    found = solve(energy, method=method, time_limit=10)
    right_share = (found.labels == truth.ravel()).mean()
    print(
        f"{method:5} {found.bound:10.4f} <= minimum <= {found.energy:10.4f}  {found.status:9} "
        f"{right_share:.1%} of the pixels right"
    )

# %%
# The picture: each pixel alone takes the nearest grey level.

alone = unaries.argmin(axis=1)
pictures = (("seen", seen), (f"each pixel alone: {(alone == truth.ravel()).mean():.1%}", alone))
pictures += ((f"with neighbours: {right_share:.1%}", found.labels), ("truth", truth))
figure, axes = plt.subplots(1, 4, figsize=(12, 2.6), layout="constrained")
for axis, (title, picture) in zip(axes, pictures, strict=True):
    axis.imshow(np.reshape(picture, truth.shape), cmap="gray")
    axis.set_title(title)
    axis.set_axis_off()
plt.show()

# %%
# Label counts may differ from node to node, and +inf forbids.

small = Energy([[0.0, 1.0], [0.5, 0.0, 2.0]], [[0, 1]], [[[np.inf, np.inf, 0.0], [0.0, np.inf, 0.0]]])
found = solve(small)
print(f"small energy: labels {found.labels.tolist()}, energy {found.energy}, {found.status}")
