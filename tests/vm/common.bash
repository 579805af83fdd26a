# Owns what tests/vm's scripts, and those that use them, share: messages, the cache's
# place, the check for host commands, and modules' compression. Sourced, never run.
# shellcheck shell=bash

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# The status of every failure that is the runner's own rather than the command's.
readonly RUNNER_FAILURE=125

die() {
	say "$*"
	exit "$RUNNER_FAILURE"
}

cache_dir() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/auxtrace
	[[ $cache == /* ]] || die "the cache directory is not an absolute path: $cache"
	# Neither the kernel's build system nor overlayfs's options take these.
	[[ $cache != *[[:space:]:,]* ]] || die "the cache directory has a space, a colon or a comma in its path: $cache"
	printf '%s\n' "$cache"
}

# need COMMAND PACKAGE...: dies naming the pairs whose command is not there.
need() {
	local missing=()
	while (($#)); do
		command -v "$1" >/dev/null || missing+=("$1 (package $2)")
		shift 2
	done
	((${#missing[@]} == 0)) && return
	local list
	printf -v list ', %s' "${missing[@]}"
	die "missing on this machine: ${list#, }"
}

# own_scratch PREFIX: sets scratch to a new directory PREFIX.XXXXXX, locked as long as this
# process or a child of its lives; removes those that nobody has locked, whose owners were
# killed before they could.
own_scratch() {
	local old lock
	exec {lock}>"$1.lock"
	flock "$lock"
	for old in "$1".??????; do
		if [[ -d $old ]] && flock --nonblock "$old" true; then
			rm -rf --one-file-system "$old"
		fi
	done
	scratch=$(mktemp -d "$1.XXXXXX")
	exec {scratch_fd}<"$scratch"
	flock "$scratch_fd"
	exec {lock}>&-
}

# decompress FILE: a module as insmod wants it.
decompress() {
	case $1 in
	*.ko) cat "$1" ;;
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -dcq "$1" ;;
	*.gz) gzip -dc "$1" ;;
	*) die "do not know how to decompress $1" ;;
	esac
}
