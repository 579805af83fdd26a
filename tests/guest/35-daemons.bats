# How daemons wait and read: several devices in one loop of epoll or select;
# splice to wherever. Whoever waits hears of STOP.

load lib

# CPU 0 goes at 8 MiB/s in pieces of 4 KiB, and publishes 256 times a second. CPU 1 is so
# fast, and has so little room, that gaps are everywhere.
setup() {
	load_modules config="$(sim_config $((8 << 20)) 4096)" watermark=32K
	setting 1 config "$fast"
	setting 1 watermark 0
	setting 1 buffer_size 64K
}

teardown() { unload_modules; }

# drained PROGRAM HOW...: two million bytes of both CPUs, and what there was when STOP
# was called. Every byte is right.
drained() {
	local n
	"$@" 2000000 "$BATS_TEST_TMPDIR" /dev/auxtrace{0,1}
	for n in 0 1; do
		run -0 auxcheck "$BATS_TEST_TMPDIR/auxtrace$n.trace"
		echo "$*, CPU $n: $output"
		[[ $(field bytes) -ge 2000000 && $(field gaps) -le $(stat_of $n gaps) ]]
		wait_until state_is $n closed
	done
	[[ $(field gaps) -gt 10 ]]
}

@test "two devices, one epoll loop" {
	run -0 auxtrace-poll -b 8000000 -o "$BATS_TEST_TMPDIR" /dev/auxtrace0 /dev/auxtrace1
	for n in 0 1; do
		run -0 auxcheck "$BATS_TEST_TMPDIR/auxtrace$n.trace"
		[[ $(field bytes) -eq 8000000 ]]
	done
}

# To CPU 0 the longer threshold is two watermarks, to CPU 1 the whole buffer, which is
# never quite full. Without flushes only STOP itself can tell of the end.
@test "epoll, level- and edge-triggered: two devices, and a threshold" {
	drained drain level 65536
	drained drain edge 65536
	setting 0 flush_ms 0
	drained drain edge 1
}

@test "select: two devices; a gap ahead is an exception" {
	drained drain select 1 >"$BATS_TEST_TMPDIR/out"
	grep exceptions=[1-9] "$BATS_TEST_TMPDIR/out"
}

@test "splice and sendfile to a pipe" {
	for call in splice sendfile; do
		fileops $call /dev/auxtrace1 8000000 | auxcheck - >"$BATS_TEST_TMPDIR/out"
		output=$(<"$BATS_TEST_TMPDIR/out")
		[[ $(field bytes) -eq 8000000 && $(field gaps) -gt 10 ]]
	done
}
