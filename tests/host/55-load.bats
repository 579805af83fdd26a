# auxtrace load and unload, against a system's tree in a directory. What the kernel
# itself refuses is in guest/92-load-locked.bats.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(readlink -f "$BATS_TEST_DIRNAME/../..")
	auxtrace=$top/build/userspace-asan/auxtrace/auxtrace
	"$top/tests/build" --tools
	built=${AUXTRACE_BUILD:-$("$top/tests/build")}
	export top auxtrace built
}

setup() {
	root=$BATS_TEST_TMPDIR/root
	release=6.1.0-test
	modules=$root/lib/modules/$release
	mkdir -p "$modules/updates/dkms" "$root"/etc/modprobe.d "$root"/proc/sys/kernel
	echo $release >"$root/proc/sys/kernel/osrelease"
	install_module auxtrace "$built/module/auxtrace.ko"
}

# install_module NAME FILE
install_module() {
	cp "$2" "$modules/updates/dkms/$1.ko"
	depmod -b "$root" $release 2>/dev/null
}

configure() { printf '%s\n' "$@" >"$root/etc/modprobe.d/test.conf"; }

dry_load() { "$auxtrace" load --dry-run --root "$root" "$@"; }

# refused PATTERN COMMAND...: exit code 1 and one line like that, nothing on stdout.
refused() {
	local pattern=$1
	shift
	run -1 --separate-stderr "$@"
	echo "$output$stderr"
	[[ -z $output && ${#stderr_lines[@]} -eq 1 && $stderr == "auxtrace: "* ]]
	grep -qE "$pattern" <<<"$stderr"
}

@test "load: what would be loaded, with its parameters" {
	run -0 dry_load
	[[ $output == "insmod $modules/updates/dkms/auxtrace.ko" ]]
	run -0 dry_load pmu=intel_pt buffer_size=64M
	[[ $output == "insmod $modules/updates/dkms/auxtrace.ko pmu=intel_pt buffer_size=64M" ]]
}

@test "load: options of modprobe.d come first, softdeps are loaded before" {
	install_module auxtrace_sim "$built/tests/sim/auxtrace_sim.ko"
	configure "options auxtrace flush_ms=7" "softdep auxtrace pre: auxtrace_sim"
	run -0 dry_load flush_ms=8
	[[ ${lines[0]} == "insmod "*/auxtrace_sim.ko && ${lines[1]} == "insmod "*"/auxtrace.ko flush_ms=7 flush_ms=8" ]]
}

@test "load: a blacklist line holds, and its file is named" {
	configure "blacklist auxtrace"
	refused "^auxtrace: /etc/modprobe.d/test.conf has 'blacklist auxtrace': remove" dry_load
}

@test "load: parameters that there are not, or that can only be read" {
	refused "no parameter 'bufer_size'; it has: .*\bbuffer_size\b" dry_load bufer_size=1M
	run ! grep -qw consumer <<<"$stderr"
	refused "consumer can only be read" dry_load consumer=native
	# The kernel takes - for _ in names.
	run -0 dry_load buffer-size=1M
}

@test "load: an option in modprobe.d that there is not: a warning with its file" {
	configure "options auxtrace bufer_size=1M group_access=1"
	run -0 --separate-stderr dry_load
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == *"/etc/modprobe.d/test.conf: the module has no parameter 'bufer_size'"* ]]
}

@test "load: wrong command lines: exit code 2, nothing done" {
	local words
	for words in word =1 --frob "--root" "-x a=1"; do
		run -2 --separate-stderr "$auxtrace" load $words
		[[ -z $output && ${#stderr_lines[@]} -eq 1 && $stderr == *"see auxtrace load --help" ]]
	done
	run -2 "$auxtrace" load "pmu=a b"
	run -2 "$auxtrace" load --root "$root"
	[[ $output == *"--root needs --dry-run"* ]]
}

@test "load: no module for this kernel: what to do depends on what is there" {
	rm "$modules/updates/dkms/auxtrace.ko"
	depmod -b "$root" $release 2>/dev/null
	refused "not installed for kernel $release: install auxtrace-dkms" dry_load
	mkdir -p "$root/usr/src/auxtrace-0.1.0"
	refused "headers are missing: install them \(linux-headers-$release\), then run dkms install auxtrace/0.1.0 -k $release" \
		dry_load
	mkdir -p "$modules/build"
	touch "$modules/build/Makefile"
	refused "not built for kernel $release: run dkms install auxtrace/0.1.0 -k $release" dry_load
}

@test "load: indexed, but the file is gone, or is no module" {
	echo "no module" >"$modules/updates/dkms/auxtrace.ko"
	refused "auxtrace.ko is damaged: build it again" dry_load
	rm "$modules/updates/dkms/auxtrace.ko"
	refused "auxtrace.ko is damaged: build it again" dry_load
}

@test "load: no module tree of the running kernel" {
	rm -r "$modules"
	refused "no module tree .*/lib/modules/$release: install" dry_load
}

@test "unload: not loaded is fine; arguments are not" {
	run -0 "$auxtrace" unload
	[[ $output == "The module is not loaded." ]]
	run -2 --separate-stderr "$auxtrace" unload auxtrace
	[[ -z $output && $stderr == *"see auxtrace unload --help" ]]
}
