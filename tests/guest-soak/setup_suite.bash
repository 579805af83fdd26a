# The module directory is made as for the other tests in a guest.
# shellcheck shell=bash source=../guest/setup_suite.bash
. "${BASH_SOURCE[0]%/*}/../guest/setup_suite.bash"
