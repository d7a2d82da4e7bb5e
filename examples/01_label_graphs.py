"""
Train, label, keep
==================

Train on labelled graphs, label new ones, keep the model: everything in ten lines.
"""

from gapcut import GraphSet, StructuredSVM, datasets
from gapcut.certificates import at_most

# Small bridges; for data of your own: [Graph(...), ...] or GraphSet.load(path).
graphs = datasets.make_planted(30, seed=0)
train, test = graphs[:20], graphs[20:]
train.save("bridges.npz")

svm = StructuredSVM(n_jobs=-1).fit(GraphSet.load("bridges.npz"))
svm.save("bridges.gapcut")
proof = svm.certificate_
solution = StructuredSVM.load("bridges.gapcut").infer(test[0])

print(train)
lower, upper = proof.shown(6)  # rounded outwards: what is read is proven too
print(f"training: {lower} <= optimum <= this model <= {upper} ({proof.status})")
print(f"test accuracy {svm.score(test):.3f}, weighted by the points of each part")
print(
    f"first test graph: {solution.labels[:4].tolist()} ..., {solution.status}, gap {at_most(solution.gap, 2)}"
)
