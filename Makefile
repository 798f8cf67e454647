# SPDX-License-Identifier: GPL-2.0
#
# bfc - flow control for Linux boxes used as switches.
#
#   make demo         see it work, in a VM (HOST=1: on the running kernel)
#   make check        all tests; installs what they need
#   make sim          a simulated machine for 100 Gbit/s networks: scripts/sim
#   make              module for the running kernel, tc plugin, eBPF, bfcctl
#   make install      the same into the system (DESTDIR honoured), uninstall
#   make deb          Debian packages, in build/deb/
#   make check-long   the same on four kernels, and under KASAN, lockdep and kmemleak
#   make help         the rest

KDIR ?= /lib/modules/$(shell uname -r)/build
RELEASE = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"$$/\1/p' \
	    $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
MODULE_DIR = $(CURDIR)/build/modules/$(RELEASE)/sch_bfc

.PHONY: all help headers modules plugin bpf tools demo sim sim-debug bench faults check \
	check-long install uninstall install-dkms deb clean

# eBPF programs are left out if their build tools are missing.
bpf := $(and $(shell command -v $(or $(CLANG),clang)), \
	$(or $(BPFTOOL),$(shell command -v bpftool),$(wildcard /usr/sbin/bpftool)), \
	$(shell $(CC) -include bpf/bpf.h -include libmnl/libmnl.h -E -xc /dev/null >/dev/null 2>&1 && echo y),bpf)

all: modules plugin $(bpf)
	$(if $(bpf),,@echo "Without eBPF and bfcctl: these need clang, bpftool and" \
		"libbpf and libmnl (Debian: libbpf-dev, libmnl-dev).")

help:
	@sed -n '4,11s/^# \{0,3\}//p' Makefile
	@echo 'make modules      the kernel module, for KDIR=$(KDIR)'
	@echo 'make plugin       q_bfc.so for tc'
	@echo 'make bpf          eBPF programs and bfcctl; needs clang, bpftool, libbpf, libmnl'
	@echo 'make tools        what the tests use'
	@echo 'make bench        what packets and pause times cost'
	@echo 'make faults       how long faults of links and neighbours last'
	@echo 'make sim-debug    the simulated machine with KASAN, lockdep, kmemleak'
	@echo 'make install-dkms the module'"'"'s sources for dkms(8), in /usr/src'
	@echo 'make clean        remove what was built, keep downloads and kernels'

headers:
	@test -e "$(KDIR)/Makefile" || { \
		echo "No headers of the running kernel at $(KDIR)."; \
		echo "Install them (Debian: apt-get install linux-headers-\$$(uname -r))"; \
		echo "or name another tree: make KDIR=/path/to/build"; exit 1; } >&2

modules: headers
	scripts/build-modules --product "$(KDIR)"

plugin:
	$(MAKE) -C tc_bfc

bpf:
	$(MAKE) -C bpf

tools:
	$(MAKE) -C selftests/tools
	$(MAKE) -C lab/wire

demo:
	scripts/demo $(if $(HOST),--host)

# Debian's kernel source as User-Mode Linux with an exact clock; the flavour with
# checkers is another build.
sim sim-debug:
	scripts/install-deps build sim
	$(MAKE) plugin bpf tools
	scripts/build-modules $@

# What a packet costs, compared with other qdiscs, and FAFC's pause times, with a
# solver.
bench: sim
	scripts/install-deps vm unit
	scripts/build-modules stock
	selftests/bench/run.sh

# The table of docs/reliability.md
faults: sim
	scripts/sim --timeout 7200 -- env FAULTS=all FAULTS_FLAPS=10000 \
		selftests/net/faults.sh >build/faults.log; status=$$?; \
		sed -n 's/^# |/|/p; /^not ok/p' build/faults.log; exit $$status

check:
	scripts/check

check-long:
	scripts/check --long

install: headers modules plugin $(bpf)
	$(MAKE) -C "$(KDIR)" M="$(MODULE_DIR)" INSTALL_MOD_PATH="$(DESTDIR)" \
		INSTALL_MOD_DIR=extra modules modules_install
	$(MAKE) -C tc_bfc install DESTDIR="$(DESTDIR)"
	$(if $(bpf),$(MAKE) -C bpf install DESTDIR="$(DESTDIR)")
	$(if $(DESTDIR),,depmod $(RELEASE))

# Then "dkms install bfc/$(VERSION)" builds it, and for each new kernel again.
VERSION = $(shell scripts/version)
install-dkms: dir = $(DESTDIR)/usr/src/bfc-$(VERSION)
install-dkms:
	rm -rf "$(dir)"
	install -d "$(dir)"
	cp -r --no-preserve=ownership Kbuild dkms.conf include sch_bfc "$(dir)"

deb:
	scripts/install-deps deb
	scripts/build-deb

uninstall: headers
	rm -f "$(DESTDIR)/lib/modules/$(RELEASE)/extra/sch_bfc.ko"*
	$(MAKE) -C tc_bfc uninstall DESTDIR="$(DESTDIR)"
	$(MAKE) -C bpf uninstall DESTDIR="$(DESTDIR)"
	$(if $(DESTDIR),,depmod $(RELEASE))

clean:
	rm -rf build/modules build/tc build/bpf build/tools build/unit build/check \
		build/debian/*/srv/build \
		build/deb build/demo build/link_wire.so
