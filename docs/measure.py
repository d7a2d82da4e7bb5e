"""Measure the numbers in the README: ``python docs/measure.py FOLDER [SET ...]``.

FOLDER holds one folder a data set (tables, snakes, letters). Every row is fitted three times with default
settings; times are medians: wall clock, and CPU seconds of all threads.
"""

import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from gapcut import StructuredSVM, datasets

RUNS = {
    "tables": (datasets.load_tables, (1.0, 10.0, 100.0)),
    "snakes": (datasets.load_snakes, (7.6, 76.0)),
    "letters": (datasets.load_letters, (100.0, 1000.0)),
}
REPEATS = 3
TIME_LIMIT = 300.0


def main(folder, names):
    print("| data | C | seconds | CPU s | proven gap | status | test accuracy | proven labelings |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        load, values = RUNS[name]
        train, test = load(Path(folder) / name)
        for C in values:
            print(row(name, C, train, test), flush=True)


def row(name, C, train, test):
    seconds, cpu = [], []
    for _ in range(REPEATS):
        svm = StructuredSVM(C=C, n_jobs=2, time_limit=TIME_LIMIT)
        start, cpu_start = perf_counter(), process_time()
        svm.fit(train)
        seconds.append(perf_counter() - start)
        cpu.append(process_time() - cpu_start)
    proof = svm.certificate_
    solved = sum(solution.status == "optimal" for solution in svm.solutions(test))
    cells = (
        name,
        f"{C:g}",
        f"{median(seconds):.1f}",
        f"{median(cpu):.1f}",
        f"{100 * proof.relative_gap:.2f} %",
        proof.status,
        f"{svm.score(test):.3f}",
        f"{solved} of {len(test)}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or list(RUNS))
