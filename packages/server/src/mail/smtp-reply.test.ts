import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { acceptedText, blamesRecipient, failureReceipt, peerText } from "./smtp-reply.ts";

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
    expect(acceptedText(reply)).toBe(text);
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

  test("is one harmless line of at most 500 characters, whatever it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 3000 }), (text) => {
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

describe("A bounce blames the recipient", () => {
  test.each([
    [550, "5.1.1", true],
    [550, "5.1.10", true],
    [550, "5.2.1", true],
    [553, "5.1.3", true],
    [550, null, true],
    [550, "5.7.1", false],
    [553, "5.1.8", false],
    [552, "5.3.4", false],
    [554, null, false],
    [null, "5.6.7", false],
    [552, "5.2.2", false],
  ])("%s %s: %s", (smtpCode, enhancedCode, expected) => {
    expect(blamesRecipient({ message: "", smtpCode, enhancedCode })).toBe(expected);
  });
});
