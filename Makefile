# `make demo` and `make test` set up everything by themselves; `make help` lists the rest.

VENV ?= .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --quiet --disable-pip-version-check
PACKAGES := envs models evaluation training configs integrations web

.PHONY: help setup demo test lint links types pytest pytest-slow coverage test-all test-integrations test-cluster test-browser test-lowest test-newest test-prereleases modules test-wheel docs ci after-tests results test-hostile test-bounds test-exhaustive test-mutants bench benchmark benchmark-page images tables clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/'

setup: $(VENV)/installed  ## the virtual environment with everything that demo and tests need

$(VENV)/installed: pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable '.[test]'
	touch $@

demo: setup  ## train an agent, evaluate it, and show one of its games
	$(PYTHON) -m tools.demo

# The type checker, a single process, runs in parallel with the tests.
test: lint  ## all checks, and the tests but slow ones
	$(MAKE) --jobs 2 types pytest

lint: setup
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

links:  # type checkers and mkdocstrings do not follow the mapping of an editable install, so they get the folders under their names
	@rm -rf build/types && mkdir -p build/types/stoneworks
	@for package in $(PACKAGES); do ln -sfn ../../../$$package build/types/stoneworks/$$package; done
	@for file in src/stoneworks/*.py src/stoneworks/*.pyi src/stoneworks/cli; do ln -sfn ../../../$$file build/types/stoneworks/; done
	@ln -sfn ../../benchmarks ../../tools build/types/

types: setup links
	MYPYPATH=build/types $(PYTHON) -m mypy --explicit-package-bases -p stoneworks -p benchmarks -p tools

# A file's tests run on one worker, which makes their fixtures once.
PYTEST := $(PYTHON) -m pytest --ignore tests/web/browser --numprocesses auto --dist loadfile

pytest: setup
	$(PYTEST) -m "not slow"

pytest-slow: setup  ## the slow tests: perfect play after training, kills, exhaustive solving, training with libraries
	$(PYTEST) -m slow

coverage: setup  ## the lines and branches that the tests run; for reading, nothing depends on it
	$(PYTEST) --cov --cov-report term

test-browser: setup  ## the web interface and the documentation site, which it builds, in Debian's Chromium (apt-get install chromium)
	@$(MAKE) links  # as a prerequisite, it would let other targets of after-tests begin before this one, the longest
	$(PYTHON) -m pytest tests/web/browser --numprocesses auto --dist loadfile --reruns 1  # reported as R: other tests may leave a browser no processor time

INTEGRATIONS := torch rllib agilerl pufferlib lightzero trackers datasets

test-integrations: $(INTEGRATIONS:%=test-integrations-%)  ## the examples and adapters against the real libraries, one environment per group

test-integrations-%:
	python3 -m venv .venv-$*
	python3 -m pip --quiet --disable-pip-version-check --python .venv-$* install --requirement tests/integrations/requirements/$*.txt --editable .
	.venv-$*/bin/python -m pytest tests/integrations

test-integrations-pufferlib:  # built without its own games, which it would download from GitHub; importing it writes a link into the current folder
	python3 -m venv .venv-pufferlib
	python3 -m pip --quiet --disable-pip-version-check --python .venv-pufferlib install --requirement tests/integrations/requirements/pufferlib.txt --editable .
	NO_OCEAN=1 PYTHONPATH=$(CURDIR)/tests/integrations/requirements/pufferlib_setup python3 -m pip --quiet --disable-pip-version-check --python .venv-pufferlib install --no-deps --no-build-isolation pufferlib==3.0.0
	mkdir -p build && cd build && ../.venv-pufferlib/bin/python -m pytest ../tests/integrations

test-integrations-lightzero:  # its requirements contradict torch's and ours; gym 0.25.1 is built only by an old setuptools
	python3 -m venv .venv-lightzero
	python3 -m pip --quiet --disable-pip-version-check --python .venv-lightzero install 'setuptools<66' 'wheel<0.46'
	python3 -m pip --quiet --disable-pip-version-check --python .venv-lightzero install --no-build-isolation gym==0.25.1
	python3 -m pip --quiet --disable-pip-version-check --python .venv-lightzero install --requirement tests/integrations/requirements/lightzero.txt --editable .
	python3 -m pip --quiet --disable-pip-version-check --python .venv-lightzero install --no-deps DI-engine==0.5.3 LightZero==0.2.0
	.venv-lightzero/bin/python -m pytest tests/integrations

