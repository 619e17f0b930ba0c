"""The fixture `mailbox`: the mail that the program under test has sent."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

import pytest


class Mailbox:
    def __init__(self, url):
        self._url = url + "/__dev"

    def wait(self, to, subject="", timeout=10):
        """The oldest mail to an address, whose `codes` and `links` are lists. Fails the test when none comes in `timeout` seconds."""
        query = urllib.parse.urlencode({"to": to, "subject": subject, "timeout": timeout})
        try:
            return self._call("GET", "/inbox/wait?" + query)
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
        sent = [f"to {mail['to']}: {mail['subject']}" for mail in self._call("GET", "/inbox")["data"]]
        pytest.fail(f"No mail to {to} about {subject!r}. There is: {sent}")

    def all(self, to):
        """All mail to an address, once everything that is due has been delivered: an empty list means that none was sent."""
        self._call("POST", "/clock/advance", {"by": "0s"})
        return self._call("GET", "/inbox?" + urllib.parse.urlencode({"to": to}))["data"]

    def reset(self):
        self._call("POST", "/reset")

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@pytest.fixture
def mailbox():
    """An empty mailbox on the server of `mailsvc dev -- python3 -m pytest`."""
    box = Mailbox(os.environ["MAILSVC_URL"])
    box.reset()
    return box
