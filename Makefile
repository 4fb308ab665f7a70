# A few verbs over CMake, for developers.
.PHONY: all test ci bless docs bench fuzz format tidy clean

all:
	cmake --preset release -DSLUICE_WERROR=ON -DSLUICE_TESTS=ON
	cmake --build build
	cmake --install build >/dev/null

# What a change needs while it grows: unit and golden tests, rules of the rooms.
test: all
	ctest --test-dir build --output-on-failure -j 2
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/test_*.py

# Everything, as continuous integration does.
ci:
	./test

# Rewrites the golden transcripts; review the difference.
bless: all
	BLESS=1 ctest --test-dir build -R '^cli$$' --output-on-failure

# Rewrites the tables of docs/reference.md from the tables of the code.
docs: all
	build/tools/sluice-manual --markdown docs/reference.md > build/reference.md
	cp build/reference.md docs/reference.md

# What scheduling passes cost.
bench:
	cmake --preset release -DSLUICE_TESTS=ON
	cmake --build build --target core_bench
	build/src/core/core_bench

fuzz:
	cmake --preset debug
	cmake --build build-debug --target $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.cc)))
	tools/run_fuzz.py build-debug 60

format:
	find src tests tools -name '*.h' -o -name '*.cc' | xargs clang-format-14 -i

# Lines that differ from origin/main.
tidy:
	cmake --preset plain
	cmake --build build-plain --target generated
	tools/tidy.py build-plain

clean:
	rm -rf build build-debug build-tsan build-sanitized build-plain