test-cluster:  ## training and arenas on a local Ray cluster of several nodes, with kills
	python3 -m venv .venv-cluster
	python3 -m pip --quiet --disable-pip-version-check --python .venv-cluster install --constraint constraints.txt --editable '.[train,cluster]' pytest
	.venv-cluster/bin/python -m pytest tests/training/cluster tests/benchmarks/test_capacity.py

# Rules that hold on the smallest boards with other versions of libraries hold on the others as they do in `make test`.
WHAT_VERSIONS_CHANGE := -m "not slow and not once" --smallest-boards --numprocesses auto --dist loadfile

test-lowest: setup  ## the tests of rules and environments with the lowest supported versions
	python3 -m venv .venv-lowest
	$(PIP) --python .venv-lowest install --constraint constraints-lowest.txt --editable '.[train,human]' pytest pytest-xdist hypothesis
	.venv-lowest/bin/python -m pytest tests/envs $(WHAT_VERSIONS_CHANGE)

# torch is left out: its newest Linux builds bring gigabytes of CUDA. Tests that need it are skipped by name.
NEWEST_PYTHON ?= $(shell for version in 3.15 3.14 3.13 3.12; do \
	for python in python$$version $(HOME)/.pyenv/versions/$$version.*/bin/python$$version; do \
	if $$python -c 'import ensurepip' 2>/dev/null; then echo $$python; exit; fi; done; done)
NEWEST_PACKAGES := --editable '.[web,human]' pytest pytest-xdist hypothesis httpx choix
NEWEST_TESTS := tests/envs tests/models tests/evaluation tests/cli tests/web tests/test_bad_arguments.py --ignore tests/web/browser

# NEWEST_ROOT: a root folder with a newer Python and with this folder as /stoneworks, in which to run.
test-newest:  ## the tests that need no torch with the newest versions, on the newest Python that numba supports
ifdef NEWEST_ROOT
	env --unset MAKEFLAGS --unset NEWEST_ROOT HOME=/root LANG=C.UTF-8 chroot $(NEWEST_ROOT) make --directory /stoneworks test-newest
