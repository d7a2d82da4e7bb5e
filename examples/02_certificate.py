"""
Watch the proof grow
====================

A callback, the history, and a picture of both bounds.
"""

import matplotlib.pyplot as plt

from gapcut import StructuredSVM, datasets
from gapcut.certificates import at_most


def watch(record):
    """Called after every pass; returning True would end the training with the best model so far."""
    lower, upper = record.shown(6)  # rounded outwards: what is read is proven too
    print(f"pass {record.passes:2d}: {lower:>8} <= optimum <= {upper:>8}, gap {record.shown_gap()}")
    return record.seconds > 20.0


graphs = datasets.make_planted(20, seed=0)
svm = StructuredSVM(C=1.0, gap=1e-3, n_jobs=-1, callback=watch).fit(graphs)

proof = svm.certificate_
print(f"{proof.problem} problem, {proof.status}: relative gap {proof.shown_gap()}")
gap, rounding = (at_most(part, 2) for part in (proof.gap, proof.rounding))
print(f"{proof.oracle_calls} exact oracle calls; gap {gap}, of it rounding {rounding}")

# %%
# Both ends of the certificate after each pass.

passes = [record.passes for record in svm.history_]
lower, upper = ([getattr(record, end) for record in svm.history_] for end in ("lower", "upper"))
plt.fill_between(passes, lower, upper, color="#0072b2", alpha=0.15)
plt.plot(passes, upper, "o-", color="#d55e00", label="this model's objective, at most")
plt.plot(passes, lower, "o-", color="#0072b2", label="any model's objective, at least")
plt.xlabel("passes over the graphs")
plt.legend()
plt.title(f"proven: within {proof.shown_gap()} of the global optimum")
plt.show()
