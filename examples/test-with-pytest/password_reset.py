"""Password resets by mail."""

import json
import os
import secrets
import urllib.request

USERS = {"ada@example.com": "Ada"}


class PasswordResets:
    def __init__(self):
        self._codes = {}

    def request(self, address):
        """Sends a code and a link to a user. Strangers get no mail, and the caller does not learn who is a user."""
        name = USERS.get(address)
        if name is None:
            return
        code = str(secrets.randbelow(900_000) + 100_000)
        self._codes[address] = code
        send(
            {
                "from": "Acme <hello@acme.example>",
                "to": address,
                "subject": "Reset your password",
                "text": f"Hello {name},\n\nyour code is {code}. Or open https://acme.example/reset?code={code}\n",
            }
        )

    def confirm(self, address, code):
        """Whether a code is the one of the mail. It is good for one time."""
        if self._codes.get(address) != code:
            return False
        del self._codes[address]
        return True


def send(mail):
    """Sends a mail. Raises urllib.error.HTTPError when it is refused."""
    request = urllib.request.Request(
        os.environ["MAILSVC_URL"] + "/api/v1/send",
        data=json.dumps(mail).encode(),
        headers={"Authorization": "Bearer " + os.environ["MAILSVC_API_KEY"], "Content-Type": "application/json"},
    )
    urllib.request.urlopen(request).close()
