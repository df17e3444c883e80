#!/usr/bin/env bash
# What the checks need beside Go: installed as root, named otherwise. Usage: deps.sh BUILD-FOLDER BUF-VERSION
set -euo pipefail
build=$1 buf_version=$2

missing=()
need() { command -v "$1" >/dev/null || missing+=("$2"); }
need chromium chromium
need qemu-aarch64-static qemu-user-static
need mkfs.xfs xfsprogs
need mkfs.ext4 e2fsprogs
need npm npm
need gcc gcc # for the race detector
fc-list 2>/dev/null | grep 'Noto Sans CJK' >/dev/null || missing+=(fonts-noto-cjk fontconfig)

if [ ${#missing[@]} -gt 0 ]; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "The checks need these Debian packages (or what your system calls them): ${missing[*]}" >&2
		echo "Install them, for example: sudo apt-get install ${missing[*]}" >&2
		exit 1
	fi
	echo "== installing ${missing[*]}"
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ "$("$build/node_modules/.bin/buf" --version 2>/dev/null)" != "$buf_version" ]; then
	echo "== installing buf $buf_version"
	mkdir -p "$build"
	npm install --silent --no-save --no-audit --no-fund --prefix "$build" "@bufbuild/buf@$buf_version"
fi
