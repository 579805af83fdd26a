# Everything at once, at random; tests/tools/stress/main.c tells what. The program's
# options are in AUXTRACE_STRESS: AUXTRACE_STRESS="--seconds 30 --seed 7" takes the
# random numbers of an earlier run.

load lib

stress_options=(${AUXTRACE_STRESS:---seconds 30 --opens 100 --hotplugs 5})

setup() { load_modules; }

teardown() {
	for online in /sys/devices/system/cpu/cpu*/online; do echo 1 >"$online"; done
	unload_modules
}

run_stress() {
	stress --module "/lib/modules/$(uname -r)/updates/auxtrace.ko" "$@" 2>&1 |
		sed -u 's/^/# /' >&3
	return "${PIPESTATUS[0]}"
}

@test "open, read, stop, unload at random while CPUs come and go: all right, no leak" {
	# What threads, hotplug and perf keep for good.
	run_stress --seconds 5 --opens 20
	unload_modules
	read -r first slab_first < <(memory)
	load_modules
	run_stress "${stress_options[@]}"
	unload_modules
	read -r last slab_last < <(memory)
	echo "# pages $first -> $last KiB, slab $slab_first -> $slab_last KiB" >&3
	! debug_kernel || return 0
	# An open makes a buffer of some hundred KiB, and 5 KiB of slab.
	((first - last < 4096))
	((slab_last - slab_first < 2048))
}

@test "the same with a driver that loses something each time" {
	local settings=(config="$(sim_config $((16 << 20)) 4096)" config1=0x10000 watermark=256)
	unload_modules
	load_modules "${settings[@]}"
	run_stress --seconds 15 --opens 20 --fixed --params "${settings[*]}"
}
