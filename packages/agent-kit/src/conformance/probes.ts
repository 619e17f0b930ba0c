import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { RAW_BODY } from "./advice.ts";
import type { Advice, CaseRequest } from "./case.ts";
import { type CheckInput, SIGNATURE, STANDARD, sign, without } from "./requests.ts";

/** A signature that is wrong in a known way, and what a receiver does that accepts it. */
interface Probe {
  readonly request: CaseRequest;
  readonly advice: Advice;
}

const SECRET = "Use the secret as the text that the listing shows, whsec_ and all, as the key of HMAC-SHA256.";
const FORM =
  "Compute the HMAC-SHA256 of the raw body with the secret as its key, and compare it with the 64 hex digits of X-Service-Signature.";
const UNSET = "Refuse to start without a secret, and set AGENT_WEBHOOK_SECRET to the webhookSecret of the listing.";

/** Requests that show what a receiver verifies when it refuses correctly signed ones. */
export function listProbes({ secret, now, samples }: CheckInput): Probe[] {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const hmac = (by: string | Uint8Array, text: string, algorithm = "sha256") => createHmac(algorithm, by).update(text);
  const probe = (mistake: string, fix: string, signature: (text: string, request: CaseRequest) => string): Probe => {
    const text = JSON.stringify(samples.plain());
    const request = sign(text, secret, now);
    const headers = { ...request.headers, [SIGNATURE]: signature(text, request) };
    return { request: { ...request, headers }, advice: { mistake, fix } };
  };
  const rewritten = (how: string, write: (event: object) => string): Probe =>
    probe(`${RAW_BODY.mistake} It is written ${how}.`, RAW_BODY.fix, (text) =>
      hmac(secret, write(JSON.parse(text) as object)).digest("hex"),
    );
  const renamed = (name: string, value: (hex: string) => string): Probe => {
    const request = sign(JSON.stringify(samples.plain()), secret, now);
    const bare = without(request, SIGNATURE, ...STANDARD);
    return {
      request: { ...bare, headers: { ...bare.headers, [name]: value(request.headers[SIGNATURE] ?? "") } },
      advice: { mistake: `The signature is looked for in another header: ${name}.`, fix: "Read X-Service-Signature." },
    };
  };
  return [
    probe("The secret is used without its prefix whsec_.", SECRET, (text) => hmac(secret.replace(/^whsec_/, ""), text).digest("hex")),
    probe("The part of the secret after whsec_ is decoded, as webhook-signature needs it; X-Service-Signature does not.", SECRET, (text) =>
      hmac(key, text).digest("hex"),
    ),
    probe("The receiver runs without its secret: the variable is not set, so an empty key signs everything.", UNSET, (text) =>
      hmac("", text).digest("hex"),
    ),
    ...["undefined", "null", "None"].map((word) =>
      probe(`The secret is not set and was turned into the text ${word}.`, UNSET, (text) => hmac(word, text).digest("hex")),
    ),
    probe("A line break at the end of the secret is part of the key, as when it is read from a file.", SECRET, (text) =>
      hmac(`${secret}\n`, text).digest("hex"),
    ),
    probe("The digest is compared as base64, not as hex.", FORM, (text) => hmac(secret, text).digest("base64")),
    probe("The digits are compared in capitals, and those of the service are small.", FORM, (text) =>
      hmac(secret, text).digest("hex").toUpperCase(),
    ),
    probe("The receiver expects `sha256=` before the digits.", FORM, (text) => `sha256=${hmac(secret, text).digest("hex")}`),
    ...["sha1", "sha512", "sha384", "md5"].map((algorithm) =>
      probe(`The HMAC is computed with ${algorithm} in place of SHA-256.`, FORM, (text) => hmac(secret, text, algorithm).digest("hex")),
    ),
    ...plainHashes(secret).map(([order, write]) =>
      probe(`A plain hash of ${order} is computed in place of an HMAC.`, FORM, (text) => write(text)),
    ),
    probe(
      "The form of Standard Webhooks is expected in X-Service-Signature.",
      FORM,
      (_, request) => request.headers["webhook-signature"] ?? "",
    ),
    ...listPrefixes().map(([what, prefix]) =>
      probe(`${what} is signed together with the body, as other services do it.`, FORM, (text, { headers }) =>
        hmac(secret, `${prefix(headers)}.${text}`).digest("hex"),
      ),
    ),
    rewritten("as Python's json.dumps does, with spaces", toPython),
    rewritten("with its fields sorted", (event) => JSON.stringify(sorted(event))),
    rewritten("with its fields sorted, and spaces", (event) => toPython(sorted(event))),
    rewritten("with indentation", (event) => JSON.stringify(event, null, 2)),
    rewritten("with a newline at its end", (event) => `${JSON.stringify(event)}\n`),
    probe("Only the id of the event is signed, not the body.", FORM, (text) =>
      hmac(secret, (JSON.parse(text) as { id: string }).id).digest("hex"),
    ),
    probe("An empty body is verified: something has read it before.", RAW_BODY.fix, () => hmac(secret, "").digest("hex")),
    renamed("x-hub-signature-256", (hex) => `sha256=${hex}`),
    ...["x-signature", "signature", "x-webhook-signature", "x-hub-signature", "x-mailsvc-signature"].map((name) =>
      renamed(name, (hex) => hex),
    ),
  ];
}

/** Advice when no probe was accepted. */
export const REFUSES_ALL: Advice = {
  mistake: "The receiver refuses every signature: its secret is another one, or what it verifies is not the raw body.",
  fix: `${FORM} Check that AGENT_WEBHOOK_SECRET is the webhookSecret of the listing, without quotes or spaces.`,
};

function plainHashes(secret: string): [order: string, write: (text: string) => string][] {
  const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
  return [
    ["the secret and the body", (text) => hash(secret + text)],
    ["the body and the secret", (text) => hash(text + secret)],
    ["the body alone", (text) => hash(text)],
  ];
}

type Headers = Readonly<Record<string, string>>;

function listPrefixes(): [what: string, prefix: (headers: Headers) => string][] {
  const of =
    (...names: string[]) =>
    (headers: Headers) =>
      names.map((name) => headers[name]).join(".");
  return [
    ["webhook-timestamp", of("webhook-timestamp")],
    ["X-Service-Timestamp", of("x-service-timestamp")],
    ["webhook-id and webhook-timestamp", of("webhook-id", "webhook-timestamp")],
    ["X-Service-Event-Id", of("x-service-event-id")],
  ];
}

/** JSON with a space after commas and colons, and escapes beyond ASCII. Texts of samples contain neither `,"` nor `":`. */
function toPython(event: object): string {
  return JSON.stringify(event).replaceAll(',"', ', "').replaceAll('":', '": ');
}

function sorted(event: object): object {
  return Object.fromEntries(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)));
}
