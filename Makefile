# The commands of this repository. `make demo` and `make test` need nothing but make and apt: they install what is missing.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# Of fuzzing by hand, for each target; `make test` fuzzes only if FUZZ_TEST_SECONDS is above 0.
SECONDS = 600
FUZZ_TEST_SECONDS ?= 0
# DEPS=no: leave the system's packages alone, whatever is missing.
DEPS ?= yes

# Counters and times that others measured; the tests read them in place.
GAMBREL_SHARED_DATA ?= ../shared/data
MEASURED = conv_traffic_v100_deepcam.csv

.DEFAULT_GOAL := help
.PHONY: help deps venv build test wheel test-wheel test-torch test-notebooks test-packages docs test-gpu-model demo bench sweep accuracy intervals sanitize fuzz format lint package install clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

deps:  ## install the Debian packages of tools/packages.txt that are missing
	@DEPS=$(DEPS) tools/install_deps.sh

venv: deps  ## an environment for building and testing the Python package: build/venv
	@tools/make_venv.sh build/venv || echo "the Python package is not built, and its tests are not run"

build: deps  ## the release binary: build/gambrel
	@JOBS=$(JOBS) tools/build.sh release gambrel

test: deps venv  ## build, test, check the tree
	@JOBS=$(JOBS) FUZZ_TEST_SECONDS=$(FUZZ_TEST_SECONDS) tools/test.sh

wheel: deps  ## the Python package as a wheel: build/wheel/dist
	@JOBS=$(JOBS) tools/build_wheel.sh build/wheel

test-wheel: wheel  ## that wheel in fresh environments: tests, types, ABI, size, time of import
	@tools/test_wheel.sh build/wheel/dist build/wheel/fresh

test-torch: wheel  ## that wheel beside PyTorch, which pip brings (gigabytes): FLOP against flop_counter, module paths
	@tools/test_torch.sh build/wheel/dist build/torch

docs:  ## the documentation as a site: build/site/html
	@ls build/wheel/dist/*.whl >/dev/null 2>&1 || $(MAKE) wheel
	@tools/build_docs.sh build/wheel/dist build/site

test-notebooks: wheel  ## execute examples/notebooks with that wheel
	@tools/test_notebooks.sh build/wheel/dist build/notebooks

test-packages: wheel package  ## the .deb and the wheel in an empty Debian, made with debootstrap; needs root
	@tools/test_packages.sh build/packages build/wheel/dist build/debian

test-gpu-model: deps  ## all runs on the GPU that executes PTX, with four versions of NVRTC: minutes
	@JOBS=$(JOBS) tools/test_gpu_model.sh

demo: build  ## the whole product on one page, build/demo/report.html
	@tools/demo.sh build/gambrel build/demo

bench: deps  ## build and run the benchmarks
	@JOBS=$(JOBS) tools/build.sh bench all
	@for b in build/bench/bench/*_bench; do $$b || exit 1; done
	@bench/rank_ratio.sh build/bench/gambrel || [ $$? = 77 ]

sweep: deps  ## the model against itself on 250,000 random (layer, GPU) pairs
	@JOBS=$(JOBS) tools/build.sh bench model_sweep
	@build/bench/bench/model_sweep 250000

accuracy: build  ## write docs/accuracy.md again from the measured rows in GAMBREL_SHARED_DATA: minutes
	@work=$$(mktemp -d) && cd $$work && ln -s $(abspath $(GAMBREL_SHARED_DATA))/measured/$(MEASURED) . && \
	    $(CURDIR)/build/gambrel validate $(MEASURED) --simulate -q -o accuracy.md && mv accuracy.md $(CURDIR)/docs

intervals: deps  ## learn data/model/intervals.json again from the measured rows in GAMBREL_SHARED_DATA
	@JOBS=$(JOBS) tools/build.sh ci test_validate
	@GAMBREL_LEARN_INTERVALS=data/model/intervals.json build/ci/tests/test_validate --gtest_filter='Intervals.are_*'

sanitize: deps  ## all tests under address and undefined behaviour sanitizers, with clang
	@JOBS=$(JOBS) tools/sanitize.sh

fuzz: deps  ## fuzz each target for SECONDS=600
	@JOBS=$(JOBS) tools/build.sh fuzz fuzz_all
	@JOBS=$(JOBS) tools/run_fuzz.sh build/fuzz/fuzz $(SECONDS)

format:  ## rewrite the sources with clang-format
	@tools/check_format.sh --fix

lint: deps  ## clang-tidy over src/ and app/
	@JOBS=$(JOBS) tools/build.sh ci all
	@JOBS=$(JOBS) tools/lint.sh build/ci

package: build  ## a .deb and a tarball: build/packages
	@cmake --build build -j $(JOBS)
	@cd build && cpack -B packages --config CPackConfig.cmake >/dev/null && rm -rf packages/_CPack_Packages && ls -l packages

install: build  ## install binary, library and CMake package under PREFIX=/usr/local
	@cmake --build build -j $(JOBS)
	@cmake --install build --prefix $(PREFIX)

clean:  ## remove build/
	rm -rf build
