# make demo   set up, and find anomalous wind turbines with rules over an embedded database
# make test   set up, and run everything that CI runs
# make fuzz   set up, and look for new failures with all random tests, for an hour (MINUTES=10)
# make bench  set up, and print the benchmark tables
# make release build the package, check it, and say how to publish it
# make docs   set up, and build the docs site as site/; warnings are errors
# make vscode pack the extension for VS Code as editors/vscode/zodiac-rules.vsix (needs Node.js and npm)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

MINUTES ?= 60

.PHONY: demo test check docs java browser fuzz bench vscode release clean

demo: $(READY)
	$(BIN)/python examples/wind_farm/demo.py

# Three processes share the tests: a third of the time, a test waits for a disk or for a process.
# They have a folder of their own, so that nothing that an earlier session has left is in the way.
# Python may write what it has compiled: else each process that a test starts compiles all modules
# again, which was a fifth of the time of the tests of the command line.
# The checks use one core, so they run beside the tests. What they say stands at the end, and a check
# that fails lets the whole fail.
test: $(READY) java browser
	folder=$$(mktemp -d) && { \
	$(MAKE) --no-print-directory check >"$$folder/checks" 2>&1 & checks=$$!; \
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --numprocesses 3 --dist loadgroup --basetemp "$$folder/tests"; tests=$$?; \
	wait $$checks; checked=$$?; \
	cat "$$folder/checks"; \
	test $$tests = 0 || exit $$tests; test $$checked = 0 || { echo "A check has failed: see above."; exit $$checked; }; \
	rm -r "$$folder"; }

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory docs

# MkDocs looks at every link and anchor. The banner is about MkDocs 2, which is another program.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fuzz: $(READY) java
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

bench: $(READY) java
	$(BIN)/python -m tests.benchmarks

# Builds what is published, checks it, installs the wheel into a fresh environment, and lets it answer a question.
release: $(READY)
	rm -rf dist
	$(BIN)/python -m pip install --quiet --group release
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	folder=$$(mktemp -d) && $(PYTHON) -m venv "$$folder/venv" \
		&& "$$folder/venv/bin/pip" install --quiet dist/*.whl \
		&& "$$folder/venv/bin/python" -W error -c "import zodiac_sql as z; kb = z.connect(); kb.insert('e', [(1, 2), (2, 3)]); kb.add_rules('p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z).'); assert len(kb.query('p(1, X)')) == 2; print(z.__version__)" \
		&& rm -r "$$folder"
	@ls -l dist
	@version=$$($(BIN)/python -c "import zodiac_sql; print(zodiac_sql.__version__)"); \
		echo "To publish: git tag v$$version && git push origin main v$$version && $(BIN)/python -m twine upload dist/*"

vscode:
	cd editors/vscode && npm ci --no-audit --no-fund && npx --yes @vscode/vsce@3 package --allow-missing-repository --out zodiac-rules.vsix

# A fresh Debian has python3 without venv; root may install it.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV) || { apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv --clear $(VENV); }
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group test --group docs
	touch $(READY)

# Spark needs Java 17 or later; no package of Python's brings one. Root may install it on Debian.
java:
	@java -version >/dev/null 2>&1 || test -n "$$JAVA_HOME" \
		|| { apt-get update && apt-get install -y default-jre-headless; } \
		|| echo "No Java, and it cannot be installed here: tests that need Spark are skipped. See docs/how-to/spark.md."

# The page is tested in a real browser. Root may install it on Debian.
browser:
	@command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1 \
		|| { apt-get update && apt-get install -y --no-install-recommends chromium chromium-driver; } \
		|| echo "No chromium, and it cannot be installed here: tests of the page are skipped."

clean:
	rm -rf $(VENV) build dist site *.egg-info
