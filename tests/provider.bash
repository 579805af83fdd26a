# shellcheck shell=bash
# Owns how to see which provider of the kernel-consumer API a module was built with.

# provider_of MODULE.ko
provider_of() {
	# (Not -q: nm is not to end by SIGPIPE.)
	if nm "$1" | grep -w auxtrace_compat_setup_aux >/dev/null; then echo compat; else echo native; fi
}
