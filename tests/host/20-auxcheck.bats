#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of the checker itself. They need no kernel module.

bats_require_minimum_version 1.5.0

AUXCHECK=$AUXTRACE_BUILD/bin/auxcheck

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Write N bytes of the pattern to the file "good".
generate() {
	"$AUXCHECK" --generate "$@" > good
}

# Replace the byte at an offset of the file "good"; value in octal.
poke() {
	printf '%b' "\\0$2" |
		dd of=good bs=1 seek="$1" conv=notrunc status=none
}

# Put bytes of zero into the file "good" at an offset; result in "padded".
pad() {
	{
		head -c "$1" good
		head -c "$2" /dev/zero
		tail -c +$(($1 + 1)) good
	} > padded
}

# What the checker said is in $output; a summary's field must have a value.
field() {
	[[ " ${lines[${#lines[@]}-1]} " == *" $1=$2 "* ]] || {
		echo "no $1=$2 in: $output"
		return 1
	}
}

@test "a good stream is accepted" {
	generate 1M
	run "$AUXCHECK" good
	[ "$status" -eq 0 ]
	field bytes 1048576
	field words 131072
	field gaps 0
	field stops 0
	field first_error none
}

@test "the generator writes little-endian words that count from 1" {
	generate 24 --stops 3
	run od -An -v -tx1 -w8 good
	[ "${lines[0]}" = " 01 00 00 00 00 00 00 00" ]
	[ "${lines[1]}" = " 02 00 00 00 00 00 00 00" ]
	[ "${lines[2]}" = " 03 00 00 00 00 00 01 00" ]
}

@test "standard input is read by default and as -" {
	generate 100K
	run "$AUXCHECK" < good
	[ "$status" -eq 0 ]
	field bytes 102400
	run "$AUXCHECK" - < good
	[ "$status" -eq 0 ]
	field bytes 102400
}

@test "an empty stream is good" {
	run "$AUXCHECK" /dev/null
	[ "$status" -eq 0 ]
	field bytes 0
	field first_error none
}

@test "a wrong byte is found at its offset" {
	local offset

	for offset in 0 1 7 8 4095 4096 65535 65536 524287 1000002 1048575; do
		generate 1M
		poke $offset 252
		run "$AUXCHECK" good
		[ "$status" -eq 1 ]
		field first_error $offset
		[[ $output == *"wrong byte at offset $offset:"* ]]
	done
}

@test "an epoch that falls again is wrong" {
	# The high bytes of a word: by themselves, this looks like a stop.
	generate 64K
	poke 8006 005
	run "$AUXCHECK" good
	[ "$status" -eq 1 ]
	field first_error 8014
}

@test "a lost word is found" {
	generate 64K
	{ head -c 8000 good; tail -c +8009 good; } > bad
	run "$AUXCHECK" bad
	[ "$status" -eq 1 ]
	field first_error 8000
}

@test "a lost byte is found" {
	generate 64K
	{ head -c 8003 good; tail -c +8005 good; } > bad
	run "$AUXCHECK" bad
	[ "$status" -eq 1 ]
	[[ $output == *"in the word at offset 8000:"* ]]
}

@test "a doubled word is found" {
	generate 64K
	{ head -c 8000 good; tail -c +7993 good; } > bad
	run "$AUXCHECK" bad
	[ "$status" -eq 1 ]
	field first_error 8000
}

@test "a word lost at a gap is found" {
	generate 64K --stops 1001
	{ head -c 8000 good; tail -c +8009 good; } > bad
	run "$AUXCHECK" bad
	[ "$status" -eq 1 ]
	field first_error 8000
}

@test "gaps and stops are counted" {
	generate 64K --stops 1,1000,1000,1000,1001,8192
	run "$AUXCHECK" good
	[ "$status" -eq 0 ]
	field gaps 4
	field stops 6
	field words 8192
}

@test "the epoch wraps" {
	printf '\1\0\0\0\0\0\377\377\2\0\0\0\0\0\1\0' > wrapping
	run "$AUXCHECK" --start any wrapping
	[ "$status" -eq 0 ]
	field gaps 1
	field stops 2
}

@test "padding is refused unless allowed" {
	generate 64K
	pad 8000 192
	run "$AUXCHECK" padded
	[ "$status" -eq 1 ]
	field first_error 8000
	run "$AUXCHECK" --padding padded
	[ "$status" -eq 0 ]
	field padding 192
	field words 8192
	field bytes 65728
}

