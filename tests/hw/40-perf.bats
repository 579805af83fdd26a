# auxtrace and perf: which of them has the PMU.

load lib

setup() { load_auxtrace buffer_size=16M max_total=1G; }

teardown() {
	stop_busy
	pkill -KILL -x perf || true
	unload_modules
}

perf_record() { perf record -q -o "$BATS_TEST_TMPDIR/perf.data" "$@"; }

# perf_has_it OPTION...: it traces until its command, of which it waits for the end, is
# killed; auxtrace is refused meanwhile, and not afterwards.
perf_has_it() {
	local started=$BATS_TEST_TMPDIR/started
	rm -f "$started"
	perf_record "$@" bash -c "echo \$\$ >'$started'; exec sleep 1000" 3>&- &
	wait_until test -s "$started"
	refused 'Device or resource busy' "auxtrace1: $pmu is in use by perf" \
		head -c 1 /dev/auxtrace1
	kill -KILL "$(<"$started")"
	wait $! || true
	head -c 1 /dev/auxtrace1 >"$BATS_TEST_TMPDIR/byte"
}

# perf_traces OPTION...: and has recorded trace of a program
perf_traces() {
	run -0 perf_record "$@" -e ${event}u bash -c 'work 1 30'
	run "${checker[@]}" "$BATS_TEST_TMPDIR/perf.data" 1
	echo "perf record $*: $output"
	((status == 0 && $(field bytes) > 8192))
}

@test "perf has the PMU for each CPU: no open, then one" { perf_has_it -a -e ${event}u; }

@test "perf has the PMU for a task: no open, then one" { perf_has_it -e ${event}u; }

@test "auxtrace has the PMU: no perf, then one" {
	exec {fd}</dev/auxtrace1
	run ! perf_record -a -e $event true
	[[ $output == *busy* ]]
	run ! perf_record -e ${event}u true
	[[ $output == *busy* ]]
	exec {fd}<&-
	perf_traces -a
	perf_traces
}
