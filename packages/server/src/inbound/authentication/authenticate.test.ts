import { describe, expect, test } from "vitest";
import { ACME_IP, acme, OTHER_IP, signedMail, zone } from "../../../test/authenticated-mail.ts";
import { type DomainRecords, noRecords } from "../../lib/domain-records.ts";
import { authenticate, type Peer } from "./authenticate.ts";

const peer = (more: Partial<Peer> = {}): Peer => ({ ip: ACME_IP, helo: "mx.acme.example", envelopeFrom: "hello@acme.example", ...more });
const FORWARDER = peer({ ip: OTHER_IP, helo: "lists.example", envelopeFrom: "list@lists.example" });

/** A mail whose text was changed after it was signed. */
const altered = async () => Buffer.from((await signedMail()).toString("latin1").replace("How are you?", "Send us money"), "latin1");

const failing = (code: string): DomainRecords => {
  const fail = async () => Promise.reject(Object.assign(new Error("no answer"), { code }));
  return { txt: fail, mx: fail, addresses: fail, names: fail };
};

describe("the sender of a mail", () => {
  test("is proven by a signature and by its server", async () => {
    expect(await authenticate(await signedMail(), peer(), acme())).toEqual({
      ...{ spf: "pass", dkim: "pass", dmarc: "pass" },
      ...{ signers: ["acme.example"], policy: "reject", reason: null },
    });
  });

  test("is proven by the signature alone once somebody forwarded the mail, and not without it", async () => {
    const forwarded = Buffer.concat([
      Buffer.from("Received: from mx.acme.example by lists.example; Thu, 1 Jan 2026 00:00:01 +0000\r\n"),
      await signedMail(),
    ]);
    expect(await authenticate(forwarded, FORWARDER, acme())).toMatchObject({ spf: "none", dkim: "pass", dmarc: "pass" });
    expect(await authenticate(await signedMail(null), FORWARDER, acme())).toMatchObject({
      spf: "none",
      dkim: "none",
      dmarc: "fail",
      policy: "reject",
    });
  });

  test("is not proven by the signature of a mail that was altered, or only continued behind what it covers", async () => {
    expect(await authenticate(await altered(), FORWARDER, acme())).toMatchObject({ dkim: "fail", dmarc: "fail", signers: [] });
    const subject = Buffer.from((await signedMail()).toString("latin1").replace("Subject: Hi", "Subject: Money"), "latin1");
    expect(await authenticate(subject, FORWARDER, acme())).toMatchObject({ dkim: "fail", dmarc: "fail", signers: [] });
    const longer = Buffer.concat([await signedMail(), Buffer.from("And send us money.\r\n")]);
    expect(await authenticate(longer, FORWARDER, acme())).toMatchObject({ dkim: "fail", dmarc: "fail", signers: [] });
  });

  test("is not proven by a signature that covers a part of the mail, or by one that uses SHA-1", async () => {
    const mail = (await signedMail()).toString("latin1");
    for (const weak of [
      mail.replace("v=1;", "v=1; l=5;"),
      mail.replace("v=1;", "v=1;\r\n\tl = 5;"),
      mail.replace(/a=[\w-]+;/, "a=rsa-sha1;"),
    ])
      expect(await authenticate(Buffer.from(weak, "latin1"), FORWARDER, acme())).toMatchObject({
        dkim: "policy",
        dmarc: "fail",
        signers: [],
      });
  });

  test("is not proven by the signature and the server of another domain", async () => {
    const keys = { "s._domainkey.other.example": ["v=DKIM1; p="], "lists.example": [`v=spf1 ip4:${OTHER_IP} -all`] };
    const mail = await signedMail("other.example");
    expect(await authenticate(mail, FORWARDER, acme(undefined, keys))).toMatchObject({ spf: "pass", dmarc: "fail", signers: [] });
    const known = { ...keys, "s._domainkey.other.example": await acme().txt("s._domainkey.acme.example") };
    expect(await authenticate(mail, FORWARDER, acme(undefined, known))).toMatchObject({
      dkim: "pass",
      dmarc: "fail",
      signers: ["other.example"],
    });
  });

  test("may be of a domain above or below the signing one, unless its record is strict", async () => {
    const mail = await signedMail("mail.acme.example");
    expect(await authenticate(mail, FORWARDER, acme("v=DMARC1; p=reject; adkim=r"))).toMatchObject({ dkim: "pass", dmarc: "pass" });
    expect(await authenticate(mail, FORWARDER, acme("v=DMARC1; p=reject; adkim=s"))).toMatchObject({ dkim: "pass", dmarc: "fail" });
    const below = peer({ envelopeFrom: "bounce@mail.acme.example" });
    const sends = { "mail.acme.example": [`v=spf1 ip4:${ACME_IP} -all`] };
    expect(await authenticate(await signedMail(null), below, acme("v=DMARC1; p=reject; aspf=r", sends))).toMatchObject({
      spf: "pass",
      dmarc: "pass",
    });
    expect(await authenticate(await signedMail(null), below, acme("v=DMARC1; p=reject; aspf=s", sends))).toMatchObject({
      spf: "pass",
      dmarc: "fail",
    });
  });

  test("has the policy of the domain above, of `np` where the domain of From does not exist", async () => {
    const record = "v=DMARC1; p=none; sp=quarantine; np=reject";
    const mail = await signedMail(null, { from: "x@made-up.acme.example" });
    expect(await authenticate(mail, FORWARDER, acme(record))).toMatchObject({ dmarc: "fail", policy: "reject" });
    const exists: DomainRecords = { ...acme(record), addresses: async (name) => (name === "made-up.acme.example" ? [ACME_IP] : []) };
    expect(await authenticate(mail, FORWARDER, exists)).toMatchObject({ dmarc: "fail", policy: "quarantine" });
  });

  test("cannot be told where From names none, or several", async () => {
    const mail = (await signedMail(null)).toString("latin1");
    for (const from of [
      "",
      "From: nobody\r\n",
      "From: a@acme.example, b@other.example\r\n",
      "From: a@acme.example\r\nFrom: b@other.example\r\n",
    ]) {
      const result = await authenticate(Buffer.from(mail.replace(/^From: .*\r\n/, from), "latin1"), peer(), acme());
      expect(result, from).toMatchObject({ spf: "pass", dmarc: "permerror", policy: null });
      expect(result.reason).toContain("From names no domain, or several");
    }
  });
});

