# A buffer that fills stops the event; it goes on when the reader has made room.

load lib

setup() { load_modules config="$fast" buffer_size=64K; }
teardown() { unload_modules; }

# fill_and_drain CPU: a hundred times. A read takes all of the full buffer, up to
# the gap.
fill_and_drain() {
	timeout "$patience" fileops refill "/dev/auxtrace$1" "$class/auxtrace$1/state" 100 \
		>"$BATS_TEST_TMPDIR/trace"
	cat "$class/auxtrace$1/stats"
	[[ $(stat_of "$1" gaps) -eq 101 && $(stops_of "$1") -eq 101 ]]
	[[ $(stat_of "$1" gaps_full) -eq 101 && $(stat_of "$1" reads) -eq 100 ]]
	run -0 auxcheck "$BATS_TEST_TMPDIR/trace"
	echo "$output"
	[[ $(field stops) -eq 99 ]]
}

@test "CPU 0: filled and drained a hundred times" { fill_and_drain 0; }

@test "CPU 1: filled and drained a hundred times" { fill_and_drain 1; }

@test "both CPUs: slow readers, more than a hundred gaps each" {
	auxcheck --bytes 16M --delay-us 1000 /dev/auxtrace1 >"$BATS_TEST_TMPDIR/1" & pid=$!
	run -0 auxcheck --bytes 16M --delay-us 1000 --random-size 9 /dev/auxtrace0
	[[ $(field gaps) -gt 100 ]]
	wait "$pid"
	output=$(<"$BATS_TEST_TMPDIR/1")
	[[ $(field gaps) -gt 100 ]]
}

@test "an exclusive PMU, the same" {
	unload_modules
	modprobe auxtrace_sim exclusive=1
	modprobe auxtrace config="$fast" buffer_size=64K
	run -0 auxcheck --bytes 16M --delay-us 1000 /dev/auxtrace0
	[[ $(field gaps) -gt 100 ]]
}

@test "a driver that wants much room: the event goes on" {
	# 20000 bytes of a 64 KiB buffer are never used.
	setting 0 config1 $((20000 << 32))
	run -0 auxcheck --bytes 8M --delay-us 1000 --random-size 4 /dev/auxtrace0
	[[ $(field gaps) -gt 100 ]]
}

@test "without flushes (flush_ms=0), a late reader still gets all" {
	setting 0 flush_ms 0
	run -0 auxcheck --bytes 16M --delay-us 1000 /dev/auxtrace0
	run -0 auxcheck --bytes 16M --poll --delay-us 1000 /dev/auxtrace0
	[[ $(stat_of 0 flushes) -eq 0 ]]
}

@test "the smallest buffer, and a watermark as long as the buffer" {
	setting 0 buffer_size 8192
	setting 0 watermark 8192
	run -0 auxcheck --bytes 4M --random-size 6 /dev/auxtrace0
}
