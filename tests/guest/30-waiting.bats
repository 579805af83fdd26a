# How readers wait: flushes of low rates, signals, poll.

load lib

setup() { load_modules config="$slow"; }
teardown() { unload_modules; }

@test "100 bytes a second arrive without a watermark's help" {
	SECONDS=0
	run -0 auxcheck --bytes 80 /dev/auxtrace0
	echo "$output"
	[[ $(field bytes) -eq 80 ]]
	[[ $(stat_of 0 flushes) -gt 0 && $(stat_of 0 gaps) -eq 0 ]]
}

@test "100 bytes a second reach a reader that polls" {
	run -0 auxcheck --bytes 80 --poll /dev/auxtrace0
	[[ $(stat_of 0 flushes) -gt 0 ]]
}

@test "flush_ms=0: nothing below the watermark is published" {
	setting 0 flush_ms 0
	run -0 fileops poll /dev/auxtrace0 1500 in
	[[ $output == 0 ]]
	[[ $(stat_of 0 flushes) -eq 0 ]]
}

@test "poll waits for a flush, and then says so" {
	run -0 fileops poll /dev/auxtrace0 $((patience * 1000)) in
	[[ $output == "1 in" ]]
}

@test "O_NONBLOCK with nothing to read: EAGAIN" {
	run -0 fileops nonblock /dev/auxtrace0
	[[ $output == EAGAIN ]]
}

@test "a blocked read ends with EINTR on a signal" {
	setting 0 flush_ms 0
	run -0 timeout "$patience" fileops eintr /dev/auxtrace0
	[[ $output == EINTR ]]
}

@test "a blocked cat ends on Ctrl-C" {
	setting 0 flush_ms 0
	# A shell starts what runs in the background deaf to SIGINT; env undoes it.
	env --default-signal=INT cat /dev/auxtrace0 >/dev/null & pid=$!
	wait_until state_is 0 running
	wait_until grep -q '^State:.S' "/proc/$pid/status"
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	[[ $status -eq 130 ]]
	state_is 0 closed
}

@test "what a stream has not got: seeks, writes, mappings, ioctls" {
	run -0 fileops calls /dev/auxtrace0
	echo "$output"
	[[ ${lines[0]} == "lseek ESPIPE" ]]
	[[ ${lines[1]} == "pread ESPIPE" ]]
	[[ ${lines[2]} == "write EBADF" ]]
	[[ ${lines[3]} == "read-nothing 0" ]]
	[[ ${lines[4]} == "mmap ENODEV" ]]
	[[ ${lines[5]} == "ioctl ENOTTY" ]]
}
