# shellcheck shell=bash
# Owns whether a guest's processors can be threads of QEMU's, for tests that look for races.

# threads_for KERNEL: for run --threads. Before 8.1 QEMU's threads can run what the kernel
# has just patched away, which newer kernels than Debian 12's do not survive (README.md).
threads_for() {
	local version
	version=$(dpkg-query -W -f '${Version}' qemu-system-x86)
	if [[ $1 == stock ]] || dpkg --compare-versions "$version" ge 1:8.1; then
		echo multi
	else
		echo "# QEMU $version: processors in turns, for kernel $1" >&2
		echo single
	fi
}
