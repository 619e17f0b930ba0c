"""An agent in Python without dependencies: it verifies and stores each event before it answers, and handles each once, afterwards."""

import hashlib
import hmac
import json
import os
import queue
import sqlite3
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["AGENT_WEBHOOK_SECRET"].encode()
SERVICE = os.environ.get("MAILSVC_URL", "http://127.0.0.1:2526")
MAX_BODY = 4_000_000

# The keys are stored as they arrive: whoever can read this file can use them. Encrypt them where that is not only you.
database = sqlite3.connect(os.environ.get("AGENT_DATA", "agent.db"), check_same_thread=False, isolation_level=None)
database.executescript(
    """
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE IF NOT EXISTS activations (id TEXT PRIMARY KEY, api_key TEXT, status TEXT NOT NULL, sequence INTEGER NOT NULL);
    """
)
lock = threading.Lock()
inbox: "queue.Queue[dict]" = queue.Queue()

STATUS = {"agent.activated": "active", "agent.paused": "paused", "agent.resumed": "active", "agent.deactivated": "deactivated"}


def store(event: dict) -> bool:
    """Stores an event, and what it says about its activation, in one transaction. False when it is known."""
    key = event.get("apiKey")
    body = json.dumps({name: value for name, value in event.items() if name != "apiKey"})
    status = STATUS.get(event["type"])
    with lock:
        database.execute("BEGIN IMMEDIATE")
        try:
            is_new = database.execute("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", (event["id"], body)).rowcount == 1
            if is_new and status is not None:
                # An older event does not replace the state that a newer one has set, and nothing follows a deactivation.
                database.execute(
                    """
                    INSERT INTO activations (id, api_key, status, sequence) VALUES (?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET
                      api_key = CASE WHEN excluded.status = 'deactivated' THEN NULL ELSE coalesce(excluded.api_key, api_key) END,
                      status = excluded.status, sequence = excluded.sequence
                    WHERE excluded.sequence >= sequence AND status <> 'deactivated'
                    """,
                    (event["activationId"], key, status, event["sequence"]),
                )
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
    return is_new


def is_signed(body: bytes, signature: str) -> bool:
    """Whether the signature is the HMAC-SHA256 of the raw body, as 64 hex digits."""
    expected = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.lower().encode("latin-1"))


def is_event(event: object) -> bool:
    if not isinstance(event, dict) or not isinstance(event.get("sequence"), int):
        return False
    return all(isinstance(event.get(name), str) for name in ("id", "type", "activationId"))


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
        if not is_event(event):
            return self.answer(400)
        # Before the answer: the service sends the key once, and an acknowledged event never again.
        if store(event):
            inbox.put(event)
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


def post_message(activation_id: str, text: str, external_id: str) -> bool:
    """Posts a message to the brand; False while the agent is paused. With its own id, one that is sent again is still one message."""
    with lock:
        found = database.execute("SELECT api_key, status FROM activations WHERE id = ?", (activation_id,)).fetchone()
    if found is not None and found[1] == "paused":
        return False
    if found is None or found[0] is None or found[1] != "active":
        return True
    request = urllib.request.Request(
        f"{SERVICE}/api/agents/activations/{activation_id}/messages",
        data=json.dumps({"text": text, "externalId": external_id}).encode(),
        headers={"Authorization": f"Bearer {found[0]}", "Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=10).read()
    return True


def handle(event: dict) -> bool:
    """Handles an event; False for one that must wait for the end of a pause."""
    activation_id = event["activationId"]
    if event["type"] == "agent.activated":
        return post_message(activation_id, f"Hello {event.get('organizationName')}, I am ready.", f"hello-{activation_id}")
    if event["type"] == "message.posted":
        return post_message(activation_id, f"You wrote: {event.get('text')}", f"reply-{event['id']}")
    if event["type"] == "agent.resumed":
        with lock:
            left = database.execute("SELECT body FROM events WHERE NOT done AND id <> ? ORDER BY rowid", (event["id"],)).fetchall()
        for (body,) in left:
            inbox.put(json.loads(body))
    return True


def work() -> None:
    """Handles the events one after the other, after they were answered; first those that an earlier process left."""
    with lock:
        left = database.execute("SELECT body FROM events WHERE NOT done ORDER BY rowid").fetchall()
    for (body,) in left:
        inbox.put(json.loads(body))
    while True:
        event = inbox.get()
        try:
            if not handle(event):
                continue
        except urllib.error.HTTPError as error:
            # The service may know of a pause before its event is here.
            if b"activation_paused" in error.read():
                continue
            print(f"{event['type']} {event['id']} was refused: {error}", file=sys.stderr, flush=True)
        except OSError as error:
            print(f"{event['type']} {event['id']} is handled again after a restart: {error}", file=sys.stderr, flush=True)
            continue
        with lock:
            database.execute("UPDATE events SET done = 1 WHERE id = ?", (event["id"],))


if __name__ == "__main__":
    threading.Thread(target=work, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Webhook)
    print(f"The webhook is at http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    server.serve_forever()
