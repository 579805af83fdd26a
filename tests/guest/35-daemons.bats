# How daemons wait and read: several devices in one loop of epoll, select, or io_uring;
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

@test "io_uring: two devices by one ring, reads and polls of all kinds" {
	for how in read nonblock queue poll multishot; do
		drained uring $how
	done
}

@test "io_uring: a read that is cancelled takes nothing" {
	uring cancel 50 /dev/auxtrace0 | auxcheck - >"$BATS_TEST_TMPDIR/out"
	output=$(<"$BATS_TEST_TMPDIR/out")
	echo "$output"
	[[ $(field bytes) -gt 0 && $(field gaps) -eq $(stat_of 0 gaps) ]]
}

@test "io_uring: a ring that is closed with reads pending loses nothing" {
	setting 0 config "$slow"
	setting 0 flush_ms 0
	for where in poll splice; do
		uring close $where /dev/auxtrace0 >"$BATS_TEST_TMPDIR/trace"
		run -0 auxcheck "$BATS_TEST_TMPDIR/trace"
		[[ $(field bytes) -gt 0 ]]
		wait_until state_is 0 closed
	done
}

@test "io_uring: a process that ends with reads and a poll pending closes the device" {
	setting 0 config "$slow"
	setting 0 flush_ms 0
	for where in poll splice; do
		uring exit $where /dev/auxtrace0
		wait_until state_is 0 closed
	done
	setting 0 flush_ms 100
	run -0 auxcheck --bytes 80 /dev/auxtrace0
}

@test "splice and sendfile to a pipe" {
	for call in splice sendfile; do
		fileops $call /dev/auxtrace1 8000000 | auxcheck - >"$BATS_TEST_TMPDIR/out"
		output=$(<"$BATS_TEST_TMPDIR/out")
		[[ $(field bytes) -eq 8000000 && $(field gaps) -gt 10 ]]
	done
}

# (Of a character device the kernel takes sendfile() to a pipe only.)
@test "splice through a pipe to a file and to a socket, which sendfile refuses" {
	for to in file socket; do
		fileops relay /dev/auxtrace1 8000000 $to >"$BATS_TEST_TMPDIR/trace" \
			2>"$BATS_TEST_TMPDIR/sendfile"
		[[ $(<"$BATS_TEST_TMPDIR/sendfile") == "sendfile EINVAL" ]]
		run -0 auxcheck "$BATS_TEST_TMPDIR/trace"
		[[ $(field bytes) -eq 8000000 && $(field gaps) -gt 10 ]]
	done
}
