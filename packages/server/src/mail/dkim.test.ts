import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import * as turn from "../lib/turn.ts";
import { type DkimKey, dkimSigner } from "./dkim.ts";
import { NASTY_MAIL, sampleMail } from "./mailer.laws.ts";
import type { OutgoingMail } from "./mailer.ts";
import { composeMime } from "./mime.ts";

const pem = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();
const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 });
const ed = generateKeyPairSync("ed25519");

/** A verifier after RFC 6376 6.1, relaxed/relaxed, working from its text alone; true for every signature that holds. */
const verifyAll = (message: Buffer, keys: Record<string, KeyObject>): boolean[] => {
  const text = message.toString("latin1");
  const split = text.indexOf("\r\n\r\n");
  const fields: string[] = [];
  for (const part of text.slice(0, split).split("\r\n")) {
    if (/^[ \t]/.test(part)) fields.push(`${fields.pop() ?? ""}\r\n${part}`);
    else fields.push(part);
  }
  const canonical = (field: string): string => {
    const [, name = "", value = ""] = /^([^:]*):([\s\S]*)$/.exec(field) ?? [];
    return `${name.replace(/[ \t]+$/, "").toLowerCase()}:${value
      .replace(/\r\n/g, "")
      .replace(/[ \t]+/g, " ")
      .replace(/ $/, "")
      .replace(/^ /, "")}`;
  };
  const rows = text
    .slice(split + 4)
    .split("\r\n")
    .map((row) => row.replace(/[ \t]+/g, " ").replace(/ $/, ""));
  while (rows.at(-1) === "") rows.pop();
  const bodyHash = createHash("sha256")
    .update(rows.map((row) => `${row}\r\n`).join(""), "latin1")
    .digest("base64");
  return fields
    .filter((field) => /^dkim-signature:/i.test(field))
    .map((field) => {
      const tags = Object.fromEntries(
        field
          .slice("DKIM-Signature:".length)
          .split(";")
          .map((tag) => {
            const at = tag.indexOf("=");
            return [tag.slice(0, at).trim(), tag.slice(at + 1).replace(/\s+/g, "")];
          }),
      ) as Record<string, string>;
      if (tags.bh !== bodyHash) return false;
      const left = [...fields];
      const signed: string[] = [];
      for (const name of (tags.h ?? "").toLowerCase().split(":")) {
        const at = left.findLastIndex((other) => canonical(other).startsWith(`${name}:`));
        if (at >= 0) signed.push(`${canonical(left.splice(at, 1)[0] ?? "")}\r\n`);
      }
      const own = canonical(field.replace(/(;\s*b=)[\s\S]*$/, "$1"));
      const data = Buffer.from(signed.join("") + own, "latin1");
      const key = keys[`${tags.s}.${tags.d}`];
      if (key === undefined) return false;
      const value = Buffer.from(tags.b ?? "", "base64");
      return tags.a === "ed25519-sha256"
        ? verify(null, createHash("sha256").update(data).digest(), key, value)
        : verify("sha256", data, key, value);
    });
};

const publicKeys = { "r1.acme.example": rsa.publicKey, "e1.acme.example": ed.publicKey };
const keys: DkimKey[] = [
  { domain: "acme.example", selector: "r1", privateKey: pem(rsa.privateKey), workspaces: null },
  { domain: "acme.example", selector: "e1", privateKey: pem(ed.privateKey), workspaces: null },
  { domain: "other.example", selector: "r1", privateKey: pem(rsa.privateKey), workspaces: null },
];

