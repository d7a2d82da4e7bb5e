"""Watch the proof grow: a callback, the history, and a picture of both bounds (needs matplotlib)."""

from gapcut import StructuredSVM, datasets
from gapcut.report.figures import convergence_figure, save_figure


def watch(record):
    """Called after every pass; returning True would end the training with the best model so far."""
    bounds = f"{record.lower:8.4f} <= optimum <= {record.upper:8.4f}"
    print(f"pass {record.passes:2d}: {bounds}, gap {record.relative_gap:.2%}")
    return record.seconds > 20.0


graphs = datasets.make_planted(20, seed=0)
svm = StructuredSVM(C=1.0, gap=1e-3, n_jobs=-1, callback=watch).fit(graphs)

proof = svm.certificate_
print(f"{proof.problem} problem, {proof.status}: relative gap {proof.relative_gap:.3%}")
print(f"{proof.oracle_calls} exact oracle calls; gap {proof.gap:.1e}, of it rounding {proof.rounding:.1e}")

save_figure(convergence_figure(svm.history_, "Planted bridges, C = 1"), "convergence.png")
print("written convergence.png")
