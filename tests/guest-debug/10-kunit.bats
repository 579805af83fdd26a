# The KUnit suites, run by loading their modules: each case is listed.

load ../guest/lib

# A module's suites leave their results in debugfs until it is unloaded.
setup_file() {
	local module suite
	export results=$BATS_FILE_TMPDIR/results
	mkdir "$results"
	# The trace events of auxtrace are in one of them, too.
	[[ ! -d /sys/module/auxtrace ]]
	for module in "$AUXTRACE_BUILD"/tests/kunit/*/auxtrace_kunit_*.ko; do
		insmod "$module"
		for suite in /sys/kernel/debug/kunit/auxtrace_*; do
			cp "$suite/results" "$results/${suite##*/}"
		done
		rmmod "$(basename "$module" .ko)"
	done
}

# passed SUITE: its cases are in the TAP output as comments, and none has failed.
passed() {
	local results=$results/$1
	awk -v suite="$1" '
		{ indent = match($0, /[^ ]/) - 1; bad = sub(/^ *not /, ""); sub(/^ */, "") }
		# A parameter of the case that follows.
		/^ok [0-9]/ && indent == 8 { with = with (with ? ", " : " (") (bad ? "not " : "") $3 }
		/^ok [0-9]/ && indent == 4 {
			sub(/^ok [0-9]+ /, "")
			print "# " (bad ? "not ok " : "ok ") suite ": " $0 (with ? with ")" : "")
			with = ""
		}' "$results" >&3
	cat "$results"
	# The suite's own line is the last, and is there at all.
	[[ $(tail -n 1 "$results") == "ok "*" $1" ]]
	run ! grep -E '^ *not ok ' "$results"
	[[ $(grep -cE '^ {4}ok ' "$results") -gt 0 ]]
}

@test "the kernel-consumer API: every provider keeps the contract" {
	passed auxtrace_api
	grep -q 'ok .* compat$' "$results/auxtrace_api"
	# Where the kernel has the API, its own is among them.
	! grep -qw perf_event_setup_aux /proc/kallsyms ||
		grep -q 'ok .* native$' "$results/auxtrace_api"
}

@test "settings: sizes, ranges, text forms" { passed auxtrace_settings; }

@test "the cap on memory, and what is left behind by what fails" { passed auxtrace_counter; }

@test "what drivers report is kept for its window" { passed auxtrace_reports; }

@test "gaps are counted, and the event is set going again" { passed auxtrace_upkeep; }

@test "windows: where they begin and end, and what they say" { passed auxtrace_window; }
