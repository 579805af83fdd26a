# Who may open a device.

load lib

setup() {
	load_modules
	group=$(getent group 12345 >/dev/null && echo taken || echo 12345)
}
teardown() { unload_modules; }

# as_user COMMAND...: an ordinary user, in the group 12345.
as_user() {
	setpriv --reuid 12345 --regid 12345 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

@test "an ordinary user: neither by capability nor by mode" {
	run ! as_user head -c 1 /dev/auxtrace0
	[[ $output == *"Permission denied"* ]]
	# An open mode is not enough.
	chmod 666 /dev/auxtrace0
	refused "Permission denied" "auxtrace0: open refused: needs CAP_PERFMON" \
		as_user head -c 1 /dev/auxtrace0
}

@test "root without CAP_PERFMON and CAP_SYS_ADMIN" {
	refused "Permission denied" "needs CAP_PERFMON" \
		setpriv --bounding-set=-perfmon,-sys_admin --inh-caps=-perfmon,-sys_admin head -c 1 /dev/auxtrace0
}

@test "CAP_PERFMON is enough, CAP_SYS_ADMIN too" {
	chmod 666 /dev/auxtrace0
	for capability in perfmon sys_admin; do
		setpriv --reuid 12345 --regid 12345 --clear-groups \
			--inh-caps=+$capability --ambient-caps=+$capability \
			head -c 1 /dev/auxtrace0 >/dev/null
	done
}

@test "group_access=1: the node's owner and mode decide" {
	echo 1 >/sys/module/auxtrace/parameters/group_access
	run ! as_user head -c 1 /dev/auxtrace0
	[[ $output == *"Permission denied"* ]]
	chgrp "$group" /dev/auxtrace0
	chmod 640 /dev/auxtrace0
	as_user head -c 1 /dev/auxtrace0 >/dev/null
	# Still not for writing.
	chmod 660 /dev/auxtrace0
	run -0 as_user fileops open rw /dev/auxtrace0
	[[ $output == EACCES ]]
	echo 0 >/sys/module/auxtrace/parameters/group_access
	run ! as_user head -c 1 /dev/auxtrace0
}