describe("without the DNS nothing is proven, and nothing fails", () => {
  test("when no name server answers", async () => {
    for (const code of ["ECONNREFUSED", "ETIMEOUT", "ESERVFAIL"]) {
      const result = await authenticate(await signedMail(), peer(), failing(code));
      expect(result).toMatchObject({ spf: "temperror", dkim: "temperror", dmarc: "temperror", signers: [], policy: null });
      expect(result.reason).toMatch(new RegExp(`^No name server answered for \\S+ \\(${code}\\)\\.$`));
    }
  });

  test("when only the key is not known: an altered mail fails in no case by that", async () => {
    const records = acme();
    const keyless: DomainRecords = {
      ...records,
      txt: (name) => (name.includes("_domainkey") ? failing("ETIMEOUT").txt(name) : records.txt(name)),
    };
    expect(await authenticate(await signedMail(), FORWARDER, keyless)).toMatchObject({ dkim: "temperror", dmarc: "temperror" });
    // SPF proves it all the same.
    expect(await authenticate(await signedMail(), peer(), keyless)).toMatchObject({ dkim: "temperror", dmarc: "pass" });
  });

  test("when no name has a record", async () => {
    expect(await authenticate(await signedMail(), peer(), noRecords)).toMatchObject({
      spf: "none",
      dkim: "neutral",
      dmarc: "none",
      reason: null,
    });
  });

  test("when a mail server of the own network hands the mail over, SPF is left to it", async () => {
    const inside = peer({ ip: null });
    expect(await authenticate(await signedMail(), inside, acme())).toMatchObject({ spf: null, dkim: "pass", dmarc: "pass" });
    const unsigned = await authenticate(await signedMail(null), inside, acme());
    expect(unsigned).toMatchObject({ spf: null, dkim: "none", dmarc: null });
    expect(unsigned.reason).toContain("SPF was not checked");
  });
});

