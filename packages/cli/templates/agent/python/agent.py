"""An agent without dependencies: it verifies and stores each event before it answers, and handles each once, afterwards."""

import base64
import hashlib
import hmac
import json
import os
import secrets
import signal
import sqlite3
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def read_env() -> None:
    """Reads .env, which `mailsvc agent dev` writes; variables that are set already win."""
    try:
        with open(".env", encoding="utf-8") as lines:
            pairs = [line.strip().split("=", 1) for line in lines if "=" in line and not line.startswith("#")]
    except FileNotFoundError:
        return
    for name, value in pairs:
        os.environ.setdefault(name.strip(), value.strip().strip("'\""))


read_env()
SECRET = os.environ["AGENT_WEBHOOK_SECRET"].encode()
MASTER_KEY = base64.b64decode(os.environ["AGENT_MASTER_KEY"])
SERVICE = os.environ.get("MAILSVC_URL", "http://127.0.0.1:2526")
MAX_BODY = 4_000_000
HEARTBEAT_SECONDS = 60
RETRY_SECONDS = 10

# ---- What the agent does -------------------------------------------------------------------------------------------

GREETING = {
    "kind": "campaign",
    "name": "Greeting",
    "subject": 'Hello {{default firstName "there"}}',
    "previewText": "Good to have you here",
    "html": '<h1>Hello {{default firstName "there"}}</h1><p>Good to have you here. You will hear from us when there is something worth your time.</p>',
}


def handle(event: dict) -> None:
    """Handles an event. A crash, a pause or an error of the network repeats it, so everything it makes has an id of its own."""
    activation = event["activationId"]
    if event["type"] == "agent.activated":
        with Run(activation, f"hello-{activation}", "Say hello") as run:
            run.post(f"Hello {event.get('organizationName')}, I am ready.")
            # The run waits for the answer, for days if it must: approval_response goes on with it.
            run.propose("Greet your readers?", "I wrote a greeting. You see it as your readers would, and choose whether it is sent.", GREETING)
    if event["type"] == "approval_response" and event.get("runId"):
        with Run(activation, event["runId"], "Say hello") as run:
            run.summary = f"Said hello; the greeting was {event.get('decision')}."
    if event["type"] == "message.posted":
        post(activation, f"You wrote: {event.get('text')}", f"reply-{event['id']}")


# ---- Its key, and the service --------------------------------------------------------------------------------------


def seal(text: str) -> bytes:
    """Encrypts a key for the database: HMAC-SHA256 in counter mode, then a tag over all of it."""
    nonce = secrets.token_bytes(16)
    hidden = nonce + keystream(nonce, text.encode())
    return hidden + hmac.digest(MASTER_KEY, b"tag" + hidden, "sha256")


def unseal(sealed: bytes) -> str:
    hidden, tag = sealed[:-32], sealed[-32:]
    if not hmac.compare_digest(tag, hmac.digest(MASTER_KEY, b"tag" + hidden, "sha256")):
        raise ValueError("The key was encrypted with another AGENT_MASTER_KEY.")
    return keystream(hidden[:16], hidden[16:]).decode()


