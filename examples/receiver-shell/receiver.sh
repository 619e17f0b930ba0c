#!/bin/sh
# A webhook in plain shell, with openssl: reads one HTTP request from stdin and writes the answer to stdout, as inetd, a systemd
# socket and socat start it. It verifies the raw body and stores each event as a file in the folder EVENTS, once.
set -eu
: "${AGENT_WEBHOOK_SECRET:?is not set}" "${EVENTS:=events}"
MAX=4000000
body=''

answer() {
  [ -z "$body" ] || rm -f "$body"
  printf 'HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1"
  exit 0
}

cr=$(printf '\r')
IFS=' ' read -r method _ || exit 0
length=0 signature=''
while IFS= read -r line && line=${line%"$cr"} && [ -n "$line" ]; do
  value=${line#*:}
  value=${value# }
  case $(printf %s "${line%%:*}" | tr A-Z a-z) in
    content-length) length=$value ;;
    x-service-signature) signature=$(printf %s "$value" | tr A-F a-f) ;;
  esac
done

[ "$method" = POST ] || answer '405 Method Not Allowed'
case $length in '' | *[!0-9]*) answer '400 Bad Request' ;; esac
[ "${#length}" -le 7 ] && [ "$length" -le "$MAX" ] || answer '413 Content Too Large'

# A file, because a shell variable cannot hold every byte; in the folder of the events, so that it can be renamed.
mkdir -p "$EVENTS"
body=$(mktemp "$EVENTS/.body.XXXXXX")
trap 'rm -f "$body"' EXIT
head -c "$length" > "$body"

# Hashes of both signatures are compared, so that the time it takes tells nothing about the right one.
expected=$(openssl dgst -sha256 -mac HMAC -macopt "key:$AGENT_WEBHOOK_SECRET" < "$body")
expected=${expected##* }
digest() { printf %s "$1" | openssl dgst -sha256; }
[ "$(digest "$signature")" = "$(digest "$expected")" ] || answer '401 Unauthorized'

# An event is always sent with the same bytes, so a repeated one gets the same name and replaces itself.
mv "$body" "$EVENTS/$expected.json"
answer '200 OK'