else
	@test -n "$(NEWEST_PYTHON)" || { echo "make test-newest needs Python 3.15, 3.14, 3.13 or 3.12 with the module venv, found in PATH or in ~/.pyenv/versions, or named by NEWEST_PYTHON=..." >&2; exit 1; }
	$(NEWEST_PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip --quiet --disable-pip-version-check install $(NEWEST_PACKAGES)
	@.venv-newest/bin/python -VV && .venv-newest/bin/python -m pip --disable-pip-version-check list | grep -E '^(numpy|numba|gymnasium|pettingzoo) '
	.venv-newest/bin/python -m pytest $(NEWEST_TESTS) $(WHAT_VERSIONS_CHANGE)
endif

test-prereleases:  ## the same with the pre-releases of everything: what is coming; not part of ci
	@test -n "$(NEWEST_PYTHON)" || $(MAKE) test-newest
	$(NEWEST_PYTHON) -m venv --clear .venv-prereleases
	.venv-prereleases/bin/python -m pip --quiet --disable-pip-version-check install --pre $(NEWEST_PACKAGES)
	.venv-prereleases/bin/python -m pip --quiet --disable-pip-version-check install --pre --upgrade numpy numba  # past our own bound
	@.venv-prereleases/bin/python -VV && .venv-prereleases/bin/python -m pip --disable-pip-version-check list | grep -E '^(numpy|numba|gymnasium|pettingzoo) '
	.venv-prereleases/bin/python -m pytest $(NEWEST_TESTS) $(WHAT_VERSIONS_CHANGE)

modules: setup  ## the games for the browser, which the page and the wheel take from web/engine/games (apt-get install lld)
	rm -rf web/engine/games && $(PYTHON) -m tools.browser.build web/engine/games

test-wheel: modules  ## the built package: metadata, size, and the wheel in an empty environment that grows: rules alone, no extras, web, train, the README
	rm -rf build/wheel && $(PYTHON) -m build --outdir build/wheel .
	$(PYTHON) -m twine check --strict build/wheel/*
	test -z "$$(find build/wheel -size +15M)"
	python3 -m venv --clear .venv-wheel
	$(PIP) --python .venv-wheel install numpy numba lazy_loader
	$(PIP) --python .venv-wheel install --no-deps build/wheel/*.whl
	cd build && ../.venv-wheel/bin/python ../tests/installed/rules_only.py
	$(PIP) --python .venv-wheel install build/wheel/*.whl
	cd build && ../.venv-wheel/bin/python ../tests/installed/base.py
	$(PIP) --python .venv-wheel install "$$(ls build/wheel/*.whl)[web]"
	cd build && ../.venv-wheel/bin/python ../tests/installed/web.py
	$(PIP) --python .venv-wheel install --constraint constraints.txt "$$(ls build/wheel/*.whl)[train]"
	cd build && ../.venv-wheel/bin/python ../tests/installed/train.py
	.venv-wheel/bin/python tests/installed/readme.py

docs: setup links  ## the documentation site in build/site; a broken link or anchor is an error
	EXECUTE_NOTEBOOKS=1 NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict

ci: test  ## everything that must pass before a change lands
	$(MAKE) after-tests

# Two targets at a time: installations and single processes leave a core idle. The site is built by the tests in the browser.
after-tests:
	$(MAKE) --jobs 2 --output-sync=target pytest-slow test-browser test-lowest test-newest test-wheel

test-all: ci test-bounds test-exhaustive test-hostile test-cluster test-integrations  ## every test there is (hours, and several gigabytes of other libraries)

test-exhaustive: setup  ## all 3^19 positions of Vadus 3 against the solver
	ALL_POSITIONS=1 $(PYTHON) -m pytest tests/models/test_exhaustive_vadus.py

test-hostile: setup  ## robustness tests: damaged files, bad input, kills, a million steps (under 15 minutes)
	HOSTILE_SCALE=30 $(PYTHON) -m pytest tests/hostile

test-bounds: setup  ## the games of the test suite with numba's bounds checks in all kernels
	NUMBA_BOUNDSCHECK=1 $(PYTHON) -m pytest tests/envs/rules/test_batch.py tests/envs/rules/test_record_check.py tests/models/bots/test_every_bot.py -k "stepping or auto_reset or playouts or flipped or whole_games"

MUTATION ?= --changed-since main

test-mutants: setup  ## the tests on small mistakes in the lines that this branch has changed (MUTATION="--count 2000": in all)
	$(PYTHON) -m tools.mutation $(MUTATION)

bench: setup  ## speed, as ratios to others measured in the same run
	$(PIP) install --constraint constraints.txt --editable '.[test,bench]'
	$(PYTHON) -m benchmarks.speed

RESULTS := benchmarks/results

benchmark: setup  ## the runs of docs/benchmark.md that are missing; start it once per idle core (OPTIONS="--task vadus-5": in part)
	$(PYTHON) -m benchmarks.run --output $(RESULTS) $(OPTIONS)

benchmark-page: setup  ## check these runs, draw their figures and write their table into docs/benchmark-results.md
	$(PYTHON) -m benchmarks.check $(RESULTS) --figures docs/images/benchmark --page docs/benchmark-results.md

images: setup  ## the pictures of the docs
	$(PYTHON) docs/make_images.py
	$(PYTHON) docs/ruling_pictures.py

tables: setup  ## the tables of the README and the docs that are made from files
	$(PYTHON) -m tools.page_tables

results: setup images tables  ## pictures and tables that are made from files in the repository
	$(PYTHON) -m pytest --quiet tests/test_docs.py

clean:  ## remove the virtual environment and the caches in this folder
	rm -rf $(VENV) build web/engine/games *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
