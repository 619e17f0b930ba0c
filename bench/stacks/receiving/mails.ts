import { generateKeyPairSync } from "node:crypto";
import { dkimSign } from "mailauth/lib/dkim/sign.js";

export const RECIPIENT = "reader@in.bench.example";
export const SENDER = "ada@sender.example";
const [, SENDER_DOMAIN = ""] = SENDER.split("@");
const SELECTOR = "bench";
// Parts of a mail, bytes as they are sent: 100 kB in all.
const TEXT_BYTES = 10_000;
const HTML_BYTES = 40_000;
const FILE_BYTES = 36_000;

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "der" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

/** The TXT records by which the sender of the mails passes SPF, DKIM and DMARC. */
export const RECORDS: Readonly<Record<string, string>> = {
  [SENDER_DOMAIN]: "v=spf1 ip4:127.0.0.1 -all",
  [`${SELECTOR}._domainkey.${SENDER_DOMAIN}`]: `v=DKIM1; k=rsa; p=${publicKey.toString("base64")}`,
  [`_dmarc.${SENDER_DOMAIN}`]: "v=DMARC1; p=reject",
};

/** A signed mail of 100 kB with a number: text, HTML in quoted-printable and a file. */
export async function buildMail(n: number): Promise<Buffer> {
  const text = "A line of a mail that somebody wrote, as long as lines are in most.\r\n";
  const html = '<p style=3D"margin:0;padding:0">Gr=C3=BC=C3=9Fe aus M=C3=BCnchen an alle, die=\r\n das lesen</p>\r\n';
  const file = Buffer.alloc(FILE_BYTES, `file ${n} `).toString("base64").replace(/.{76}/g, "$&\r\n");
  const message = [
    `From: Ada <${SENDER}>`,
    `To: ${RECIPIENT}`,
    `Subject: Mail ${n}`,
    `Message-ID: <${n}@${SENDER_DOMAIN}>`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    "MIME-Version: 1.0",
    "Content-Type: multipart/mixed; boundary=mixed",
    "",
    "--mixed",
    "Content-Type: multipart/alternative; boundary=alternative",
    "",
    "--alternative",
    "Content-Type: text/plain; charset=utf-8",
    "",
    text.repeat(TEXT_BYTES / text.length),
    "--alternative",
    "Content-Type: text/html; charset=utf-8",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    html.repeat(HTML_BYTES / html.length),
    "--alternative--",
    "--mixed",
    "Content-Type: application/pdf; name=a.pdf",
    "Content-Transfer-Encoding: base64",
    "Content-Disposition: attachment; filename=a.pdf",
    "",
    file,
    "--mixed--",
    "",
  ].join("\r\n");
  const key = { signingDomain: SENDER_DOMAIN, selector: SELECTOR, privateKey };
  // Its type asks for one key, its code for a list of them.
  const { signatures } = await dkimSign(message, { canonicalization: "relaxed/relaxed", ...key, signatureData: [key] });
  if (signatures === "") throw new Error("The mail was not signed.");
  return Buffer.from(signatures + message);
}
