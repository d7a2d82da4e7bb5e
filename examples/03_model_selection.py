"""
Choose C with scikit-learn
==========================

Cross-validation over graphs, with ``GridSearchCV``.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV, cross_val_score

from gapcut import StructuredSVM, datasets

graphs = datasets.make_planted(30, noise=1.6, hidden=0.15, seed=0)
train, test = list(graphs[:20]), list(graphs[20:])

# Each fit with a C that is too small says so. Here such C are tried on purpose: the scores tell.
warnings.filterwarnings("ignore", message="C = .* is too small")
search = GridSearchCV(StructuredSVM(), {"C": [0.001, 0.01, 0.1, 1.0]}, cv=4).fit(train)
for C, score in zip(search.cv_results_["param_C"], search.cv_results_["mean_test_score"], strict=True):
    print(f"C = {C:<6g} accuracy {score:.3f} over 4 folds")
best = search.best_estimator_
gap = best.certificate_.shown_gap()
print(f"best C {best.C:g}: test accuracy {best.score(test):.3f}, proven gap {gap}")

scores = cross_val_score(StructuredSVM(C=best.C, incidence=False), train, cv=4)
print(f"the same without incidence features: {scores.mean():.3f} over 4 folds")

# %%
# Accuracy on the folds held out, and its spread over them.

results = search.cv_results_
mean, spread = results["mean_test_score"], results["std_test_score"]
plt.errorbar(results["param_C"].astype(float), mean, spread, fmt="o-", capsize=3)
plt.xscale("log")
plt.xlabel("C")
plt.ylabel("accuracy on held-out graphs")
plt.show()
