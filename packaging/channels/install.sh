#!/bin/sh
# Installs mailsvc __VERSION__ as one file, after its checksum was compared. It needs no root:
#
#   sh install.sh
#   MAILSVC_INSTALL=/usr/local/bin sh install.sh
#
# MAILSVC_RELEASES names a mirror of the files of releases.
set -eu

version=__VERSION__
releases=${MAILSVC_RELEASES:-__RELEASES__}
target=${MAILSVC_INSTALL:-$HOME/.local/bin}

fail() {
  echo "mailsvc was not installed: $1" >&2
  exit 1
}

[ "$(uname -s)" = Linux ] || fail "the file is for Linux. With Node 22.19 or newer: npm install --global mailsvc"
case $(uname -m) in
__SHELL_FILES__
*) fail "there is no file for $(uname -m). With Node 22.19 or newer: npm install --global mailsvc" ;;
esac
for loader in /lib/ld-musl-*; do
  [ ! -e "$loader" ] || fail "the file needs glibc, and this system has musl. With Node 22.19 or newer: npm install --global mailsvc"
done
for program in tar xz; do
  command -v "$program" >/dev/null || fail "$program is missing; install it (Debian: tar, xz-utils)."
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
file=mailsvc-$version-linux-$arch.tar.xz
url=$releases/v$version/$file
if command -v curl >/dev/null; then
  curl --fail --silent --show-error --location --output "$folder/$file" "$url" || fail "$url could not be loaded."
elif command -v wget >/dev/null; then
  wget -q -O "$folder/$file" "$url" || fail "$url could not be loaded."
else
  fail "curl and wget are missing; install one of them."
fi
if command -v sha256sum >/dev/null; then
  found=$(sha256sum "$folder/$file")
else
  found=$(shasum -a 256 "$folder/$file")
fi
[ "${found%% *}" = "$sum" ] || fail "$file has another checksum than this release: ${found%% *}, not $sum."

tar -xf "$folder/$file" -C "$folder"
mkdir -p "$target"
# Moved into its place, so that a program that runs is not written into.
cp "$folder/mailsvc-$version-linux-$arch/mailsvc" "$target/.mailsvc-$$"
chmod 755 "$target/.mailsvc-$$"
mv -f "$target/.mailsvc-$$" "$target/mailsvc"
echo "mailsvc $version is $target/mailsvc"
case :$PATH: in
*":$target:"*) echo "Begin with: mailsvc dev" ;;
*) echo "$target is not in PATH. Begin with: $target/mailsvc dev" ;;
esac
