import { generateKeyPairSync } from "node:crypto";
import type { DomainRecords } from "../src/lib/domain-records.ts";
import { noRecords } from "../src/lib/domain-records.ts";
import { dkimSigner, toPublicKey } from "../src/mail/dkim.ts";
import { composeMime } from "../src/mail/mime.ts";

/** The address of a mail server of acme.example. */
export const ACME_IP = "93.184.216.34";
/** The address of a server that forwards mail, or invents it. */
export const OTHER_IP = "93.184.216.99";

const { privateKey } = generateKeyPairSync("ed25519", {
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

/** A zone of the DNS: the TXT records of its names. Every other name has none. */
export function zone(texts: Readonly<Record<string, readonly string[]>>): DomainRecords {
  return { ...noRecords, txt: async (name) => [...(texts[name] ?? [])] };
}

const RECORD = toPublicKey({ privateKey });

/** DNS records of acme.example: its senders, its key under `selector`, and its policy for receivers. */
export const acme = (dmarc = "v=DMARC1; p=reject", more: Readonly<Record<string, readonly string[]>> = {}): DomainRecords =>
  zone({
    "acme.example": [`v=spf1 ip4:${ACME_IP} -all`],
    "s._domainkey.acme.example": [`v=DKIM1; k=${RECORD.type}; p=${RECORD.key}`],
    "s._domainkey.mail.acme.example": [`v=DKIM1; k=${RECORD.type}; p=${RECORD.key}`],
    "_dmarc.acme.example": [dmarc],
    ...more,
  });

/** A mail from hello@acme.example, signed by the server's own signer for a domain; unsigned if that is null. */
export function signedMail(
  domain: string | null = "acme.example",
  { from = "Acme <hello@acme.example>", text = "How are you?", headers = {} as Readonly<Record<string, string>> } = {},
) {
  const sign = domain === null ? null : dkimSigner([{ domain, selector: "s", privateKey, workspaces: null }]);
  return composeMime(
    {
      envelopeFrom: "hello@acme.example",
      envelopeTo: "support@in.example",
      messageId: "<1@acme.example>",
      from,
      to: [{ name: "", address: "support@in.example" }],
      cc: [],
      replyTo: null,
      subject: "Hi",
      text,
      html: null,
      headers,
      attachments: [],
      date: Date.parse("2026-01-01T00:00:00Z"),
      attempt: 1,
    },
    ...(domain === null || sign === null ? [] : [(_from: string, message: Buffer) => sign(domain, message, null)]),
  );
}
