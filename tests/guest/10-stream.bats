# What is read: every byte, in order, except where a gap is counted.

load lib

setup() { load_modules config="$fast"; }
teardown() { unload_modules; }

# stream CPU OPTION...: 256 MiB verified, then the counts compared. The device
# stays open until nobody reads and the buffer is full, so that both have
# noticed the last stop.
stream() {
	local cpu=$1 output fd
	shift
	exec {fd}<"/dev/auxtrace$cpu"
	output=$(auxcheck --bytes 256M "$@" - <&$fd) || return
	wait_until state_is "$cpu" full
	echo "auxtrace$cpu: $output; $(tr '\n' ' ' <$class/auxtrace$cpu/stats)"
	[[ $(stat_of "$cpu" gaps) -eq $(stops_of "$cpu") ]]
	[[ $(stat_of "$cpu" gaps_full) -eq $(stops_of "$cpu") ]]
	[[ $(field gaps) -eq $(field stops) ]]
	[[ $(field stops) -le $(stops_of "$cpu") ]]
	[[ $(stat_of "$cpu" bytes) -ge $((256 << 20)) ]]
	exec {fd}<&-
}

@test "256 MiB from each of two CPUs at once, random read sizes" {
	stream 1 --random-size 1 & pid=$!
	stream 0 --random-size 2
	wait "$pid"
}

@test "256 MiB from each of two CPUs at once, a fast and a slow reader" {
	setting 1 buffer_size 1M
	stream 1 --size 128K --delay-us 2000 & pid=$!
	stream 0 --size 1M
	wait "$pid"
	[[ $(stat_of 1 gaps) -gt 0 ]]
}

@test "1 MiB byte by byte" {
	run -0 auxcheck --bytes 1M --size 1 /dev/auxtrace0
	[[ $(field bytes) -eq $((1 << 20)) ]]
}

@test "a failed or cut read loses nothing" {
	fileops efault /dev/auxtrace0 2000000 2>"$BATS_TEST_TMPDIR/count" |
		{ run -0 auxcheck -; echo "$output"; [[ $(field bytes) -eq 2000000 ]]; }
	cat "$BATS_TEST_TMPDIR/count"
	read -r failed cut <"$BATS_TEST_TMPDIR/count"
	[[ ${failed#*=} -gt 100 && ${cut#*=} -gt 100 ]]
}

@test "one read never crosses a gap, and poll reports it until a read has" {
	setting 0 buffer_size 64K
	exec {fd}</dev/auxtrace0
	wait_until state_is 0 full
	# Half of the buffer read: the event starts again behind the gap, and
	# fills what is free, so that one read could have it all.
	dd bs=40000 count=1 iflag=fullblock status=none <&$fd >"$BATS_TEST_TMPDIR/a"
	wait_until state_is 0 full
	dd bs=1M count=1 status=none <&$fd >"$BATS_TEST_TMPDIR/b"
	dd bs=1M count=1 status=none <&$fd >"$BATS_TEST_TMPDIR/c"
	exec {fd}<&-
	cd "$BATS_TEST_TMPDIR"
	wc -c a b c
	# Before the gap: epoch 0 to the last word. Behind it: epoch 1 at once.
	run -0 auxcheck <(cat a b)
	[[ $(field gaps) -eq 0 ]]
	[[ $(od -An -tu2 -j6 -N2 c) -eq 1 ]]
	run -0 auxcheck <(cat a b c)
	[[ $(field gaps) -eq 1 ]]
	# The whole ring but for what the driver leaves unused.
	[[ $(cat a b | wc -c) -ge 65520 ]]
}

@test "a driver's alignment skips arrive as zero bytes" {
	setting 0 config1 64
	run -0 auxcheck --bytes 32M --random-size 3 --padding /dev/auxtrace0
}

@test "a stop in spite of room is a gap, and the event goes on" {
	# A flush at such a stop has the event go on, until it is held for want of room: a gap of
	# our own.
	setting 0 flush_ms 0
	setting 0 config1 $((3 << 16))
	setting 0 buffer_size 1M
	exec {fd}</dev/auxtrace0
	output=$(auxcheck --bytes 64M --size 1M - <&$fd)
	echo "$output"; cat $class/auxtrace0/stats $sim/stats/*
	[[ $(field gaps) -gt 10 ]]
	wait_until state_is 0 full
	[[ $(stat_of 0 gaps) -eq $(stops_of 0) ]]
	exec {fd}<&-
}

@test "a blob is streamed byte for byte" {
	head -c 1234567 /dev/urandom >"$BATS_TEST_TMPDIR/blob"
	cat "$BATS_TEST_TMPDIR/blob" >/dev/auxtrace_sim
	setting 0 config "$(sim_config $((16 << 20)) $((16 << 10)) 1)"
	head -c 1234567 /dev/auxtrace0 | cmp - "$BATS_TEST_TMPDIR/blob"
}

@test "a reader that polls sees every byte" {
	run -0 auxcheck --bytes 64M --poll --random-size 5 /dev/auxtrace0
}
