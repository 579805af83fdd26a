# auxtrace load where unsigned modules are refused. Neither can be taken back, so this
# comes last.

load lib

fails() {
	run -1 --separate-stderr auxtrace load
	echo "$output$stderr"
	[[ -z $output && ${#stderr_lines[@]} -eq 1 ]]
	grep -qE "^auxtrace: cannot load: $1" <<<"$stderr"
}

@test "load: the kernel is locked down" {
	mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
	grep -q '\[none\]' /sys/kernel/security/lockdown &&
		echo integrity >/sys/kernel/security/lockdown
	fails "the kernel is locked down and takes signed modules alone.*mokutil"
}

@test "load: the signature is refused" {
	echo 1 >/sys/module/module/parameters/sig_enforce
	fails "the kernel refuses the module's signature.*mokutil.*: Loading of unsigned module is rejected"
}

@test "load: no more modules" {
	echo 1 >/proc/sys/kernel/modules_disabled
	fails "this system loads no more modules until it reboots"
}
