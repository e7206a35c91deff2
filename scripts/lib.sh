# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors
# shellcheck shell=sh

# Functions that the scripts share. A script reads this file by `.` after `set -eu`. Afterwards `root` is the package's
# directory, and the current one.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit 1

say() { printf '%s\n' "==> $*"; }

fail() {
  printf '%s\n' "error: $*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Shows a command, then runs it.
run() {
  printf '%s\n' "+ $*"
  "$@"
}

# Runs a command as root.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    run "$@"
  elif has sudo; then
    run sudo "$@"
  else
    fail "this needs root, and there is no sudo; please run: $*"
  fi
}

# Installs Debian packages after saying which and why: `install_packages WHY NAME...`. With FWD_NO_INSTALL set in the
# environment it fails instead.
install_packages() {
  why=$1
  shift
  [ -z "${FWD_NO_INSTALL:-}" ] || fail "$why, and nothing may be installed; the Debian packages are: $*"
  has apt-get || fail "$why, and there is no apt-get here. Please install the equivalent of: $*"
  say "$why: installing $*"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

need_libffi() {
  if has pkg-config && pkg-config --exists libffi; then return; fi
  if [ "$(uname)" = Darwin ]; then
    fail "libffi or pkg-config is missing; please run: brew install libffi pkgconf"
  fi
  if has pkg-config; then
    install_packages "libffi is missing" libffi-dev
  else
    install_packages "libffi or pkg-config is missing" libffi-dev pkg-config
  fi
  pkg-config --exists libffi || fail "pkg-config does not find libffi, although it is installed"
}

# For the trait Journal, and so for the tool.
need_sqlite() {
  if has pkg-config && pkg-config --exists sqlite3; then return; fi
  # macOS has SQLite and its headers.
  if [ "$(uname)" = Darwin ]; then return; fi
  install_packages "SQLite is missing" libsqlite3-dev
  pkg-config --exists sqlite3 || fail "pkg-config does not find SQLite, although it is installed"
}

# The oldest Swift that compiles the package.
swift_major=6
swift_minor=3

need_swift() {
  has swift || fail "there is no swift; Swift $swift_major.$swift_minor or later is needed: https://www.swift.org/install"
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\)\.\([0-9][0-9]*\).*/\1 \2/p' | head -n 1)
  major=${version% *}
  minor=${version#* }
  [ -n "$version" ] || fail "cannot read the version from: swift --version"
  if [ "$major" -lt "$swift_major" ] || { [ "$major" -eq "$swift_major" ] && [ "$minor" -lt "$swift_minor" ]; }; then
    fail "this is Swift $major.$minor; Swift $swift_major.$swift_minor or later is needed"
  fi
}

# The flags of swift build and swift test that make warnings errors. Only in CI: a newer compiler's warnings must not stop
# the package's users. Builds in one scratch directory need the same flags, or they compile everything again.
warning_flags=
if [ "${CI:-}" = true ]; then warning_flags="-Xswiftc -warnings-as-errors -Xcc -Werror"; fi

# Prints how many tests have passed, failed and been skipped, as the reports of Swift Testing say: `xunit_counts REPORT...`.
# A test with several issues has failed once. Prints nothing if there is no report.
xunit_counts() {
  cat "$@" 2>/dev/null | awk '
    /<testcase/ { tests++; bad = 0 }
    /<(failure|error)/ && !bad { failed++; bad = 1 }
    /<skipped/ { skipped++ }
    END { if (tests) print tests - skipped - failed, failed + 0, skipped + 0 }
  '
}

# Prints the directory of the Swift toolchain's programs. It has a clang with sanitizers and libFuzzer, lld and docc.
toolchain_directory() { dirname -- "$(readlink -f -- "$(command -v swift)")"; }

# Makes a temporary directory, which is removed when the script ends. Its path is in `temporary`.
make_temporary_directory() {
  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}