describe("hostile mail and records", () => {
  test("of two hundred signatures eight are looked at", async () => {
    const mail = (await signedMail()).toString("latin1");
    const signature = /^DKIM-Signature:[\s\S]*?\r\n(?=\S)/.exec(mail)?.[0] ?? "";
    const asked: string[] = [];
    const records: DomainRecords = {
      ...acme(),
      txt: async (name) => {
        asked.push(name);
        return acme().txt(name);
      },
    };
    const many = Array.from({ length: 200 }, (_, i) => signature.replace(/ s=s;/, ` s=s${i};`)).join("");
    expect(many).toContain("s=s199;");
    // The real one is the last of all, and too late.
    const result = await authenticate(Buffer.from(many + mail, "latin1"), FORWARDER, records);
    expect(result).toMatchObject({ dmarc: "fail", signers: [] });
    expect(asked.filter((name) => name.includes("_domainkey"))).toHaveLength(8);
    // Among the first eight it counts.
    const few = await authenticate(Buffer.from(signature.replace(/ s=s;/, " s=s0;").repeat(7) + mail, "latin1"), FORWARDER, records);
    expect(few).toMatchObject({ dkim: "pass", dmarc: "pass" });
  });

  test("headers and records with anything in them are answered", async () => {
    const junk = [
      "\0",
      "\u001b[31m",
      ";".repeat(5000),
      `v=DKIM1; p=${"A".repeat(4000)}`,
      "=".repeat(4000),
      `v=spf1 ${"a ".repeat(2000)}`,
      "v=spf1 include:acme.example -all",
    ];
    const mail = (await signedMail()).toString("latin1");
    for (const text of junk) {
      const records: DomainRecords = {
        txt: async () => [text, text],
        mx: async () => [{ priority: 0, exchange: text }],
        addresses: async () => [text],
        names: async () => [text],
      };
      const result = await authenticate(Buffer.from(mail, "latin1"), peer({ helo: text, envelopeFrom: `a@${text}` }), records);
      expect(result.signers, text.slice(0, 20)).toEqual([]);
      expect(result.dmarc).not.toBe("pass");
      const headers = Array.from(
        { length: 200 },
        (_, i) =>
          `DKIM-Signature: v=1; a=rsa-sha256; d=x${i}.example; s=${text.slice(0, 60).replace(/[\r\n\0]/g, "")}; h=from:${"from:".repeat(i)}; bh=${i}; b=${i}\r\nARC-Seal: i=${i}; ${text.slice(0, 50).replace(/[\r\n\0]/g, "")}\r\n`,
      ).join("");
      expect((await authenticate(Buffer.from(headers + mail, "latin1"), peer(), records)).dmarc).not.toBe("pass");
    }
  });

  test("a mail without an end of its header, or nothing at all, is answered", async () => {
    for (const raw of ["", "\r\n", "\n", "From: a@acme.example", "DKIM-Signature: v=1", ": x\r\n\r\n", "\r\r\r\n\n"])
      expect((await authenticate(Buffer.from(raw), FORWARDER, acme())).dkim).not.toBe("pass");
  });

  test("lines that end with LF are those that were signed", async () => {
    const unix = Buffer.from((await signedMail()).toString("latin1").replaceAll("\r\n", "\n"), "latin1");
    expect(await authenticate(unix, FORWARDER, acme())).toMatchObject({ dkim: "pass", dmarc: "pass" });
  });

  test("a record that leads in circles is an error of its owner", async () => {
    const records = zone({ "acme.example": ["v=spf1 include:acme.example -all"], "_dmarc.acme.example": ["v=DMARC1; p=reject"] });
    expect(await authenticate(await signedMail(null), peer(), records)).toMatchObject({ spf: "permerror", dmarc: "fail" });
  });
});