describe("DKIM", () => {
  test("the verifier of these tests accepts the example of RFC 8463, and nothing but it", () => {
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }, format: "jwk" });
    const example = [
      "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;",
      " d=football.example.com; i=@football.example.com;",
      " q=dns/txt; s=brisbane; t=1528637909; h=from : to :",
      " subject : date : message-id : from : subject : date;",
      " bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;",
      " b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus",
      " Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==",
      "From: Joe SixPack <joe@football.example.com>",
      "To: Suzie Q <suzie@shopping.example.net>",
      "Subject: Is dinner ready?",
      "Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)",
      "Message-ID: <20030712040037.46341.5F8J@football.example.com>",
      "",
      "Hi.",
      "",
      "We lost the game.  Are you hungry yet?",
      "",
      "Joe.",
      "",
    ].join("\r\n");
    const published = { "brisbane.football.example.com": key };
    expect(verifyAll(Buffer.from(example), published)).toEqual([true]);
    expect(verifyAll(Buffer.from(example.replace("dinner", "supper")), published)).toEqual([false]);
    expect(verifyAll(Buffer.from(example.replace("hungry", "thirsty")), published)).toEqual([false]);
  });

  test("signs with every key of the From domain, RSA and Ed25519", async () => {
    const message = await composeMime(sampleMail(), dkimSigner(keys));
    expect(message.toString()).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed;\r\n d=acme\.example; s=r1;/);
    expect(verifyAll(message, publicKeys)).toEqual([true, true]);
  });

  test.each(NASTY_MAIL)("signs %s so that it verifies", async (_, changes) => {
    const mail = sampleMail(changes);
    const message = await composeMime({ ...mail, from: mail.from.replace(/@[^@>]*(>?)$/, "@acme.example$1") }, dkimSigner(keys));
    expect(verifyAll(message, publicKeys)).toEqual([true, true]);
  });

  test("signs a local part beyond ASCII", async () => {
    const message = await composeMime(sampleMail({ from: "Grüße <grüßeà@acme.example>" }), dkimSigner(keys));
    expect(verifyAll(message, publicKeys)).toEqual([true, true]);
  });

  test("covers what one-click unsubscribing needs, and lets nobody add a From, Subject, To, Date or Reply-To", async () => {
    const headers = { "List-Unsubscribe": "<https://acme.example/u/1>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
    const message = await composeMime(sampleMail({ headers }), dkimSigner(keys));
    for (const added of [
      "From: eve@evil.example",
      "Subject: x",
      "To: x@x.example",
      "Date: x",
      "Reply-To: eve@evil.example",
      "List-Unsubscribe-Post: x",
    ]) {
      const forged = Buffer.from(message.toString().replace("\r\nMIME-Version", `\r\n${added}\r\nMIME-Version`));
      expect(verifyAll(forged, publicKeys), added).toEqual([false, false]);
    }
    const relayed = Buffer.from(`Received: from a by b\r\n${message.toString().replace("Subject: ", "subject:   ")}\r\n\r\n`);
    expect(verifyAll(relayed, publicKeys)).toEqual([true, true]);
  });

  test("signs repeated headers from the last one up, and a body of nothing but empty lines", async () => {
    // The last one is hashed in several pieces, between which its blanks and empty lines must count as well.
    for (const body of ["", "\r\n\r\n", "a \t b \r\n \r\n", `${"a \t b \r\n\r\n".repeat(60_000)}${"\r\n".repeat(300_000)}`]) {
      const message = Buffer.from(
        `From: a@acme.example\r\nList-Help: <https://one.example>\r\nList-Help:\r\n <https://two.example> \r\n\r\n${body}`,
      );
      const signed = Buffer.concat([await dkimSigner(keys)("acme.example", message, null), message]);
      expect(verifyAll(signed, publicKeys)).toEqual([true, true]);
    }
  });

  test("lets other work have its turn while it composes and signs a mail with large files and texts", async () => {
    const text = "Grüße \t und mehr\r\n".repeat(200_000);
    const file = {
      filename: "a.bin",
      contentType: "application/octet-stream",
      contentId: null,
      content: new Uint8Array(10 << 20).fill(0x2e),
    };
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    const message = await composeMime(sampleMail({ text, html: text, attachments: [file, file] }), dkimSigner(keys));
    counting = false;
    expect(verifyAll(message, publicKeys)).toEqual([true, true]);
    // Each megabyte of base64 takes four turns to encode and four to hash.
    expect(turns).toBeGreaterThan(2 * 10 * 8);
  });

  test("lets other work have its turn between two RSA signatures of short messages", async () => {
    const signer = dkimSigner(keys);
    const message = await composeMime(sampleMail());
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    for (let i = 0; i < 10; i += 1)
      expect(verifyAll(Buffer.concat([await signer("acme.example", message, null), message]), publicKeys)).toEqual([true, true]);
    expect(turned).toBe(true);
  });

  test("signs subdomains with the key of the parent, and strangers not at all", async () => {
    const sub = await composeMime(sampleMail({ from: "a@news.eu.acme.example" }), dkimSigner(keys));
    expect(verifyAll(sub, publicKeys)).toEqual([true, true]);
    const stranger = await composeMime(sampleMail({ from: "a@notacme.example" }), dkimSigner(keys));
    expect(stranger.toString()).not.toContain("DKIM-Signature");
  });

  test("names the key that cannot be used", () => {
    const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const short = generateKeyPairSync("rsa", { modulusLength: 512 });
    const bad = (change: Partial<DkimKey>) => () =>
      dkimSigner([{ domain: "acme.example", selector: "s", privateKey: pem(ed.privateKey), workspaces: null, ...change }]);
    expect(bad({ privateKey: "-----BEGIN" })).toThrow("DKIM key s._domainkey.acme.example: the private key is not an unencrypted PEM key.");
    expect(bad({ privateKey: pem(ec.privateKey) })).toThrow("use rsa or ed25519");
    expect(bad({ privateKey: pem(short.privateKey) })).toThrow("512 bits are too few");
    expect(bad({ selector: "a; b=" })).toThrow("selector");
    expect(bad({ domain: "acme" })).toThrow("no dot");
  });
});

test("a body of a megabyte lets others have a turn after each quarter", async () => {
  const waits = vi.spyOn(turn, "waitForTurn");
  try {
    const sign = dkimSigner([{ domain: "acme.example", selector: "s", privateKey: pem(ed.privateKey), workspaces: null }]);
    await sign("acme.example", Buffer.from(`From: a@acme.example\r\n\r\n${"A line of text.\r\n".repeat(60_000)}`), null);
    expect(waits).toHaveBeenCalledTimes(3);
  } finally {
    waits.mockRestore();
  }
});

test("a key signs for the workspaces that it names and for the server itself, and mail of others is never signed with it", async () => {
  const [key] = keys;
  const sign = dkimSigner([{ ...(key as DkimKey), workspaces: ["ws_1"] }]);
  const from = { from: "Acme <hello@acme.example>" };
  const isSigned = async (origin: OutgoingMail["origin"]): Promise<boolean> =>
    (await composeMime(sampleMail({ ...from, ...(origin && { origin }) }), sign)).toString().startsWith("DKIM-Signature:");
  expect(await isSigned({ workspaceId: "ws_1", emailId: "em_1" })).toBe(true);
  expect(await isSigned({ workspaceId: "ws_2", emailId: "em_2" })).toBe(false);
  // The confirmation of a sender is mail of the server.
  expect(await isSigned({ workspaceId: "ws_2", emailId: null })).toBe(true);
});
