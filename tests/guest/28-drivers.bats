# What drivers of real hardware do at the end of the room: intel_pt's regions, of which
# it needs a free one behind, and its two reports of one stop that does not show in the
# event's state; arm_spe_pmu's pages, and the zeroes that it fills a rest with.

load lib

# 64 MiB/s in pieces of 8 KiB, in a buffer of 16 regions or 64 pages
setup() { load_modules config="$(sim_config $((64 << 20)) 8192)" buffer_size=256K watermark=32K; }
teardown() { unload_modules; }

region=4
pages=$((1 << 16))

# streams CPU OPTION...: 16 MiB, verified; each loss in the trace is a gap. There can be
# more gaps: behind the last byte, or two without a byte between.
streams() {
	local cpu=$1
	shift
	run -0 auxcheck --bytes 16M --padding "$@" "/dev/auxtrace$cpu"
	echo "$output"
	cat "$class/auxtrace$cpu/stats"
	(($(stat_of "$cpu" gaps) >= $(field gaps)))
}

@test "regions: slow readers, on each CPU" {
	for cpu in 0 1; do
		setting $cpu config2 $region
		streams $cpu --delay-us 2000
		(($(field gaps) > 20))
	done
}

@test "regions: two of them, each half of the buffer" {
	setting 1 watermark 128K
	setting 1 config2 32
	streams 1
	(($(field gaps) > 20))
}

@test "regions, flushed all the time" {
	setting 1 flush_ms 1
	setting 1 config2 $region
	setting 1 config "$(sim_config $((4 << 20)) 512)"
	streams 1
}

@test "pages: slow readers, on each CPU" {
	for cpu in 0 1; do
		setting $cpu config2 $pages
		setting $cpu config1 64
		streams $cpu --delay-us 2000
		(($(field gaps) > 20 && $(<"$sim/stats/padding") > 0))
	done
}

@test "pages, flushed all the time" {
	setting 1 flush_ms 1
	setting 1 config2 $pages
	setting 1 config1 64
	setting 1 config "$(sim_config $((4 << 20)) 512)"
	streams 1
}

# breaks_off COMMAND...: it reads CPU 1 while the head is put where it cannot be, five times.
breaks_off() {
	local i before pid
	setting 1 config2 $((1 << 17))
	setting 1 config "$(sim_config $((1 << 20)) 4096)"
	"$@" >"$BATS_TEST_TMPDIR/out" & pid=$!
	for ((i = 1; i <= 5; i++)); do
		before=$(stat_of 1 bytes)
		wait_until eval "(( \$(stat_of 1 bytes) > $before + 100000 ))"
		echo 1 >"$sim/reset_cpu"
		wait_until eval "(( \$(stat_of 1 gaps_driver) == $i ))"
		kill -0 "$pid"
	done
	before=$(stat_of 1 bytes)
	wait_until eval "(( \$(stat_of 1 bytes) > $before ))"
	pkill -TERM -x windows || kill -TERM "$pid"
	wait "$pid"
	output=$(<"$BATS_TEST_TMPDIR/out")
	echo "$output"
	[[ $(field first_error) == none && $(field restarts) -eq 5 && $(stat_of 1 gaps) -eq 5 ]]
}

@test "a head put where it cannot be: the rest is lost, a gap says so, trace goes on" {
	mark_log
	breaks_off auxcheck --restarts /dev/auxtrace1
	logged 'auxtrace1: auxtrace_sim has put the head where it cannot be'
}

@test "the same under a window, whose rest is zeroes" {
	breaks_off bash -c 'windows -e /dev/auxtrace1 2>/dev/null | auxcheck --restarts --padding -'
}

@test "framed: windows before and behind each loss" {
	for config2 in $region $pages; do
		setting 1 config2 $config2
		setting 1 config1 64
		windows -e -b 8000000 /dev/auxtrace1 2>"$BATS_TEST_TMPDIR/windows" |
			auxcheck --restarts --padding --delay-us 2000 - >"$BATS_TEST_TMPDIR/check"
		[[ ${PIPESTATUS[0]} -eq 0 && ${PIPESTATUS[1]} -eq 0 ]] || {
			cat "$BATS_TEST_TMPDIR"/{windows,check}
			return 1
		}
		output=$(tail -n 1 "$BATS_TEST_TMPDIR/windows")
		(($(field gap) > 20))
	done
}
