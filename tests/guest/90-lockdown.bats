# The kernel locked down: nothing is opened. Late, as no unsigned module loads from then on.

load lib

setup() {
	load_modules
	mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
}
teardown() { unload_modules; }

@test "open: locked down for perf" {
	echo confidentiality >/sys/kernel/security/lockdown
	refused "Operation not permitted" "auxtrace0: open refused: the kernel is locked down" \
		cat /dev/auxtrace0
	state_is 0 closed
}
