# What the PMU's driver reports with its trace, where the kernel lets us know:
# TRUNCATED, PARTIAL, COLLISION reach the windows that they are about, and the counts.

load lib

# 8 MiB/s in pieces of 4 KiB; a session is 16 KiB, as nobody flushes.
medium=$(sim_config $((8 << 20)) 4096)
session=16384

# reports TRUNCATE PARTIAL COLLISION [MARGIN]: each so many sessions, in config1.
reports() { printf '%#x\n' $(($1 << 16 | $2 << 48 | $3 << 56 | ${4:-0} << 32)); }

setup() {
	load_modules config="$medium" buffer_size=1M watermark=$session flush_ms=0
	if [[ $(control info /dev/auxtrace0) == *driver_flags=0 ]]; then
		skip "this provider cannot see what drivers report"
	fi
}
teardown() {
	pkill -KILL -x fileops || true
	unload_modules
}

# windows_of CPU BYTES: the payload verified, and to its end; a line for each window,
# with its number, in $BATS_TEST_TMPDIR/windows, the summary in $output.
windows_of() {
	windows -v -e -b "$2" "/dev/auxtrace$1" 2>"$BATS_TEST_TMPDIR/windows" |
		auxcheck --restarts - >"$BATS_TEST_TMPDIR/check"
	[[ ${PIPESTATUS[0]} -eq 0 && ${PIPESTATUS[1]} -eq 0 ]] || {
		cat "$BATS_TEST_TMPDIR"/{windows,check}
		return 1
	}
	output=$(tail -n 1 "$BATS_TEST_TMPDIR/windows")
	echo "$output"
}

# each_window EXPRESSION: true for each window in awk's eyes, given offset, size, flags
# and those of the window before as last_...
each_window() {
	sed -n 's/^offset=\([0-9]*\) size=\([0-9]*\) flags=0*x*\([0-9a-f]*\)$/\1 \2 0x\3/p' \
		"$BATS_TEST_TMPDIR/windows" |
		while read -r offset size flags; do echo "$offset $size $((flags))"; done |
		awk '
		function has(flag) { return int(flags / flag) % 2 }
		function reaches(step) { return int((offset + size) / step) > int(offset / step) }
		BEGIN { gap = 1; full = 2; truncated = 16; partial = 32; collision = 64 }
		{ offset = $1; size = $2; flags = $3 }
		!('"$1"') { print "window " NR - 1 ": " $0; bad = 1 }
		{ last_truncated = has(truncated) }
		END { exit bad || !NR }'
}

# counted NAME NAME-IN-SIMULATOR: the stream has counted what the simulator has.
counted() {
	echo "$1: $(stat_of 0 "$1") of $(<"$sim/stats/$2")"
	(($(stat_of 0 "$1") == $(<"$sim/stats/$2") && $(stat_of 0 "$1") > 0))
}

@test "PARTIAL and COLLISION: in the window of their session, in no other" {
	setting 0 config1 "$(reports 0 3 5)"
	# It would take a reader that sleeps for many seconds to fill it.
	setting 0 config "$(sim_config $((1 << 20)) 4096)"
	setting 0 buffer_size 32M
	windows_of 0 4000000
	[[ $(field gap) -eq 0 && $(field partial) -gt 0 && $(field collision) -gt 0 ]]
	# The last session is cut short by STOP: it may be one of those as well.
	each_window "(has(partial) == reaches(3 * $session) || has(256)) &&
		(has(collision) == reaches(5 * $session) || has(256)) && !has(truncated)"
	counted partial partials
	counted collision collisions
	(($(stat_of 0 reports_lost) == 0))
}

@test "TRUNCATED: at the end of its window, before each gap that a driver makes" {
	setting 0 config1 "$(reports 4 0 0)"
	windows_of 0 4000000
	[[ $(field truncated) -gt 10 ]]
	each_window "(NR == 1 || has(gap) == last_truncated) && !has(full)"
	counted truncated truncated
	(($(stat_of 0 gaps_driver) == $(stat_of 0 truncated)))
}