def keystream(nonce: bytes, data: bytes) -> bytes:
    blocks = (hmac.digest(MASTER_KEY, b"key" + nonce + i.to_bytes(4, "big"), "sha256") for i in range(len(data) // 32 + 1))
    return bytes(a ^ b for a, b in zip(data, b"".join(blocks)))


class Paused(Exception):
    """The activation is paused: the event waits for agent.resumed."""


class Ended(Exception):
    """The activation, or the run, has ended: nothing is left to do."""


def call(activation: str, path: str, body: dict) -> dict:
    """Calls the service with the key of an activation. Raises Paused, Ended, urllib.error.HTTPError or OSError."""
    with lock:
        found = database.execute("SELECT api_key, status FROM activations WHERE id = ?", (activation,)).fetchone()
    if found is not None and found[1] == "paused":
        raise Paused()
    if found is None or found[0] is None or found[1] != "active":
        raise Ended()
    request = urllib.request.Request(
        f"{SERVICE}/api/agents/activations/{activation}/{path}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {unseal(found[0])}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        # The service may know of a pause before its event is here.
        if b"activation_paused" in error.read():
            raise Paused() from error
        if error.code == 401:
            raise Ended() from error
        raise


def post(activation: str, text: str, external_id: str) -> None:
    """Posts a message to the brand. With its own id, one that is sent again is still one message."""
    call(activation, "messages", {"text": text, "externalId": external_id})


def is_transient(error: Exception) -> bool:
    """Whether another attempt may succeed. What the service refuses for what it is stays refused."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code >= 500 or error.code in (408, 429)
    return isinstance(error, (Paused, OSError))


class Run:
    """A run while its work goes on: heartbeats are sent by themselves, and it ends with the block."""

    def __init__(self, activation: str, run_id: str, title: str) -> None:
        self.activation = activation
        self.id = run_id
        self.title = title
        self.summary = "Done."
        self.waits = False
        self.over = threading.Event()

    def __enter__(self) -> "Run":
        # The same id again finds the same run, also after it has ended.
        started = call(self.activation, "runs/start", {"runId": self.id, "title": self.title})
        if started.get("status") not in ("RUNNING", "WAITING", None):
            raise Ended()
        with lock:
            runs_at_work[self.id] = self
        threading.Thread(target=self.beat, daemon=True).start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        failed = self.over.is_set()
        self.over.set()
        with lock:
            runs_at_work.pop(self.id, None)
        if kind is None and self.waits:
            return
        if kind is None and not failed:
            call(self.activation, "runs/complete", {"runId": self.id, "summary": self.summary})
        elif isinstance(error, Exception) and not isinstance(error, Ended) and not is_transient(error):
            call(self.activation, "runs/fail", {"runId": self.id, "error": {"code": "agent_failed", "message": str(error)[:500]}})

    def beat(self) -> None:
        while not self.over.wait(HEARTBEAT_SECONDS):
            try:
                call(self.activation, "runs/log", {"runId": self.id})
            except (Paused, Ended):
                return
            except OSError as error:
                print(f"A heartbeat of {self.id} failed: {error}", file=sys.stderr, flush=True)

    def check(self) -> None:
        """Raises Ended when the service has failed the run. Long work calls it now and then."""
        if self.over.is_set():
            raise Ended()

    def post(self, text: str) -> None:
        self.check()
        post(self.activation, text, f"{self.id}-{hashlib.sha256(text.encode()).hexdigest()[:16]}")

    def propose(self, title: str, text: str, proposal: dict) -> None:
        """Proposes a campaign or a template, of which a person decides. The run waits after its block, and needs no heartbeat."""
        self.check()
        request = {"type": "APPROVAL_REQUEST", "text": text, "runId": self.id, "externalId": f"{self.id}-{title}"}
        call(self.activation, "messages", {**request, "approval": {"title": title, "proposal": proposal}})
        self.waits = True

    def log(self, message: str) -> None:
        self.check()
        call(self.activation, "runs/log", {"runId": self.id, "entries": [{"message": message}]})


# ---- Its events ----------------------------------------------------------------------------------------------------

database = sqlite3.connect(os.environ.get("AGENT_DATA", "agent.db"), check_same_thread=False, isolation_level=None)
database.executescript(
    """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE IF NOT EXISTS activations (id TEXT PRIMARY KEY, api_key BLOB, status TEXT NOT NULL, sequence INTEGER NOT NULL);
    """
)
lock = threading.RLock()
workers = ThreadPoolExecutor(max_workers=16)
runs_at_work: "dict[str, Run]" = {}
in_hand: "set[str]" = set()

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
                    (event["activationId"], seal(key) if isinstance(key, str) else None, status, event["sequence"]),
                )
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
    return is_new


def take(event: dict) -> None:
    """Lets a thread handle an event, once at a time."""
    if event["type"] == "run_force_failed" and event.get("runId") in runs_at_work:
        runs_at_work[event["runId"]].over.set()
    with lock:
        if event["id"] in in_hand:
            return
        in_hand.add(event["id"])
    workers.submit(work, event)


def work(event: dict) -> None:
    done = True
    try:
        handle(event)
    except Paused:
        done = False
    except Ended:
        pass
    except Exception as error:
        done = not is_transient(error)
        print(f"{event['type']} {event['id']} failed{'' if done else ' and is tried again'}: {error}", file=sys.stderr, flush=True)
        if not done:
            timer = threading.Timer(RETRY_SECONDS, take, (event,))
            timer.daemon = True
            timer.start()
    with lock:
        in_hand.discard(event["id"])
        if done:
            database.execute("UPDATE events SET done = 1 WHERE id = ?", (event["id"],))
    if event["type"] == "agent.resumed":
        take_left()


def take_left() -> None:
    """Handles what an earlier process, or a pause, has left."""
    with lock:
        left = database.execute("SELECT body FROM events WHERE NOT done ORDER BY rowid").fetchall()
    for (body,) in left:
        take(json.loads(body))


# ---- Its webhook ---------------------------------------------------------------------------------------------------


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
        is_new = store(event)
        self.answer(200)
        if is_new:
            take(event)

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


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    take_left()
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Webhook)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    print(f"The webhook is at http://127.0.0.1:{server.server_port}/webhook", flush=True)
    server.serve_forever()
