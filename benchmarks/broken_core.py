"""Does the checker of proofs find bugs that are planted in the core?

    python benchmarks/broken_core.py [--only NAME;...] [--build build/dev]

Every line below changes one place of the C++ sources in a copy of them (build/broken), compiles what that changes as
CMake's ``--build`` folder says, links it with the rest of that build, trains a small problem with a proof in another
process and gives the files to checker/check_proof.py. What can happen: `refused` by the checker; `failed`: the run ends
by a check of the core itself, without a claim; `not confirmed`: the proof is true, but its gap is wider than the
certificate's by more than a hundredth of the target, so the certificate's claim is seen not to follow; `no difference`:
a claim that is true. A false claim that is verified would end this program with an error.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "build" / "broken"
CHILD = """
import json, sys
sys.meta_path = [f for f in sys.meta_path if "editable" not in type(f).__module__]
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from gapcut.datasets import make_planted
from gapcut.machine import Machine
machine = Machine(oracle=sys.argv[2], gap=float(sys.argv[3]), time_limit=60.0)
proof = machine.fit_proven(make_planted(4, 30, n_labels=4, seed=3))
proof.save(Path("p.npz"))
proof.save_graphs(Path("g.npz"))
claim = machine.certificate_
print(json.dumps([claim.lower, claim.upper, proof.lower, proof.upper]))
"""


@dataclass(frozen=True)
class Bug:
    """One or more ``(file, line as it is, line as it should not be)``."""

    name: str
    oracle: str
    changes: tuple[tuple[str, str, str], ...]
    gap: float = 0.01


def bug(name: str, oracle: str, *changes: str, gap: float = 0.01) -> Bug:
    triples = tuple(zip(changes[::3], changes[1::3], changes[2::3], strict=True))
    return Bug(name, oracle, triples, gap)


BUGS = (
    bug("none", "cut"),
    bug("none, one-hot", "lp"),
    bug(
        "wrong sign in the share bound",
        "cut",
        "src/oracle/slack_bound.cpp",
        "gains[(u - begin) * K + k] += s.sums.row(u)[k];",
        "gains[(u - begin) * K + k] -= s.sums.row(u)[k];",
    ),
    bug(
        "no loss in the scores of nodes",
        "cut",
        "src/oracle/scores.cpp",
        "row[k] += p.labels[u] == k ? -p.indicator_loss(u, k) : p.indicator_loss(u, k);",
        "row[k] += 0.0 * p.indicator_loss(u, k);",
    ),
    bug(
        "true pairs counted twice in the share bound",
        "cut",
        "src/oracle/slack_bound.cpp",
        "double sum = -pass.truth();",
        "double sum = -2.0 * pass.truth();",
    ),
    bug(
        "a repair that leaves [0, 1], and no check of labels",
        "cut",
        "src/learn/repair.cpp",
        "return down.gradient < 0.0 ? move(coordinate, down, below.levels.below, below) : 0.0;",
        "return down.gradient < 0.0 ? move(coordinate, down, below.levels.below - 0.25, below) : 0.0;",
        "bindings/relaxed_labels.hpp",
        "if (!(x.data()[i] >= 0.0F && x.data()[i] <= 1.0F))",
        "if (!(x.data()[i] >= -9.0F && x.data()[i] <= 9.0F))",
        gap=1e-4,  # at which labels are repaired
    ),
    bug(
        "pairs of relaxed labels take the maximum",
        "cut",
        "src/learn/relaxed_dual.cpp",
        "(truth ? 1.0 : 0.0) - std::min(zk, zl)",
        "(truth ? 1.0 : 0.0) - std::max(zk, zl)",
    ),
    bug(
        "loss of relaxed labels counted twice",
        "cut",
        "src/learn/relaxed_dual.cpp",
        "own += p.indicator_loss(u, k) * (p.labels[u] == k ? 1.0 - level : level);",
        "own += 2.0 * p.indicator_loss(u, k) * (p.labels[u] == k ? 1.0 - level : level);",
    ),
    bug(
        "true pairs left out of relaxed planes",
        "cut",
        "src/learn/relaxed_dual.cpp",
        "if (!truth_seen) add(yu, yv, 1.0);",
        "if (!truth_seen) add(yu, yv, 0.0);",
    ),
    bug(
        "persistency that lets anyone in",
        "cut",
        "src/flow/closure.cpp",
        "if (low_[i] > 0) queue_.push_back(i);",
        "if (low_[i] > -(std::int64_t{1} << 58)) queue_.push_back(i);",
    ),
    bug(
        "flow that does not use up an arc",
        "cut",
        "src/flow/max_flow.cpp",
        "arcs_[i] = {a.to, j, a.forward};",
        "arcs_[i] = {a.to, j, a.forward / 2};",
    ),
    bug(
        "no loss in one-hot scores",
        "lp",
        "src/oracle/one_hot.cpp",
        "if (k != p.labels[u]) row[k] += p.label_loss(u, k);",
        "if (k != p.labels[u]) row[k] += 0.5 * p.label_loss(u, k);",
    ),
    bug(
        "messages taken from one side only",
        "lp",
        "src/oracle/reparametrised.cpp",
        "table[k * K + l] = down(down(table[k * K + l] + to_tail_[k]) + to_head_[l]);",
        "table[k * K + l] = down(table[k * K + l] + to_tail_[k]);",
    ),
    bug(
        "tables whose columns are not made to fit",
        "lp",
        "src/learn/table_dual.cpp",
        "for (int k = 0; k < K_; ++k) m_[k * K_ + l] *= head[l] / sum_[l];",
        "for (int k = 0; k < K_; ++k) m_[k * K_ + l] *= 1.0;",
    ),
    bug(
        "a mean over one graph too many",
        "cut",
        "src/oracle/slack_bound.cpp",
        "const auto n = static_cast<double>(p.n_graphs());",
        "const auto n = static_cast<double>(p.n_graphs() + 1);",
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="names, separated by semicolons")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "dev", help="a build made with Ninja")
    given = parser.parse_args()
    chosen = [b for b in BUGS if given.only is None or b.name in given.only.split(";")]
    build = Build(given.build.resolve())
    truth: dict[str, tuple[float, float]] = {}
    print("| planted | problem | outcome |\n|---|---|---|", flush=True)
    for planted in chosen:
        outcome, ends = run(planted, build)
        if planted.name.startswith("none"):
            assert ends is not None, outcome
            truth[planted.oracle] = ends
        elif ends is not None and planted.oracle in truth:
            lower, upper = truth[planted.oracle]
            assert ends[0] <= upper, f"{planted.name}: a false claim was verified"
            assert ends[1] >= lower, f"{planted.name}: a false claim was verified"
        print(f"| {planted.name} | {planted.oracle} | {outcome} |", flush=True)


class Build:
    """A copy of the sources, and the commands that make a module of them and of the objects in ``folder``."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(ROOT / "cpp", HOME / "cpp", dirs_exist_ok=True)
        ignore = shutil.ignore_patterns("_core*", "__pycache__")
        shutil.copytree(
            ROOT / "src" / "gapcut", HOME / "package" / "gapcut", dirs_exist_ok=True, ignore=ignore
        )
        ninja = ["ninja", "-C", str(folder)]
        subprocess.run([*ninja, "_core"], check=True, stdout=subprocess.DEVNULL)
        said = subprocess.run([*ninja, "-t", "commands", "_core"], capture_output=True, text=True, check=True)
        commands = [shlex.split(line) for line in said.stdout.splitlines()]
        self.folder, self.link = folder, commands[-1][2:-2]  # ": && g++ ... && :"
        own = ROOT / "cpp"
        self.compile = {
            Path(words[-1]).relative_to(own): words
            for words in commands
            if "-c" in words and Path(words[-1]).is_relative_to(own)
        }

    def make(self, changed: set[Path]) -> None:
        """Compile the changed files, and those that include changed headers."""
        headers = [f'"{path.name}"' for path in changed if path.suffix == ".hpp"]
        objects = {}
        for source, words in self.compile.items():
            text = (ROOT / "cpp" / source).read_text()
            if source in changed or any(header in text for header in headers):
                target = HOME / f"{source.stem}.o"
                objects[words[words.index("-o") + 1]] = str(target)
                rest = [w.replace(str(ROOT / "cpp"), str(HOME / "cpp")) for w in words if w != "-Werror"]
                rest[rest.index("-o") + 1] = rest[rest.index("-MT") + 1] = str(target)
                rest[rest.index("-MF") + 1] = f"{target}.d"
                subprocess.run(rest, check=True, stderr=subprocess.DEVNULL)
        words = []
        for word in self.link:
            if word == "libgapcut_core.a":  # what is named before a library takes the place of its members
                words += [new for old, new in objects.items() if old not in self.link]
            words.append(objects.get(word, str(self.folder / word) if word.endswith((".o", ".a")) else word))
        module = words.index("-o") + 1
        words[module] = str(HOME / "package" / "gapcut" / words[module])
        subprocess.run(words, check=True)


