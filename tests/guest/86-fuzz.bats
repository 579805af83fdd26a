# Random calls, on everything that the module offers.

load lib

setup() { modprobe auxtrace_sim; }
teardown() {
	pkill -KILL -x fuzz || true
	unload_modules
}

@test "random calls, settings and CPU hotplug: nothing unheard of, and it still works" {
	run -0 fuzz --hotplug --seconds "${AUXTRACE_FUZZ_SECONDS:-20}" \
		${AUXTRACE_FUZZ_SEED:+--seed "$AUXTRACE_FUZZ_SEED"} \
		--module "/lib/modules/$(uname -r)/updates/auxtrace.ko"
	echo "# ${lines[0]}" >&3
	echo "$output"
	[[ ${lines[-1]} == "fuzz: "*" rounds" ]]
	[[ $(grep -c 'worker [0-9]*: [0-9]* calls' <<<"$output") -ge 3 ]]
}
