# auxtrace load and unload with the real kernel: what loads, and why something does not.

load lib

setup_file() {
	module=/lib/modules/$(uname -r)/updates/auxtrace.ko
	cp "$module" /run/auxtrace.ko
	export module
}

teardown() {
	unload_modules
	cmp -s /run/auxtrace.ko "$module" || replace_module /run/auxtrace.ko
}

# (In which the modules that it needs are the same, so depmod has nothing to do.)
replace_module() { cp "$1" "$module"; }

# fails PATTERN COMMAND...: exit code 1, one line like that.
fails() {
	local pattern=$1
	shift
	run -1 --separate-stderr "$@"
	echo "$output$stderr"
	[[ -z $output && ${#stderr_lines[@]} -eq 1 ]]
	grep -qE "^auxtrace: $pattern" <<<"$stderr"
}

@test "load with parameters, and again; unload, and again" {
	modprobe auxtrace_sim
	run -0 auxtrace load buffer_size=1M flush_ms=7
	[[ -z $output && $(<$class/auxtrace0/buffer_size) -eq $((1 << 20)) ]]
	[[ $(<$class/auxtrace0/flush_ms) -eq 7 ]]
	run -0 auxtrace load
	[[ $output == "The module is loaded already." ]]
	fails "the module is loaded already, .*: run auxtrace unload first" auxtrace load flush_ms=8
	run -0 auxtrace unload --dry-run
	[[ -d /sys/module/auxtrace ]]
	run -0 auxtrace unload
	[[ -z $output && ! -d /sys/module/auxtrace ]]
	run -0 auxtrace unload
}

@test "unload while a device is open: says who" {
	load_modules
	exec {fd}</dev/auxtrace0
	fails "the module is in use by bash[^ ]* \\($BASHPID\\) /dev/auxtrace0.*: end that first" auxtrace unload
	fails "the module is in use by " auxtrace unload --dry-run
	exec {fd}<&-
	auxtrace unload
}

@test "no PMU, a bad value: the line of the kernel's log is shown" {
	fails "cannot load: no trace PMU .*auxtrace doctor.*the kernel's log: auxtrace: no PMU 'auto'" auxtrace load
	modprobe auxtrace_sim
	fails "cannot load: a parameter's value was refused; the kernel's log: auxtrace: parameter: flush_ms=soon refused" \
		auxtrace load flush_ms=soon
	fails "cannot load: no trace PMU .*no PMU 'intel_pt' .*there are: auxtrace_sim" auxtrace load pmu=intel_pt
}

@test "a symbol that the kernel lacks" {
	objcopy --redefine-sym _printk=_no_such /run/auxtrace.ko /run/other.ko
	replace_module /run/other.ko
	fails "cannot load: the module needs a symbol .*build it again .*: auxtrace: Unknown symbol _no_such" auxtrace load
}

@test "another kernel's module" {
	sed 's/ SMP / UMP /' /run/auxtrace.ko >/run/other.ko
	replace_module /run/other.ko
	fails "cannot load: the module was built for another kernel \\(.* UMP .*build it again .*: auxtrace: version magic" \
		auxtrace load
}

@test "install commands of modprobe.d" {
	echo "install auxtrace /bin/false" >/etc/modprobe.d/test.conf
	fails "the command of 'install auxtrace' in /etc/modprobe.d/test.conf failed" auxtrace load
	rm /etc/modprobe.d/test.conf
}