def run(planted: Bug, build: Build) -> tuple[str, tuple[float, float] | None]:
    """What happened, and both ends if the checker verified them."""
    before = {}
    for name, right, wrong in planted.changes:
        path = HOME / "cpp" / name
        before[path] = path.read_text()
        assert before[path].count(right) == 1, f"{name}: {right!r} is not there once"
        path.write_text(before[path].replace(right, wrong))
    try:
        build.make({Path(name) for name, _, _ in planted.changes})
    finally:
        for path, text in before.items():
            path.write_text(text)
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", CHILD, str(HOME / "package"), planted.oracle, str(planted.gap)]
    done = subprocess.run(command, cwd=HOME, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"failed: {done.stderr.strip().splitlines()[-1][:100]}", None
    lower, upper, *proven = json.loads(done.stdout)
    command = [sys.executable, str(ROOT / "checker" / "check_proof.py"), "p.npz", "g.npz"]
    checked = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    if checked.returncode != 0:
        return checked.stdout.strip().lower(), None
    wider = (proven[1] - proven[0]) - (upper - lower)
    if wider > 1e-4 * upper or lower > proven[1] or upper < proven[0]:
        return (
            f"not confirmed: claimed [{lower:.4f}, {upper:.4f}], shown [{proven[0]:.4f}, {proven[1]:.4f}]",
            tuple(proven),
        )
    return f"no difference: [{proven[0]:.4f}, {proven[1]:.4f}]", tuple(proven)


if __name__ == "__main__":
    main()
