# Owns the guest's module directory, as for the other tests in a guest, with the driver
# of ARM SPE beside: modprobe auxtrace is to bring that in.
# shellcheck shell=bash
# shellcheck source=../guest/setup_suite.bash
. "${BASH_SOURCE[0]%/hw/*}/guest/setup_suite.bash"
eval "guest_$(declare -f setup_suite)"

setup_suite() {
	local driver
	for driver in "/lib/modules/$(uname -r)"/kernel/drivers/perf/arm_spe_pmu.ko*; do
		[[ ! -f $driver ]] || cp "$driver" /run
	done
	guest_setup_suite
	for driver in /run/arm_spe_pmu.ko*; do
		[[ -f $driver ]] || return 0
		cp "$driver" /run/modules/updates
	done
	depmod -a
	modprobe --show-depends auxtrace | grep -q arm_spe_pmu
	# The tests ask its device for settings.
	modprobe arm_spe_pmu
}
