# Owns what the tests with emulated trace hardware share: what differs between Intel PT
# and ARM SPE, recording, and the rows of the table. Sourced by each .bats file.
# shellcheck shell=bash disable=SC2034,SC2154 # for the tests; status and output are bats's

tests=${BATS_TEST_FILENAME%/tests/*}/tests
# shellcheck source=../guest/lib.bash
. "$tests/guest/lib.bash"

devices=/sys/bus/event_source/devices

# --- Intel PT -----------------------------------------------------------------

pt=$devices/intel_pt

use_intel_pt() {
	pmu=intel_pt event=intel_pt//
	checker=(ptpackets) busy_program=branches
	rounds_per_unit=1
	default_config=$(config_of $pt tsc=1 mtc=1 mtc_period=3)
	module_settings=()
	interrupts_of() { awk -v n="$(($1 + 2))" '$1 == "PMI:" { print $n }' /proc/interrupts; }
	# By default there is a PSB every 2 KiB.
	is_trace() { (($(field psb) > $(field bytes) / 4096 && $(field tip) > $(field bytes) / 100)); }
}

# no_silent_gap CPU: trace of user and kernel code, in which nothing but the driver's
# interrupts and flushes makes pauses that are no gaps; and holding an event that the
# driver has set going again, which is seldom on a CPU where perf disables it (not 0).
# To be called after check_trace. Records of SPE have no such pauses.
no_silent_gap() {
	[[ $pmu == intel_pt ]] || return 0
	local most=$(($(interrupts_of "$1") - before[$1] - $(field truncated) + $(stat_of "$1" flushes)))
	echo "CPU $1: $(field pauses) pauses, $most expected"
	(($1 == 0 || $(field pauses) <= most + $(field gaps) / 4))
}

# --- ARM SPE ------------------------------------------------------------------

use_arm_spe() {
	pmu=arm_spe_0 event=arm_spe_0/ts_enable=1,jitter=1/
	busy_program=operations
	checker=(sperecords -p "$(command -v operations)")
	rounds_per_unit=400
	default_config=$(config_of $devices/arm_spe_0 ts_enable=1 jitter=1)
	module_settings=(period=1024)
	interrupts_of() { awk -v n="$(($1 + 2))" '/arm_spe/ { print $n }' /proc/interrupts; }
	is_trace() { (($(field records) * 64 > $(field bytes) - ($(field gaps) + 1) * 4096)); }
}

# --- both ---------------------------------------------------------------------

# config_of PMU-DIRECTORY NAME=VALUE...: the PMU's config, as its format/ says.
config_of() {
	local setting bits config=0
	for setting in "${@:2}"; do
		read -r bits <"$1/format/${setting%=*}"
		bits=${bits#config:}
		config=$((config | ${setting#*=} << ${bits%-*}))
	done
	printf '0x%x\n' "$config"
}

# set_all WORD...: attributes of CPU 1's device, each as NAME=VALUE, or config as
# in perf's PMU/NAME=VALUE,.../
set_all() {
	local word names
	for word; do
		if [[ $word == */*/ ]]; then
			names=${word#*/}
			IFS=, read -ra names <<<"${names%/}"
			setting 1 config "$(config_of "$devices/${word%%/*}" "${names[@]}")"
		else
			setting 1 "${word%%=*}" "${word#*=}"
		fi
	done
}

# load_auxtrace PARAMETER...
load_auxtrace() { modprobe auxtrace "${module_settings[@]}" "$@"; }

# work CPU UNITS: a program that is known, there; trace of some 500 to 1000 bytes a unit.
work() { "$busy_program" "$1" $(($2 * rounds_per_unit)); }

# until_stat NAME NUMBER CPU...: waits until that statistic is above it for each.
until_stat() {
	local cpu
	for cpu in "${@:3}"; do wait_until stat_above "$cpu" "$1" "$2"; done
}
stat_above() { (($(stat_of "$1" "$2") > $3)); }

# What keeps a processor busy until it is killed.
start_busy() { "$busy_program" "$1" 0 3>&- & }
stop_busy() { pkill -KILL -x "$busy_program" || true; }

# record_trace OPTION... DEVICE... COMMAND...: into $traces/<cpu>.trace. The command can
# be a bash that uses work or until_stat. Interrupts are counted from here on.
record_trace() {
	traces=$BATS_TEST_TMPDIR
	before=("$(interrupts_of 0)" "$(interrupts_of 1)")
	record -o "$traces" "$@"
}

# record_busy ARGUMENT...: as record_trace, with both processors busy meanwhile.
record_busy() {
	start_busy 0
	start_busy 1
	record_trace "$@"
	stop_busy
}

# check_trace CPU [FILE]: every byte of it; leaves the counts in $output.
check_trace() {
	run "${checker[@]}" "${2:-$traces/$1.trace}" "$1"
	echo "CPU $1: $output"
	cat "$class/auxtrace$1/stats"
	[[ $status -eq 0 ]]
}

# enough_traced BYTES: so much at least, and it is trace. To be called after check_trace.
enough_traced() { (($(field bytes) > $1)) && is_trace; }

# Behind each gap a decoder finds where to begin, and something to decode, but where there
# is too little between two gaps (16 KiB of Intel PT, a page of SPE). To be called after
# check_trace.
decoders_resume() {
	(($(field resumed) + $(field brief) == $(field gaps) && $(field resumed) * 2 >= $(field gaps)))
}

# interrupts_came CPU: at least half of those that the trace is good for, one for each
# watermark. To be called after check_trace.
interrupts_came() {
	local came=$(($(interrupts_of "$1") - before[$1])) watermark
	watermark=$(<"$class/auxtrace$1/watermark")
	((watermark)) || watermark=$(($(<"$class/auxtrace$1/buffer_size") / 2))
	echo "CPU $1: $came interrupts, $(($(field bytes) / watermark)) watermarks"
	((came > 0 && came >= $(field bytes) / watermark / 2))
}

# all_counted CPU: the bytes and gaps in the stream are those in the statistics, cause by
# cause; these can have one gap more, behind which nothing came any more. To be called
# after check_trace, for the only stream since load.
all_counted() {
	local name more
	more=$(($(stat_of "$1" bytes) - $(field bytes)))
	((more == 0)) || {
		echo "CPU $1: $more more bytes in the statistics than in the stream"
		return 1
	}
	for name in gaps gaps_full gaps_driver gaps_hotplug gaps_stopped; do
		more=$(($(stat_of "$1" $name) - $(field $name)))
		((more == 0 || more == 1)) || {
			echo "CPU $1: $name: $more more in the statistics than in the stream"
			return 1
		}
	done
}

# row WHO CPU TEXT [COMPARISON]: a line of the table, of what check_trace found.
row() {
	local interrupts='' provider=$1 causes='' name n
	if [[ $1 == auxtrace ]]; then
		provider=$(</sys/module/auxtrace/parameters/consumer)
		interrupts=$(($(interrupts_of "$2") - before[$2]))
		for name in full driver hotplug stopped; do
			n=$(field gaps_$name)
			((n == 0)) || causes+=", $n $name"
		done
	fi
	printf '# | %s | %s | %s | CPU %s, %s | %s | %s | %s | %s | %s |\n' "$(uname -m)" "$(uname -r)" \
		"$provider" "$2" "$3" "$(field bytes)" "$interrupts" "$(field gaps)${causes:+ (${causes#, })}" \
		"$(field errors)" "${4-}" >&3
}

# leave_alone CPU: so that what user space does on that one of the two is known.
leave_alone() {
	local pid
	for pid in /proc/[0-9]*; do
		taskset -pc $((1 - $1)) "${pid#/proc/}" >/dev/null 2>&1 || true
	done
}

if [[ -d $pt ]]; then use_intel_pt; else use_arm_spe; fi
export -f work until_stat stat_above wait_until stat_of value_of
export busy_program rounds_per_unit class patience
