# Sourced by run and nightly: a work folder, steps with their seconds, and the C++ tests.
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '\n=== %s (%ss)\n' "$1" "$SECONDS"; }

if ! command -v c++ >/dev/null || ! python3 -c 'import venv, sys; sys.exit(sys.version_info < (3, 11))'; then
    step "system packages"
    apt-get update -qq && apt-get install -y -qq g++ python3 python3-venv python3-dev git
fi

system_package() { # command, package: installs it where it is missing and can be had
    command -v "$1" >/dev/null || { apt-get update -qq && apt-get install -y -qq "$2"; } >/dev/null 2>&1 ||
        echo "no $1 here, and the package $2 cannot be installed"
}

# Tests as the options say, for so many seconds. Exits with 1 where one failed; a run that was ended by the clock (124, 137)
# or had nothing to do (5) may.
timed_tests() { # seconds, options of pytest
    local code=0 log=$work/timed.log
    timeout -k 20 "$1" python -m pytest -v -x "${@:2}" >"$log" 2>&1 || code=$?
    grep -oE "(PASSED|FAILED|ERROR|SKIPPED) tests/|tests/[^ ]+ (PASSED|FAILED|ERROR|SKIPPED)" "$log" |
        grep -oE "PASSED|FAILED|ERROR|SKIPPED" | sort | uniq -c || true
    case $code in
        0 | 5) ;;
        124 | 137) echo "no time for the rest" ;;
        *) cat "$log" && exit $code ;;
    esac
    # one that failed before the time was out
    if grep -E "(FAILED|ERROR) tests/|tests/[^ ]+ (FAILED|ERROR)" "$log"; then exit 1; fi
}

long_tests() { timed_tests "$1" -m slow -n auto --dist loadfile; } # seconds

cluster_tests() { # seconds: on nodes of this machine, one killed in the middle
    timed_tests "$1" -m cluster tests/learners/test_ray_shards.py tests/learners/test_ray_planes.py \
        tests/engines/test_queues.py tests/cli/test_many_files.py
}

lines=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG") # all of -g takes minutes

cpp_tests() { # folder, options: builds and runs the C++ tests
    cmake -S . -B "$work/$1" -G Ninja -DGAPCUT_PYTHON=OFF -DGAPCUT_TESTS=ON -DGAPCUT_WERROR=ON "${@:2}" \
        >"$work/cmake.log" || { cat "$work/cmake.log"; exit 1; }
    cmake --build "$work/$1"
    "$work/$1/gapcut_tests"
}
