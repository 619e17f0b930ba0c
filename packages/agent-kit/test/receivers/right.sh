#!/bin/bash
# A receiver as a CGI script, in the way of PHP: the body on standard input, headers in variables. Its server is cgi.mjs.
file=$(mktemp)
trap 'rm -f "$file"' EXIT
cat > "$file"
expected=$(openssl dgst -sha256 -mac HMAC -macopt "key:$AGENT_WEBHOOK_SECRET" < "$file" | sed 's/^.*= //')
if [ "$REQUEST_METHOD" != POST ]; then
  echo 405
elif [ "$HTTP_X_SERVICE_SIGNATURE" != "$expected" ]; then
  echo 401
else
  echo 200
fi
