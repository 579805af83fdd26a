# perf and auxtrace as users of one PMU: of an exclusive one by turns, of others at the
# same time, and neither sees anything of the other in its trace.

load lib

teardown() {
	pkill -KILL -x perfaux || true
	unload_modules
}

load_exclusive() {
	modprobe auxtrace_sim exclusive=1
	modprobe auxtrace
}

# by_perf OPTION...: some trace, verified
by_perf() {
	perfaux --restart --seconds $patience --bytes 100000 "$@" | auxcheck - >"$BATS_TEST_TMPDIR/check"
	output=$(<"$BATS_TEST_TMPDIR/check")
	[[ $(field bytes) -eq 100000 ]]
}

# start_perf [TASKSET...] perfaux OPTION...: has the PMU when this returns, and goes on
start_perf() {
	perf_trace=$BATS_TEST_TMPDIR/perf
	"$@" --restart --seconds 1000 >"$perf_trace" 3>&- & pid=$!
	wait_until test -s "$perf_trace"
}

# What it got until then is verified.
stop_perf() {
	kill "$pid"
	wait "$pid"
	run -0 auxcheck "$perf_trace"
	echo "perf: $output"
	rm "$perf_trace"
}

perf_has_more_than() { (($(stat -c %s "$perf_trace") > $1)); }

@test "an exclusive PMU: an idle module leaves it to perf" {
	load_exclusive
	by_perf --cpu 0
	head -c 100 /dev/auxtrace0 >/dev/null
	by_perf --cpu 0
	by_perf --self
}

@test "an exclusive PMU: a stream keeps perf away, from its CPU and from tasks" {
	load_exclusive
	exec {fd}</dev/auxtrace0
	for whom in "--cpu 0" --self; do
		# shellcheck disable=SC2086 # two words
		run -3 perfaux $whom --bytes 1
		[[ $output == *"perf_event_open: Device or resource busy"* ]]
	done
	# The other CPU is free, and nobody notices anything.
	by_perf --cpu 1
	run -0 auxcheck --bytes 4M - <&$fd
	[[ $(field gaps) -le $(stat_of 0 gaps) && $(stat_of 0 gaps) -le $(stops_of 0) ]]
	exec {fd}<&-
	by_perf --cpu 0
	by_perf --self
}

@test "an exclusive PMU: perf keeps streams away, from its CPU, or with a task from all" {
	load_exclusive
	start_perf perfaux --cpu 0
	refused "busy" "auxtrace0: auxtrace_sim is in use by perf" cat /dev/auxtrace0
	run -0 auxcheck --bytes 100000 /dev/auxtrace1
	stop_perf
	start_perf perfaux --self
	for n in 0 1; do
		refused "busy" "auxtrace$n: auxtrace_sim is in use by perf" cat /dev/auxtrace$n
	done
	stop_perf
	run -0 auxcheck --bytes 100000 /dev/auxtrace0
}

# A stream of CPU 0, verified, while perf has the PMU there too.
beside_perf() {
	local before
	before=$(stat -c %s "$perf_trace")
	run -0 taskset -c 0 auxcheck --bytes 8M --random-size 8 /dev/auxtrace0
	echo "$output"
	[[ $(stat_of 0 gaps) -ge $(field gaps) && $(stat_of 0 gaps) -le $(stops_of 0) ]]
	wait_until perf_has_more_than "$before"
	stop_perf
}

@test "another PMU: perf and a stream on one CPU at the same time" {
	load_modules config="$(sim_config $((8 << 20)) 4096)"
	start_perf perfaux --cpu 0
	beside_perf
}

@test "another PMU: perf's event of a task beside a stream of the CPU that it runs on" {
	load_modules config="$(sim_config $((8 << 20)) 4096)"
	start_perf taskset -c 0 perfaux --self
	beside_perf
}
