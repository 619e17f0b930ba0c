"""A webhook in Python without dependencies: it verifies each request, answers at once, and handles each event once."""

import hashlib
import hmac
import json
import os
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["AGENT_WEBHOOK_SECRET"].encode()
MAX_BODY = 4_000_000

events: "queue.Queue[dict]" = queue.Queue()
# A real receiver stores this in its database, together with the key that agent.activated brings.
seen: "set[str]" = set()
lock = threading.Lock()


def is_signed(body: bytes, signature: str) -> bool:
    """Whether the signature is the HMAC-SHA256 of the raw body, as 64 hex digits."""
    expected = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.lower().encode("latin-1"))


class Webhook(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.read_body()
        if body is None:
            return self.answer(413)
        signatures = self.headers.get_all("X-Service-Signature") or []
        if len(signatures) != 1 or not is_signed(body, signatures[0]):
            return self.answer(401)
        try:
            event = json.loads(body.decode("utf-8"))
        except (ValueError, RecursionError):
            return self.answer(400)
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            return self.answer(400)
        with lock:
            is_new = event.get("id") not in seen if isinstance(event.get("id"), str) else True
            if is_new and isinstance(event.get("id"), str):
                seen.add(event["id"])
        if is_new:
            events.put(event)
        self.answer(200)

    def do_GET(self) -> None:
        self.answer(405)

    do_PUT = do_GET

    def read_body(self) -> "bytes | None":
        """The raw bytes of the body, with a length or in chunks; None when there are too many."""
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            length = int(self.headers.get("Content-Length", "0"))
            return self.rfile.read(length) if length <= MAX_BODY else None
        parts = []
        total = 0
        while size := int(self.rfile.readline().split(b";")[0], 16):
            total += size
            if total > MAX_BODY:
                return None
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status: int) -> None:
        # A body that was not read would be taken for the next request.
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def work() -> None:
    """Handles the events one after the other, after they were answered."""
    while True:
        event = events.get()
        print(event["type"], event.get("activationId", ""), flush=True)


if __name__ == "__main__":
    threading.Thread(target=work, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Webhook)
    print(f"The webhook is at http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    server.serve_forever()
