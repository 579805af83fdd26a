# The framed format, and the control calls.

load lib

# 8 MiB/s in pieces of 4 KiB: neither fills the buffer nor lets readers starve.
medium=$(sim_config $((8 << 20)) 4096)

setup() { load_modules config="$medium"; }
teardown() { unload_modules; }

@test "INFO says what is in force" {
	setting 1 config1 64
	setting 1 flush_ms 7
	run -0 control info /dev/auxtrace1
	[[ $output == "cpu=1 pmu=auxtrace_sim config=$(printf '%#x' "$medium") config1=0x40 flush_ms=7 consumer="[12]" watermark="*" driver_flags="* ]]
}

@test "INFO and STATUS for callers that know less, or more" { control sizes /dev/auxtrace0; }
@test "unknown calls, and bad addresses" { control unknown /dev/auxtrace0; }
@test "SET_FORMAT: before the first read only" { control format /dev/auxtrace0; }
@test "SET_WAKE_BYTES: poll's threshold" { control wake_bytes /dev/auxtrace0; }
@test "STOP ends the stream, START goes on behind a gap" { control stop_start /dev/auxtrace0; }
@test "STOP ends a read that waits in another thread" { control stop_blocked /dev/auxtrace0; }
@test "FLUSH publishes now, and is no gap" { control flush /dev/auxtrace0; }
@test "a poll for the end alone hears of it when another thread has read the rest" {
	timeout "$patience" control hup /dev/auxtrace0
}
@test "the last window before a START says so" { control last /dev/auxtrace0; }
@test "a last window cut by a START: the next one says all that is to be said" {
	setting 0 config "$slow"
	control last_cut /dev/auxtrace0
}

@test "the same calls by a 32-bit program" {
	built control32
	[[ $(od -An -tx1 -j4 -N1 "$(type -P control32)") == " 01" ]]
	for case in $(control32 list); do
		echo "case $case"
		[[ $case != last_cut ]] || setting 0 config "$slow"
		control32 "$case" /dev/auxtrace0
	done
}

# framed CPU BYTES [SEED]: the payload verified, what the headers said in $output.
framed() {
	windows -b "$2" -s "${3:-1}" "/dev/auxtrace$1" 2>"$BATS_TEST_TMPDIR/windows" |
		auxcheck --restarts - >"$BATS_TEST_TMPDIR/check"
	[[ ${PIPESTATUS[0]} -eq 0 && ${PIPESTATUS[1]} -eq 0 ]] || {
		cat "$BATS_TEST_TMPDIR"/{windows,check}
		return 1
	}
	output="$(<"$BATS_TEST_TMPDIR/windows") $(<"$BATS_TEST_TMPDIR/check")"
	echo "$output"
}

@test "framed: windows survive any read size, every byte right" {
	for seed in 1 2 3; do framed 0 8000000 $seed; done
	[[ $(field windows) -gt 1 && $(field gap) -eq 0 ]]
}

@test "framed for every open by format=framed" {
	setting 0 format framed
	# magic, header_size, version
	head -c 8 /dev/auxtrace0 | cmp - <(printf 'AUXW\x40\0\1\0')
}

@test "framed: each full buffer is a window with GAP and FULL, and a time" {
	setting 0 config "$fast"
	setting 0 buffer_size 64K
	framed 0 16000000
	[[ $(field gap) -gt 10 && $(field full) -eq $(field gap) ]]
	[[ $(field gap) -eq $(field gaps) ]]
	[[ $(field gap_time) -gt 0 ]]
}

@test "framed: what a flush published says so, low rates arrive" {
	setting 0 config "$slow"
	framed 0 80
	[[ $(field flush) -gt 0 && $(field gap) -eq 0 ]]
}

@test "framed: padding to a multiple of 8" {
	# A blob, as the pattern comes in words.
	head -c 999999 /dev/urandom >"$BATS_TEST_TMPDIR/blob"
	cat "$BATS_TEST_TMPDIR/blob" >/dev/auxtrace_sim
	setting 0 config "$(sim_config $((16 << 20)) $((8 << 10)) 1)"
	windows -b 999999 /dev/auxtrace0 2>/dev/null | cmp - "$BATS_TEST_TMPDIR/blob"
}

@test "framed: a CPU that was offline is a window with GAP and HOTPLUG" {
	framed 1 40000000 4 >"$BATS_TEST_TMPDIR/out" & pid=$!
	wait_until eval '(( $(stat_of 1 windows) > 0 ))'
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online
	wait "$pid"
	output=$(<"$BATS_TEST_TMPDIR/out")
	[[ $(field hotplug) -eq 1 && $(field restarts) -eq 1 ]]
}

@test "tracepoints: tools that read the formats learn the flags' values" {
	local events=/sys/kernel/tracing/events/auxtrace
	grep -q '"STOPPED"' $events/window/format
	run ! grep AUXTRACE_WINDOW_ $events/{window,gap}/format
}

@test "tracepoints: as many gaps, restarts and flushes as are counted" {
	local events=/sys/kernel/tracing/events/auxtrace
	setting 0 config "$fast"
	setting 0 buffer_size 64K
	setting 1 config "$slow"
	echo 4096 >/sys/kernel/tracing/buffer_size_kb
	echo >/sys/kernel/tracing/trace
	echo 1 >$events/enable
	framed 0 4000000
	run -0 auxcheck --bytes 80 /dev/auxtrace1
	echo 0 >$events/enable
	lines() { grep -cE "$1" /sys/kernel/tracing/trace; }
	[[ $(lines ' gap: stream=0 .*cause=FULL') -eq $(stat_of 0 gaps) ]]
	[[ $(lines ' reenable: stream=0 .*error=0') -ge $(($(stat_of 0 gaps) - 1)) ]]
	[[ $(lines ' window: stream=0 .*flags=GAP.FULL') -gt 10 ]]
	[[ $(lines ' flush: stream=1 ') -eq $(stat_of 1 flushes) ]]
	[[ $(lines ' window: stream=1 ') -gt 0 ]]
}
