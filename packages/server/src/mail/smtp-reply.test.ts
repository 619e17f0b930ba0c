import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../test/any-character.ts";
import { failureReceipt, getAcceptedText, peerText } from "./smtp-reply.ts";

const refused = (response: string, command = "RCPT TO") => ({
  message: "refused",
  code: "EENVELOPE",
  command,
  response,
  responseCode: Number(response.slice(0, 3)),
});

describe("What a peer says", () => {
  test.each([
    ["250 2.0.0 Ok: queued as 4F2A", "250 2.0.0 Ok: queued as 4F2A"],
    ["250-first\r\n250 second", "250 first second"],
    ["550-5.1.1 The account\n550-5.1.1 does not exist.\n550 5.1.1 Try again", "550 5.1.1 The account does not exist. Try again"],
  ])("%j reads %j", (reply, text) => {
    expect(getAcceptedText(reply)).toBe(text);
  });

  test.each([
    ["550 5.1.1 no", 550, "5.1.1"],
    ["550 5.1.1.7 no", 550, null],
    ["550 no 5.1.1", 550, null],
    ["452-4.2.2 full\n452 4.2.2 full", 452, "4.2.2"],
    ["550 5.1.1234 no", 550, null],
  ])("%j has the codes %d and %s", (response, smtpCode, enhancedCode) => {
    expect(failureReceipt(refused(response), "message")).toMatchObject({ error: { smtpCode, enhancedCode } });
  });

  test.each([
    ["Invalid greeting. response=554 5.3.2 no: 554 5.3.2 no", "554 5.3.2 no", "The mail server turns connections away: 554 5.3.2 no"],
    ["Greeting never received", undefined, "The mail server accepts connections, but does not greet in time."],
    [
      "self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca",
      undefined,
      "self-signed certificate",
    ],
    ["Connection closed unexpectedly", undefined, "Connection closed unexpectedly"],
  ])("%j of a client reads as what it means", (message, response, text) => {
    const failure = { message, ...(response !== undefined && { response }) };
    expect(failureReceipt(failure, "session")).toMatchObject({ outcome: "deferred", error: { message: text } });
  });

  test("is one harmless line of at most 500 characters, whatever it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 3000 }), (text) => {
        const out = peerText(text);
        expect(out.length).toBeLessThanOrEqual(500);
        expect(out).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        expect(out.isWellFormed()).toBe(true);
      }),
    );
  });

  test("never bounces anybody for what is about us, whatever the phase", () => {
    for (const phase of ["session", "message"] as const) {
      for (const response of ["530 5.7.0 login", "534 5.7.9 weak", "535 5.7.8 wrong", "538 encrypt", "503 order", "421 bye"]) {
        expect(failureReceipt(refused(response), phase)).toMatchObject({ outcome: "deferred" });
      }
    }
    expect(failureReceipt(refused("550 5.1.1 no"), "session")).toMatchObject({ outcome: "deferred" });
    expect(failureReceipt(refused("550 5.1.1 no", "EHLO"), "message")).toMatchObject({ outcome: "deferred" });
  });
});

describe("A refusal suppresses the recipient", () => {
  const invalid = (response: string, command: string): boolean => {
    const receipt = failureReceipt(refused(response, command), "message");
    if (receipt.outcome === "deferred") return false;
    if (receipt.outcome !== "bounced") throw new Error(`${response} is ${receipt.outcome}.`);
    return receipt.invalidRecipient === true;
  };

  test.each([
    "550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table",
    "550 5.1.10 RESOLVER.ADR.RecipientNotFound",
    "550 5.2.1 The email account that you tried to reach is disabled",
    "553 5.1.3 bad syntax",
    "550 no such user",
    "550 No such user here",
    "550 <sender@example.com>: no such user",
    "550 User unknown",
    "550-Unknown user\n550 See https://example.com/help",
    "550 5.1.0 <ada@example.com> User unknown",
    "550 5.0.0 mailbox not found",
    "550 Invalid recipient <policy@example.com>",
    "550 Unrouteable address",
    "550 sorry, no mailbox here by that name (#5.1.1)",
    "551 This account is disabled",
    "553 Requested action not taken: mailbox name not allowed",
    "554 This user doesn't have a example.com account (ada@example.com)",
    "550 Mailbox does not exist",
    "550 5.4.1 Recipient address rejected: Access denied. [DB5EUR01FT012.eop-EUR01.prod.protection.outlook.com]",
    "550 5.4.1 Recipient address rejected: Access denied",
    "550 Requested action not taken: mailbox unavailable",
    "550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).",
    "550 5.4.4 Invalid domain",
    "550 5.1.351 Remote server returned unknown recipient or mailbox unavailable",
    "554 delivery error: dd This user doesn't have a yahoo.com account (ada@yahoo.com) [0]",
    "550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in relay recipient table",
    "550 5.5.0 Adresse destinataire invalide. Invalid recipient.",
    "556 5.1.10 null MX",
    "550 that recipient is not a valid mailbox",
    "550 The account has been deactivated",
  ])("when RCPT is answered %j, and only then", (response) => {
    expect(invalid(response, "RCPT TO")).toBe(true);
    for (const command of ["MAIL FROM", "DATA"]) expect(invalid(response, command)).toBe(false);
  });

  test.each([
    "550 relay not permitted",
    "550 5.7.1 Relaying denied",
    "550 Relaying denied for <ada@example.com>: unknown user",
    "550 Access denied",
    "553 sender not owned by user",
    "553 5.7.1 <hello@acme.example>: Sender address rejected: not owned by user",
    "550 5.1.8 Sender address rejected: Domain not found",
    "550 Sender verify failed",
    "550 High probability of spam",
    "554 5.7.1 Service unavailable; client host blocked using a blocklist",
    "550 Mail from this IP rejected, policy restrictions",
    "550 5.4.1 All recipient addresses rejected : Access denied",
    "450 4.2.0 Requested action not taken: mailbox unavailable",
    "550 5.1.1 <ada@example.com> - 192.0.2.1 has sent to too many recipients this hour.",
    "550-5.2.1 The user you are trying to contact is receiving mail at a rate that\n550 5.2.1 prevents additional messages from being delivered.",
    "552 5.1.1 sorry, mailbox ada@example.com is over quota temporarily",
    "550 5.1.1 Client host blocked using a block list",
    "550 5.4.4 Malformed or unexpected name server reply",
    "501 5.0.0 Invalid domain name",
    "550 Domain of sender address ada@example.com does not exist",
    "550 mailbox is full",
    "552 5.2.2 mailbox full",
    "552 5.3.4 message too big",
    "550 Your user is not allowed to send to this recipient",
    "550 5.7.26 Unauthenticated email is not accepted",
    "551 User not local; please try another path",
    "553 sorry, that domain isn't in my list of allowed rcpthosts",
    "554 Transaction failed",
    "550",
  ])("never when it is answered %j", (response) => {
    for (const command of ["RCPT TO", "MAIL FROM", "DATA"]) expect(invalid(response, command)).toBe(false);
  });

  test("when the client cannot write the address into a command at all", () => {
    const failure = { message: "Invalid recipient", code: "EENVELOPE" };
    expect(failureReceipt(failure, "message")).toMatchObject({ outcome: "bounced", invalidRecipient: true });
  });
});