@test "TRUNCATED at the close itself: a gap like each other" {
	local n fd
	setting 0 config1 "$(reports 1 0 0)"
	for n in {1..5}; do
		exec {fd}</dev/auxtrace0
		head -c 65536 <&"$fd" >/dev/null
		exec {fd}<&-
		counted truncated truncated
		echo "gaps: $(stat_of 0 gaps_driver)"
		(($(stat_of 0 gaps_driver) == $(stat_of 0 truncated)))
	done
}

@test "a head that is off: what was reported before it is counted all the same" {
	# 16 sessions of 4 KiB, each with a report; then one that goes by a register that was reset,
	# which perf ends. Nobody looks before.
	setting 0 watermark 4096
	setting 0 config "$(sim_config $((1 << 20)) 4096)"
	# (No slow machine fills it meanwhile.)
	setting 0 buffer_size 32M
	setting 0 config1 "$(reports 0 1 0)"
	setting 0 config2 $((1 << 17))
	exec {fd}</dev/auxtrace0
	wait_until eval '(( $(<"$sim/stats/partials") >= 16 ))'
	mark_log
	echo 0 >"$sim/reset_cpu"
	reset=$(<"$sim/stats/partials")
	fileops reschedule 0 "$(<"$sim/type")" 3>&- &
	wait_until eval "((\$(<'$sim/stats/partials') > $reset))"
	pkill -KILL -x fileops
	head -c 4096 <&"$fd" >/dev/null
	logged 'auxtrace0: auxtrace_sim has put the head where it cannot be'
	exec {fd}<&-
	echo "$(stat_of 0 partial) of $(<"$sim/stats/partials"), lost $(stat_of 0 reports_lost)"
	(($(stat_of 0 partial) + $(stat_of 0 reports_lost) == $(<"$sim/stats/partials")))
}

@test "TRUNCATED without a byte: a full buffer of which the driver leaves a rest" {
	setting 0 config "$fast"
	setting 0 config1 "$(reports 0 0 0 4096)"
	setting 0 buffer_size 64K
	windows_of 0 8000000
	[[ $(field truncated) -gt 10 && $(field full) -eq $(field gap) ]]
	each_window "!has(full) || has(truncated) || last_truncated"
	(($(stat_of 0 truncated) == $(stat_of 0 gaps_full)))
}

@test "a poller whose threshold is beyond more gaps than can wait gets what is there" {
	setting 0 watermark 4096
	setting 0 config1 "$(reports 1 0 0)"
	run -0 timeout "$patience" drain level $((1 << 20)) 300000 "$BATS_TEST_TMPDIR" /dev/auxtrace0
	run -0 auxcheck "$BATS_TEST_TMPDIR/auxtrace0.trace"
	[[ $(field bytes) -ge 300000 && $(field gaps) -gt 16 ]]
}

@test "the raw format counts them too" {
	setting 0 config1 "$(reports 7 2 0)"
	run -0 auxcheck --bytes 4M /dev/auxtrace0
	(($(stat_of 0 partial) > 10 && $(stat_of 0 truncated) > 5))
	(($(stat_of 0 windows) == 0 && $(stat_of 0 gaps_driver) >= $(field gaps)))
}

@test "reports pile up while nobody reads: all are counted, to the last, and none is lost" {
	# perf ends a session each time that it reschedules the CPU's events.
	setting 0 config "$(sim_config 8000 8)"
	setting 0 config1 "$(reports 0 1 0)"
	exec {fd}</dev/auxtrace0
	fileops reschedule 0 "$(<"$sim/type")" 3>&- &
	wait_until eval '(( $(<"$sim/stats/partials") > 1000 ))'
	pkill -KILL -x fileops
	exec {fd}<&-
	echo "$(stat_of 0 partial) of $(<"$sim/stats/partials"), lost $(stat_of 0 reports_lost)"
	(($(stat_of 0 partial) + $(stat_of 0 reports_lost) == $(<"$sim/stats/partials")))
	# Of a debug kernel nobody can expect that it keeps up.
	debug_kernel || (($(stat_of 0 reports_lost) == 0))
}