@test "padding that splits a word is wrong" {
	generate 64K
	pad 8001 16
	run "$AUXCHECK" --padding padded
	[ "$status" -eq 1 ]

	pad 8000 12
	run "$AUXCHECK" --padding padded
	[ "$status" -eq 1 ]
}

@test "the size of reads doesn't matter" {
	local size

	generate 300001 --stops 77,5000,5000
	for size in 1 3 7 8 9 63 64 4095 4096 65537 1M; do
		run "$AUXCHECK" --size $size good
		[ "$status" -eq 0 ]
		field bytes 300001
		field words 37500
		field gaps 2
		field stops 3
	done

	poke 200000 000
	for size in 1 3 8 4095 1M; do
		run "$AUXCHECK" --size $size good
		[ "$status" -eq 1 ]
		field first_error 200000
	done
}

@test "random sizes are repeatable" {
	local first

	generate 8M
	run "$AUXCHECK" --random-size 1 good
	[ "$status" -eq 0 ]
	field bytes 8388608
	first=${output% seconds=*}
	run "$AUXCHECK" --random-size 1 good
	[ "${output% seconds=*}" = "$first" ]
	run "$AUXCHECK" --random-size 2 good
	[ "$status" -eq 0 ]
	[ "${output% seconds=*}" != "$first" ]
}

@test "a word that is cut at the end is verified" {
	local n

	generate 64K
	for n in 1 2 6 7; do
		head -c $((4096 + n)) good > partial
		run "$AUXCHECK" partial
		[ "$status" -eq 0 ]
		field bytes $((4096 + n))
		field words 512
	done

	poke 4097 001
	head -c 4098 good > partial
	run "$AUXCHECK" partial
	[ "$status" -eq 1 ]
	field first_error 4097
}

@test "--bytes ends the stream" {
	generate 64K
	run "$AUXCHECK" --bytes 10K good
	[ "$status" -eq 0 ]
	field bytes 10240
	run "$AUXCHECK" --bytes 1001 --size 64 good
	[ "$status" -eq 0 ]
	field bytes 1001
}

@test "--seconds ends a stream that doesn't end" {
	generate 4K
	run "$AUXCHECK" --seconds 0.3 < <(cat good; exec sleep 5)
	[ "$status" -eq 0 ]
	field bytes 4096
	run "$AUXCHECK" --seconds 0.3 --poll < <(cat good; exec sleep 5)
	[ "$status" -eq 0 ]
	field bytes 4096
}

@test "--poll reads a pipe to its end" {
	generate 256K
	run "$AUXCHECK" --poll < <(head -c 9000 good; sleep 0.2
				   tail -c +9001 good)
	[ "$status" -eq 0 ]
	field bytes 262144
}

@test "--delay-us slows down" {
	generate 64
	run "$AUXCHECK" --size 8 --delay-us 20000 good
	[ "$status" -eq 0 ]
	field reads 8
	[[ $output =~ seconds=0\.[1-9] ]]
}

@test "--start any takes the first word as it comes" {
	generate 64K --stops 100
	tail -c +8001 good > late
	run "$AUXCHECK" late
	[ "$status" -eq 1 ]
	field first_error 0
	run "$AUXCHECK" --start any late
	[ "$status" -eq 0 ]
	field words 7192
	field gaps 0
}

@test "bad usage is refused" {
	local args

	for args in --nonsense "--bytes 1X" "--bytes -1" "--bytes 0" \
		    "--size 0" "--size 2G" "--start 2" "--seconds x" \
		    "/dev/null /dev/null" "--generate 1K --stops x"; do
		# shellcheck disable=SC2086 # these are several words
		run "$AUXCHECK" $args < /dev/null
		[ "$status" -eq 2 ]
	done
	run "$AUXCHECK" ./missing
	[ "$status" -eq 2 ]
	[[ $output == *"./missing: No such file"* ]]
	run "$AUXCHECK" --help
	[ "$status" -eq 0 ]
}

@test "a pattern that begins anew is refused unless allowed" {
	"$AUXCHECK" --generate 8000 >good
	cat good good >twice
	run -1 "$AUXCHECK" twice
	run -0 "$AUXCHECK" --restarts twice
	[[ $output == *restarts=1* ]]
}
