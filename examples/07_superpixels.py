"""
Coins by superpixels
====================

Which pixels are coins? Parts of a coin are as dark as the background. Superpixels are nodes, those that touch are
neighbours, and the model learns from the left half of the picture what a common boundary and a difference of grey mean.
(The picture comes with scikit-image, ``pip install scikit-image``; the reference is its watershed of this picture.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from skimage import data, filters, segmentation

from gapcut import Graph, StructuredSVM
from gapcut.images import paint, superpixel_graph

image = data.coins() / 255.0
markers = np.zeros(image.shape, dtype=int)
markers[image < 30 / 255] = 1
markers[image > 150 / 255] = 2
coins = ndimage.binary_fill_holes(segmentation.watershed(filters.sobel(image), markers) == 2)
truth = np.where(ndimage.binary_opening(coins, iterations=3), "coin", "background")

segments = segmentation.slic(image, n_segments=1500, compactness=0.05, channel_axis=None)
half = image.shape[1] // 2
left, right = (np.s_[:, :half], np.s_[:, half:])


def of_half(part: tuple[slice, slice], name: str) -> Graph:
    """Its graph, with grey values as node features: where a coin lies says nothing about the other half."""
    graph = superpixel_graph(image[part], segments[part], truth[part], name=name)
    return graph.replace(
        node_features=graph.node_features[:, :2], node_feature_names=graph.node_feature_names[:2]
    )


train, test = of_half(left, "left half"), of_half(right, "right half")

# %%
# Two models: one sees superpixels alone, one their relations too. ``incidence=False``: sums of relations as features of
# a node would be too many for one picture.


def alone(graph):
    return graph.replace(edges=None, edge_features=None)


unary = StructuredSVM(C=1.0).fit([alone(train)])
pairwise = StructuredSVM(C=1.0, incidence=False).fit([train])
scores = {"each superpixel alone": unary.score([alone(test)]), "with neighbours": pairwise.score([test])}
for name, score in scores.items():
    print(f"{name:22} {score:.1%} of the pixels right")
print(f"the second is proven to be within {pairwise.certificate_.shown_gap()} of the best weights")

# %%
# The picture: the right half, which no model has seen.

pictures = [
    ("right half", image[right]),
    ("reference", truth[right] == "coin"),
    *(
        (f"{name}: {score:.1%}", paint(segments[right], svm.predict([graph])[0]) == "coin")
        for (name, score), svm, graph in zip(
            scores.items(), (unary, pairwise), (alone(test), test), strict=True
        )
    ),
]
figure, axes = plt.subplots(1, 4, figsize=(12, 4.4), layout="constrained")
for axis, (title, picture) in zip(axes, pictures, strict=True):
    axis.imshow(picture, cmap="gray")
    axis.set_title(title, fontsize=10)
    axis.set_axis_off()
plt.show()
