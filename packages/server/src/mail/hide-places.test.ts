import { expect, test } from "vitest";
import { hidePlaces, hidePlacesOf } from "./hide-places.ts";

test.each([
  ["connect ECONNREFUSED 127.0.0.1:1", "connect ECONNREFUSED"],
  ["connect ETIMEDOUT fd00::5:25", "connect ETIMEDOUT"],
  ["connect EHOSTUNREACH 10.0.0.5:25 - Local (10.0.0.2:51515)", "connect EHOSTUNREACH"],
  ["getaddrinfo ENOTFOUND mail.internal", "getaddrinfo ENOTFOUND"],
  [
    "The relay b is out of service: connect ECONNREFUSED 10.0.0.5:25 Next: x",
    "The relay b is out of service: connect ECONNREFUSED Next: x",
  ],
  ["The token server login.internal:8443 cannot be reached (ECONNREFUSED).", "The token server cannot be reached (ECONNREFUSED)."],
  [
    "Hostname/IP does not match certificate's altnames: Host: mail.internal. is not in the cert's altnames: DNS:other.internal",
    "Hostname/IP does not match certificate's altnames",
  ],
  ["read ECONNRESET", "read ECONNRESET"],
  ["Greeting never received", "Greeting never received"],
])("%s is told as: %s", (reason, told) => expect(hidePlaces(reason)).toBe(told));

test("the answer of a mail server is told as it came", () => {
  const error = { message: "550 connect ECONNREFUSED 127.0.0.1:1", smtpCode: 550, enhancedCode: null };
  expect(hidePlacesOf({ outcome: "bounced", error })).toEqual({ outcome: "bounced", error });
});
