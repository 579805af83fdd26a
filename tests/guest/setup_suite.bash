# Owns the guest's module directory: ours alone, so that modprobe finds them and
# depmod has nothing else to read.
# shellcheck shell=bash

setup_suite() {
	local release
	export PATH=$PATH:$AUXTRACE_BUILD/bin
	# An earlier run of bats in this guest has.
	[[ ! -d /run/modules ]] || return 0
	release=$(uname -r)
	mkdir /run/modules
	cp "/lib/modules/$release"/modules.{builtin,builtin.modinfo,order} /run/modules
	mkdir /run/modules/updates
	cp "$AUXTRACE_BUILD"/module/auxtrace.ko "$AUXTRACE_BUILD"/tests/sim/auxtrace_sim.ko \
		/run/modules/updates
	mount --bind /run/modules "/lib/modules/$release"
	depmod -a
}
