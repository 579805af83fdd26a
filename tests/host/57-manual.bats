# What the tool's help, its manual and its completion say is the same, for each command.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(readlink -f "$BATS_TEST_DIRNAME/../..")
	auxtrace=$top/build/userspace-asan/auxtrace/auxtrace
	"$top/tests/build" --tools
	export top auxtrace
}

commands() { "$auxtrace" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'; }

# The options of a command's help: short and long, one a line.
help_options() {
	"$auxtrace" "$1" --help | sed -nE 's/^  (-.|   )[ ,]*(--[a-z-]+).*/\1\n\2/p' |
		grep -- - | sort
}

# Those of its manual: what begins a paragraph in bold, below OPTIONS.
manual_options() {
	sed -n '/^# OPTIONS/,/^# [^O]/p' "$top/userspace/man/auxtrace-$1.1.scd" |
		sed -n '/^\*-/p' | grep -oE '\*--?[A-Za-z][a-z-]*\*' | tr -d '*' | sort
}

# options_with_arguments: "--root DIR" and the like.
help_arguments() {
	"$auxtrace" "$1" --help | sed -nE 's/^  (-., |    )(--[a-z-]+ [A-Z]+)( .*)?$/\2/p' | sort
}

manual_arguments() {
	sed -n '/^# OPTIONS/,/^# [^O]/p' "$top/userspace/man/auxtrace-$1.1.scd" |
		sed -nE 's/^(\*-.\*, )?\*(--[a-z-]+)\* _([A-Z]+)_$/\2 \3/p' | sort
}

# complete_line LINE: what bash would offer, one a line.
complete_line() {
	# shellcheck source=/dev/null
	(
		_auxtrace_tool=$auxtrace _auxtrace_sysfs=$BATS_TEST_TMPDIR/sys
		. "$top/userspace/completion/auxtrace"
		COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
		_auxtrace 2>/dev/null
		((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
	)
}

offers() {
	local line=$1
	shift
	diff <(complete_line "$line" | sort) <((($# == 0)) || printf '%s\n' "$@" | sort)
}

@test "options: the same in help and manual, and completed" {
	local command count=0
	for command in $(commands); do
		echo "$command"
		diff <(help_options "$command") <(manual_options "$command")
		diff <(help_arguments "$command") <(manual_arguments "$command")
		diff <(help_options "$command") <(complete_line "auxtrace $command -" | sort)
		count=$((count + 1))
	done
	((count >= 4))
	# and these are found where they are
	grep -qx -- --dry-run <(help_options load)
	grep -qx -- '--root DIR' <(help_arguments load)
}

@test "commands: the manual names each, and each has a page with its synopsis and summary" {
	local command summary usage
	diff <(commands | sort) \
		<(sed -nE 's/^\*auxtrace-([a-z]+)\*\(1\)$/\1/p' "$top/userspace/man/auxtrace.1.scd" | sort)
	for command in $(commands); do
		summary=$("$auxtrace" --help | sed -nE "s/^  $command +//p")
		grep -qixF "auxtrace-$command - $summary" "$top/userspace/man/auxtrace-$command.1.scd"
		grep -qxF "	$summary." "$top/userspace/man/auxtrace.1.scd"
		usage=$("$auxtrace" "$command" --help | sed -nE "1s/^Usage: //p")
		# The markup aside, the synopsis is the help's first line.
		grep -qxF "${usage/ \[OPTION...\]/}" <(tr -d '*_' <"$top/userspace/man/auxtrace-$command.1.scd" |
			sed 's/ \[OPTION...\]//')
	done
}

@test "man pages are made, without a warning of man" {
	local page count=0
	for page in "$top"/build/userspace/man/*.[1-8]; do
		run -0 --separate-stderr man --warnings -E UTF-8 -l "$page"
		[[ -z $stderr && -n $output ]]
		count=$((count + 1))
	done
	((count == $(find "$top/userspace" -name '*.scd' | wc -l)))
}

@test "the daemon's pages name its configuration as the daemon does" {
	local built=$top/build/userspace path page
	path=$("$built/auxtraced/auxtraced" --help | sed -nE 's/.*--config FILE .*\((.*)\)$/\1/p')
	[[ $path == /*/auxtraced.conf ]]
	for page in auxtraced.8 auxtraced.conf.5; do
		run -0 man -E UTF-8 -l "$built/man/$page"
		grep -qF "$path" <<<"$output"
		run ! grep -F /auxtraced.conf <(sed "s#$path##g" <<<"$output")
	done
}

@test "completion: commands, parameters, CPUs, PMUs and event terms" {
	local sys=$BATS_TEST_TMPDIR/sys
	mkdir -p "$sys"/class/auxtrace/auxtrace{0,1,12} \
		"$sys"/bus/event_source/devices/{intel_pt/format,software,auxtrace_sim}
	touch "$sys"/bus/event_source/devices/intel_pt/format/{tsc,cyc,mtc_period}
	mapfile -t all < <(commands)
	offers "auxtrace " "${all[@]}" --help --version
	offers "auxtrace un" unload
	offers "auxtrace help lo" load
	offers "auxtrace load --d" --dry-run
	offers "auxtrace load buf" buffer_size=
	offers "auxtrace load flush_ms=1 for" format=
	offers "auxtrace load pmu=" auto intel_pt auxtrace_sim
	offers "auxtrace load format=f" framed
	run complete_line "auxtrace frob -"
	[[ -z $output ]]
	offers "auxtrace record -e in" intel_pt/
	offers "auxtrace record --time 1s --cpu 0,1" 0,1 0,12
	offers "auxtrace record -- ls -"
	# What any option takes is told by its argument's name.
	kinds() { # KIND WORD OFFER...
		# shellcheck source=/dev/null
		diff <(
			_auxtrace_sysfs=$sys
			. "$top/userspace/completion/auxtrace"
			compgen -W "$(_auxtrace_value "$1" "$2")" -- "$2" | sort
		) <((($# < 3)) || printf '%s\n' "${@:3}" | sort)
	}
	kinds CPUS "" 0 1 12
	kinds CPUS "0,1" 0,1 0,12
	kinds CPUS "0-1" 0-1 0-12
	kinds PMU "" intel_pt auxtrace_sim
	kinds EVENT "in" intel_pt/
	kinds EVENT "intel_pt/" intel_pt/{tsc,cyc,mtc_period} intel_pt/{config,config1,config2,period}=
	kinds EVENT "intel_pt/tsc,cyc=1,m" intel_pt/tsc,cyc=1,mtc_period
	kinds EVENT "intel_pt/tsc/u"
	# The same PMUs as auxtrace list.
	mkdir "$sys"/bus/event_source/devices/{arm_spe_0,intel_bts,cs_etm,hisi_ptt0_2,cpu}
	mapfile -t all < <(AUXTRACE_SYSFS=$sys "$auxtrace" list --json 2>/dev/null |
		python3 -c 'import json, sys; [print(p["name"]) for p in json.load(sys.stdin)["pmus"]]')
	((${#all[@]} == 6))
	kinds PMU "" "${all[@]}"
}

@test "auxtrace(4) describes each parameter that the module has" {
	local built name
	built=${AUXTRACE_BUILD:-$("$top/tests/build")}
	while IFS=: read -r name _; do
		grep -qE "^(\*.*\*, )?\*$name\*(, \*.*\*)*$" "$top/userspace/man/auxtrace.4.scd" || {
			echo "no $name"
			return 1
		}
	done < <(modinfo -F parm "$built/module/auxtrace.ko")
	diff <(modinfo -F parm "$built/module/auxtrace.ko" | cut -d: -f1 | grep -vx consumer | sort) \
		<(complete_line "auxtrace load " | tr -d = | sort)
}

@test "auxtrace(4) has each errno that README explains" {
	local errno count=0
	while read -r errno; do
		grep -qx "\*$errno\*" "$top/userspace/man/auxtrace.4.scd" || {
			echo "no $errno"
			return 1
		}
		count=$((count + 1))
	done < <(sed -nE 's/^\| `(E[A-Z0-9]+)` \|.*/\1/p' "$top/README.md")
	((count >= 8))
}
