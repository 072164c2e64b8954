# make demo   trains, explains and plots on built-in data      make check  style, types, imports
# make test   the tests that take seconds each                  make bench  benchmarks (needs DISCREET_DATA)
# make test-long   tests that take minutes: losses found by many fits, papers, comparison, reproduction, audits, pictures, pages of the site, memory of large tables
# make test-audit   audits whose outcome depends on their draws and on the clock
# make coverage   lines and branches of the fast tests: what no test runs
# make test-flower   federated training carried by Flower, in an environment of its own
# make service-demo   a service with public data, on which the whole story runs by itself: look at it in a browser
# make test-service   accounts, service, client and pages (in a browser, if there is one), in an environment of its own
# make docs   the site, offline, in docs/_build/html: every warning is an error, every link is checked
# make test-engines   training in databases and clusters, which are started here, and compiled counting: an environment of its own
# make transcripts   follows the ten tasks of docs/guides as a stranger, with the package as it is built, and writes what a terminal shows
# make release-check   all of it, before a release: the targets in STEPS, then noxfile.py on every other Python; one that is missing is an error
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FLOWER := .venv-flower
ENGINES := .venv-engines
SERVICE := .venv-service
SERVING := .venv-serving
DOCS := .venv-docs
SITE := docs/_build/html

.PHONY: demo docs test test-long test-audit coverage test-flower test-engines test-service service-demo check bench transcripts release-check clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all,service]" --group dev
	touch $(READY)

demo: $(READY)
	$(BIN)/discreet demo --force

test: $(READY)
	$(BIN)/python -m pytest -n 2 --only fast

test-long: $(READY)
	$(BIN)/python -m pytest -n 2 --only long

test-audit: $(READY) $(SERVICE)/.ready
	$(BIN)/python -m pytest -n 2 --only audits
	$(SERVICE)/bin/python -m pytest tests/client/test_audited.py

coverage: $(READY)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 -m "not slow"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-flower: $(FLOWER)/.ready
	$(FLOWER)/bin/python -m pytest tests/federated/test_flower.py tests/federated/test_flower_refusals.py

$(FLOWER)/.ready: pyproject.toml
	$(PYTHON) -m venv $(FLOWER)
	$(FLOWER)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(FLOWER)/bin/python -m pip install --quiet --editable ".[flower,duckdb]" pytest hypothesis
	touch $(FLOWER)/.ready

test-engines: $(ENGINES)/.ready
	$(ENGINES)/bin/python -m pytest tests/engines -m engines
	$(ENGINES)/bin/python -m pytest tests/sources/test_kernels.py

$(ENGINES)/.ready: pyproject.toml
	$(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(ENGINES)/bin/python -m pip install --quiet --editable ".[postgres,spark,duckdb,fast]" pytest hypothesis
	touch $(ENGINES)/.ready

test-service: $(SERVICE)/.ready
	$(SERVICE)/bin/python -m pytest tests/privacy/accounts tests/service tests/client -m "not slow"

$(SERVICE)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SERVICE)
	$(SERVICE)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(SERVICE)/bin/python -m pip install --quiet --editable ".[service,postgres,plot]" --group service
	touch $(SERVICE)/.ready

service-demo: $(SERVING)/.ready
	$(SERVING)/bin/discreet service demo $(DEMO)

$(SERVING)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SERVING)
	$(SERVING)/bin/python -m pip install --quiet --editable ".[service,plot]"
	touch $(SERVING)/.ready

docs: $(DOCS)/.ready
	$(DOCS)/bin/python -m sphinx --fail-on-warning --keep-going -q -b html docs $(SITE)
	$(DOCS)/bin/python docs/_ext/check_site.py $(SITE)

$(DOCS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DOCS)/bin/python -m pip install --quiet --editable ".[all,service,postgres]" --group docs
	touch $(DOCS)/.ready

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

RELEASE := .venv-release
STEPS := check test test-long test-service test-engines docs
# All sessions of noxfile.py but tests-3.11, which is make test.
SESSIONS := tests-3.12 tests-3.13 lowest extra wheel flower

transcripts: $(RELEASE)/.ready $(SERVICE)/.ready
	rm -rf dist
	$(RELEASE)/bin/python -m build --outdir dist
	PYTHONPATH=tests $(SERVICE)/bin/python -m support.transcripts --dist dist $(PAGES)

release-check: $(RELEASE)/.ready
	@for step in $(STEPS); do echo "release-check: make $$step"; $(MAKE) $$step || { echo "release-check: make $$step failed"; exit 1; }; done
	$(RELEASE)/bin/nox --error-on-missing-interpreters -s $(SESSIONS)
	@echo "release-check: discreet $$(PYTHONPATH=src $(PYTHON) -c 'import discreet; print(discreet.__version__)') passed:"
	@for step in $(STEPS); do echo "  make $$step"; done
	@for session in $(SESSIONS); do echo "  nox -s $$session"; done

$(RELEASE)/.ready: pyproject.toml
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(RELEASE)/bin/python -m pip install --quiet nox uv build
	touch $(RELEASE)/.ready

bench: $(READY)
	$(BIN)/python benchmarks/accuracy.py --rivals
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) $(DOCS) $(RELEASE) .nox dist docs/_build docs/_made $(FLOWER) $(ENGINES) $(SERVICE) $(SERVING) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage discreet-demo
