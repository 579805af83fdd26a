# SPDX-License-Identifier: GPL-2.0-only
# What people type. The kernel's build system reads Kbuild instead.

KDIR ?= /lib/modules/$(shell uname -r)/build
VERSION := $(shell cat VERSION)

# Passed on to Kbuild: see module/Kbuild.
KBUILD_VARS := $(foreach v,AUXTRACE_CONSUMER AUXTRACE_SIM W C,$(if $($(v)),$(v)=$($(v))))

.PHONY: all modules tools clean install install-module install-tools
.PHONY: uninstall uninstall-module uninstall-tools demo check check-hw check-matrix soak lint help

all: modules

modules: | $(KDIR)/Makefile
	$(MAKE) -C $(KDIR) M=$(CURDIR) $(KBUILD_VARS) modules

$(KDIR)/Makefile:
	@echo "No kernel build directory at $(KDIR). Install the headers of your kernel" >&2
	@echo "(Debian: apt install linux-headers-$(shell uname -r)), or name one: make KDIR=..." >&2
	@false

# User space, by meson in $(BUILD). MESON_OPTIONS are for meson setup.
BUILD ?= build/tools
PREFIX ?= /usr/local
MESON_OPTIONS ?=

tools: | meson-there
	if [ -f $(BUILD)/build.ninja ]; \
	then meson configure $(BUILD) --prefix=$(PREFIX) $(MESON_OPTIONS); \
	else meson setup $(BUILD) userspace --prefix=$(PREFIX) $(MESON_OPTIONS); fi
	ninja -C $(BUILD)

clean:
	tests/clean

# With DESTDIR= user space alone is installed, for a package.
install: install-tools $(if $(DESTDIR),,install-module)
uninstall: uninstall-tools $(if $(DESTDIR),,uninstall-module)

install-tools: tools
	rm -f $(BUILD)/install-notes
	meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
	$(if $(DESTDIR),,ldconfig 2>/dev/null || :)
	@cat $(BUILD)/install-notes 2>/dev/null || :

uninstall-tools: tools
	userspace/uninstall $(BUILD) $(abspath $(DESTDIR))

# DKMS takes the sources from $(SRCDIR)/auxtrace-$(VERSION), and builds and
# installs the module for the running kernel now, for each new kernel later.
DKMS ?= dkms
SRCDIR ?= /usr/src
DKMS_SRC = $(SRCDIR)/auxtrace-$(VERSION)
DKMS_MODULE = -m auxtrace -v $(VERSION)

install-module: | dkms-there
	if [ -e "$(DKMS_SRC)" ]; then $(DKMS) remove $(DKMS_MODULE) --all || :; rm -rf "$(DKMS_SRC)"; fi
	find module \( -name '*.[ch]' -not -name '*.mod.c' -o -name 'Kbuild*' \) \
		-exec install -D -m 644 {} "$(DKMS_SRC)/{}" \;
	install -m 644 Kbuild VERSION dkms.conf COPYING "$(DKMS_SRC)"
	$(DKMS) add $(DKMS_MODULE)
	$(DKMS) build $(DKMS_MODULE)
	$(DKMS) install $(DKMS_MODULE)

uninstall-module: | dkms-there
	$(DKMS) remove $(DKMS_MODULE) --all || :
	rm -rf "$(DKMS_SRC)"

.PHONY: meson-there
meson-there:
	@command -v meson >/dev/null && command -v ninja >/dev/null || \
		{ echo "meson or ninja is missing (Debian: apt install meson)" >&2; false; }

.PHONY: dkms-there
dkms-there:
	@command -v $(firstword $(DKMS)) >/dev/null || \
		{ echo "dkms is missing (Debian: apt install dkms)" >&2; false; }

demo:
	tests/demo/run

check:
	tests/check

check-hw:
	tests/hw/run

check-matrix:
	tests/matrix

soak:
	tests/soak

lint:
	tests/check lint

help:
	@echo "Targets:"
	@echo "  modules    build module/auxtrace.ko and tests/sim/auxtrace_sim.ko (default)"
	@echo "             KDIR=DIR                        for the kernel built in DIR"
	@echo "             AUXTRACE_CONSUMER=native|compat where the kernel-consumer API comes from"
	@echo "             AUXTRACE_SIM=n                  without the simulated PMU"
	@echo "  tools      build what is in userspace/, in build/tools"
	@echo "  install    give the module to DKMS, which builds and installs it, and install"
	@echo "             user space (as root); one of them: install-module, install-tools"
	@echo "             PREFIX=DIR   for user space, default /usr/local"
	@echo "             DESTDIR=DIR  user space alone, below DIR"
	@echo "  uninstall  undo that (as root); also uninstall-module, uninstall-tools"
	@echo "  demo       show the main job in a virtual machine: no trace hardware needed"
	@echo "  check      run the tests that every change has to pass, most of them in virtual"
	@echo "             machines"
	@echo "  check-hw   run all tests with emulated trace hardware, of which the emulator is"
	@echo "             built first"
	@echo "  check-matrix  run the tests on each kernel that is supported, by DKMS too: takes hours"
	@echo "  soak       run the stress program for 10 minutes and more, on 2 and on 4 processors, then"
	@echo "             random calls for 10 minutes, then the daemon for 10 minutes, and the"
	@echo "             first two in the debug kernel"
	@echo "  lint       run the checks of style and types alone"
	@echo "  clean      remove what was built in this tree"
	@echo "demo, lint, soak and the checks install the packages they need and keep kernels in"
	@echo "  \$${XDG_CACHE_HOME:-\$$HOME/.cache}/auxtrace"
