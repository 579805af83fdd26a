# The VM runner: what it says of a guest's end.

bats_require_minimum_version 1.5.0

setup() {
	run=$(readlink -f "$BATS_TEST_DIRNAME/../vm/run")
	log=$BATS_TEST_TMPDIR/console
}

no_qemu() { ! pgrep -f "$log" >/dev/null; }

@test "the command's output and status come back" {
	run -7 --separate-stderr "$run" --log "$log" -- bash -c 'seq 100000; uname -r; exit 7'
	[[ ${#lines[@]} -eq 100001 ]]
	[[ ${lines[100000]} == "$("${run%/run}/kernel" release)" ]]
	[[ $stderr == *"$log"* ]]
}

@test "a kernel report fails a command that succeeded" {
	run -126 --separate-stderr "$run" --log "$log" -- bash -c 'echo "WARNING: a test" >/dev/kmsg'
	[[ $stderr == *"WARNING: a test"* && $stderr == *"$log"* ]]
}

@test "a guest that dies fails the run" {
	run -125 --separate-stderr "$run" --log "$log" -- bash -c 'echo c >/proc/sysrq-trigger; sleep 600'
	[[ $stderr == *"$log"* ]]
	grep -q 'sysrq triggered crash' "$log"
}

@test "Ctrl-C leaves nothing behind" {
	"$run" --log "$log" -- sleep 600 3>&- &
	pid=$!
	for ((i = 0; i < 1200; i++)); do
		! grep -qs 'the command starts' "$log" || break
		sleep 0.1
	done
	grep -q 'the command starts' "$log"
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	[[ $status -eq 143 ]]
	no_qemu
}

@test "what cannot be run is refused before the boot" {
	run -125 "$run"
	[[ $output == *"no command"* ]]
	run -125 "$run" --cpus many true
	run -125 "$run" --threads some true
	run -125 "$run" --kernel no-such-kernel true
}

@test "what a killed owner left in the cache goes with the next one, what is in use stays" {
	local killed owners
	# shellcheck disable=SC2016 # the other shell's
	own() {
		bash -euc '. "$1"; own_scratch "$2"; touch "$scratch/mine"; echo "$scratch"; exec sleep 200' \
			own "${run%/run}/common.bash" "$BATS_TEST_TMPDIR/.run" 3>&- >"$BATS_TEST_TMPDIR/$1" &
		owners+=("$!")
		until [[ -s $BATS_TEST_TMPDIR/$1 ]]; do
			kill -0 "${owners[-1]}"
			sleep 0.05
		done
	}
	own first
	own second
	[[ -f $(<"$BATS_TEST_TMPDIR/first")/mine ]]
	killed=${owners[0]}
	kill -KILL "$killed"
	wait "$killed" || true
	own third
	kill "${owners[@]:1}"
	[[ ! -e $(<"$BATS_TEST_TMPDIR/first") ]]
	[[ -f $(<"$BATS_TEST_TMPDIR/second")/mine && -f $(<"$BATS_TEST_TMPDIR/third")/mine ]]
}

@test "the debug kernel is refused for another architecture" {
	local other=arm64
	[[ $(dpkg --print-architecture) == amd64 ]] || other=amd64
	run -125 "${run%/run}/kernel" release --arch "$other" debug
	[[ $output == *"not for $other"* ]]
	run -125 "${run%/run}/kernel" release --arch
	[[ $output == *'needs a value'* ]]
}
