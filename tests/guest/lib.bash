# Owns what the guest's tests share: loading, the simulated PMU's settings,
# statistics, and waiting for events. Sourced by each .bats file.
# shellcheck shell=bash disable=SC2154 # status and output are bats's

bats_require_minimum_version 1.5.0

class=/sys/class/auxtrace
sim=/sys/bus/event_source/devices/auxtrace_sim

# Longer than anything takes that works, on a machine however slow.
patience=120

# sim_config RATE [CHUNK [CONTENT]]: the PMU's config, as its format/ says.
sim_config() {
	printf '0x%x\n' $(($1 | ${2:-0} << 32 | ${3:-0} << 56))
}

# Fast: 256 MiB/s in pieces of 64 KiB. Slow: 100 bytes/s in words.
# shellcheck disable=SC2034 # for the tests
fast=$(sim_config $((256 << 20)) $((64 << 10)))
# shellcheck disable=SC2034 # for the tests
slow=$(sim_config 100 8)

# load [PARAMETER...]: the simulated PMU, and the module.
load_modules() {
	modprobe auxtrace_sim
	modprobe auxtrace "$@"
}

# A test that fails leaves its descriptors to its teardown.
close_devices() {
	local fd
	while read -r fd; do
		eval "exec $fd<&-"
	done < <(find "/proc/$BASHPID/fd" -lname '/dev/auxtrace[0-9]*' -printf '%f\n')
}

# What a failed test left running.
kill_readers() {
	find /proc/[0-9]*/fd -lname '/dev/auxtrace[0-9]*' 2>/dev/null | cut -d/ -f3 |
		xargs -r kill -KILL 2>/dev/null || true
}

# (To look at each process' descriptors takes longer than many a test.)
unload_modules() {
	unload_one auxtrace || {
		close_devices
		kill_readers
		wait_until unload_one auxtrace
	}
	wait_until unload_one auxtrace_sim
}

unload_one() {
	[[ ! -d /sys/module/$1 ]] || rmmod "$1" 2>/dev/null
}

# wait_until COMMAND...: until it succeeds.
wait_until() {
	local end=$((SECONDS + patience))
	until "$@"; do
		((SECONDS < end)) || {
			echo "waited in vain for: $*" >&2
			return 1
		}
		sleep 0.1
	done
}

setting() { printf '%s\n' "$3" >"$class/auxtrace$1/$2"; }

state_is() {
	local state
	read -r state <"$class/auxtrace$1/state"
	[[ $state == "$2" ]]
}

# value_of KEY FILE: the number beside it, in lines of "key number", or 0.
value_of() {
	local key value
	while read -r key value; do
		[[ $key != "$1" ]] || break
		value=0
	done <"$2"
	echo "${value:-0}"
}

# stat_of CPU NAME
stat_of() { value_of "$2" "$class/auxtrace$1/stats"; }

# stops_of CPU: how often the simulated PMU stopped by itself there.
stops_of() { value_of "$1" "$sim/stats/stops_per_cpu"; }

# field NAME: a number from auxcheck's summary in $output.
field() { grep -oE "(^| )$1=[^ ]+" <<<"$output" | cut -d= -f2; }

# The kernel's log from here on; logged PATTERN looks whether it has a line.
mark_log() { dmesg --clear; }
logged() { dmesg | grep -E "$1"; }

# refused ERRNO-TEXT PATTERN COMMAND...: it fails so, and the log has one line.
refused() {
	local text=$1 pattern=$2
	shift 2
	mark_log
	run "$@"
	[[ $status -ne 0 && $output == *"$text"* ]] || {
		echo "status $status, output: $output (wanted: $text)"
		return 1
	}
	[[ $(logged "$pattern" | wc -l) -eq 1 ]] || {
		echo "not exactly one line like '$pattern' in the log:"
		dmesg
		return 1
	}
}

# built PROGRAM: skips where tests/build leaves it out.
built() { type -P "$1" >/dev/null || skip "$1 is not built for another architecture"; }

# In that kernel kmemleak tells of leaks when the guest ends, memory comes back late, and
# all takes ten times as long.
debug_kernel() { [[ -e /sys/kernel/debug/kmemleak ]]; }

# Pages to be had, in KiB, those in the CPUs' own lists included: these hold some
# ten MiB, now more and now less. What is only cached is dropped before.
memory() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "MemAvailable:" { kib += $2 } $1 == "Slab:" { slab = $2 }
		$1 == "count:" { kib += $2 * page / 1024 } END { print kib, slab }' \
		page="$(getconf PAGESIZE)" /proc/meminfo /proc/zoneinfo
}
