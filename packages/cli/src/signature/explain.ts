import { createHmac } from "node:crypto";
import { gunzipSync } from "node:zlib";

/** Explanation of a signature. */
interface Explanation {
  /** The transformation under which it matches, for example `reserialised`. */
  readonly id: string;
  /** Cause, as a sentence. */
  readonly what: string;
  /** Fix; null when the signature is right. */
  readonly fix: string | null;
}

interface Variant<T> extends Explanation {
  readonly value: T;
}

const RAW = "Verify the raw bytes of the request, before anything reads or changes them.";
const SECRET = "Use the whole text of the secret, `whsec_` and all, as the key.";

/**
 * Finds out how a signature came about: with the right body and secret, or with one of the changes that frameworks, proxies and
 * people make. Returns null when nothing known explains it.
 */
export function explainSignature(body: Buffer, signature: string, secret: string): Explanation | null {
  const given = signature.trim();
  const digests: [RegExp, (mac: Buffer) => string][] = [
    [/^[0-9a-f]{64}$/i, (mac) => mac.toString("hex")],
    [/^(?:v1,)?[A-Za-z0-9+/]{43}=$/, (mac) => mac.toString("base64")],
  ];
  const form = digests.find(([pattern]) => pattern.test(given.replace(/^sha256=/i, "")));
  const spelled = given.replace(/^sha256=/i, "").replace(/^v1,/, "");
  const wanted = form?.[0] === digests[0]?.[0] ? spelled.toLowerCase() : spelled;
  const write = form?.[1];
  if (write) {
    for (const key of listKeys(secret)) {
      for (const text of listBodies(body)) {
        if (write(createHmac("sha256", key.value).update(text.value).digest()) !== wanted) continue;
        return describe(key, text, given);
      }
    }
  }
  return explainOtherDigest(body, given, secret);
}

function describe(key: Variant<string | Buffer>, text: Variant<Buffer>, given: string): Explanation {
  const wrong = [key, text].filter(({ fix }) => fix !== null);
  if (wrong.length > 0)
    return {
      id: wrong.map(({ id }) => id).join("+"),
      what: wrong.map(({ what }) => what).join(" "),
      fix: [...new Set(wrong.map(({ fix }) => fix))].join(" "),
    };
  if (/^[0-9a-f]{64}$/i.test(given)) return { id: "valid", what: "The signature is right for this body and secret.", fix: null };
  return /^sha256=/i.test(given)
    ? { id: "labelled", what: "The digest is right, but `sha256=` stands before it.", fix: "Compare the 64 hex digits alone." }
    : { id: "base64", what: "The digest is right, but it is written in base64.", fix: 'X-Service-Signature is hex: digest("hex").' };
}

function explainOtherDigest(body: Buffer, given: string, secret: string): Explanation | null {
  for (const algorithm of ["sha1", "sha512", "sha384", "md5"])
    if (createHmac(algorithm, secret).update(body).digest("hex") === given.toLowerCase())
      return { id: algorithm, what: `It was made with HMAC-${algorithm.toUpperCase()}.`, fix: "Use HMAC-SHA256." };
  const digits = createHmac("sha256", secret).update(body).digest("hex");
  if (given.length >= 8 && digits.startsWith(given.toLowerCase()))
    return { id: "truncated", what: `It has only ${given.length} of the 64 hex digits.`, fix: "Store and compare the whole header." };
  return null;
}

/** The keys people use: the right one first. */
function listKeys(secret: string): Variant<string | Buffer>[] {
  const bare = secret.replace(/^whsec_/, "");
  return [
    { id: "secret", what: "", fix: null, value: secret },
    { id: "secret-without-prefix", what: "The secret was used without `whsec_`.", fix: SECRET, value: bare },
    {
      id: "secret-decoded",
      what: "The key was the decoded base64 of the secret, as Standard Webhooks has it.",
      fix: SECRET,
      value: Buffer.from(bare, "base64"),
    },
    {
      id: "secret-newline",
      what: "The secret was read from a file with the newline at its end.",
      fix: "Trim the secret.",
      value: `${secret}\n`,
    },
    {
      id: "secret-quoted",
      what: "The secret was used with quotes around it.",
      fix: "Remove the quotes from the variable.",
      value: `"${secret}"`,
    },
    { id: "secret-trimmed", what: "The secret given here has spaces around it.", fix: "Trim the secret.", value: secret.trim() },
    {
      id: "secret-undefined",
      what: "The secret was not set: the word `undefined` was the key.",
      fix: "Refuse to start without the secret.",
      value: "undefined",
    },
    { id: "secret-empty", what: "The secret was empty.", fix: "Refuse to start without the secret.", value: "" },
  ];
}

/** The bodies that frameworks, proxies and editors make of a body: the right one first. */
function listBodies(body: Buffer): Variant<Buffer>[] {
  const text = body.toString("utf8");
  const found: Variant<Buffer>[] = [{ id: "body", what: "", fix: null, value: body }];
  const add = (id: string, what: string, value: string | Buffer, fix = RAW): void => {
    const bytes = typeof value === "string" ? Buffer.from(value) : value;
    if (!bytes.equals(body)) found.push({ id, what, fix, value: bytes });
  };
  add("newline-removed", "The signed body has no newline at its end; this one has.", text.replace(/\r?\n$/, ""));
  add("newline-added", "The signed body has a newline at its end; this one has not.", `${text}\n`);
  add("trimmed", "White space around the body was removed.", text.trim());
  add("crlf", "Its line ends were CRLF.", text.replace(/\r?\n/g, "\r\n"));
  add("lf", "Its line ends were LF.", text.replaceAll("\r\n", "\n"));
  add("bom-removed", "A byte order mark was removed.", text.replace(/^\ufeff/, ""));
  add("bom-added", "A byte order mark stood before it.", `\ufeff${text}`);
  add("latin1", "The bytes were read as Latin-1 and written as UTF-8.", body.toString("latin1"));
  add("empty", "The body had been read already, so an empty one was signed.", "");
  add(
    "base64-encoded",
    "The body was signed in base64.",
    body.toString("base64"),
    "Decode the body first: in AWS Lambda, when isBase64Encoded is true.",
  );
  if (/^[A-Za-z0-9+/\s]+=*\s*$/.test(text))
    add(
      "base64-decoded",
      "This body is base64 of the signed one.",
      Buffer.from(text, "base64"),
      "Decode the body first: in AWS Lambda, when isBase64Encoded is true.",
    );
  addGunzipped(body, add);
  addParsed(text, add);
  return found;
}

type Add = (id: string, what: string, value: string | Buffer, fix?: string) => void;

function addGunzipped(body: Buffer, add: Add): void {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return;
  try {
    add("gzip", "This body is compressed; the signed one is not.", gunzipSync(body, { maxOutputLength: 64_000_000 }));
  } catch {
    // Not gzip after all.
  }
}

function addParsed(text: string, add: Add): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  const compact = JSON.stringify(value);
  const again = "The JSON was parsed and written again";
  add("reserialised", `${again}.`, compact);
  add("reserialised-2-spaces", `${again}, indented by two spaces.`, JSON.stringify(value, null, 2));
  add("reserialised-4-spaces", `${again}, indented by four spaces.`, JSON.stringify(value, null, 4));
  add("reserialised-tabs", `${again}, indented by tabs.`, JSON.stringify(value, null, "\t"));
  add(
    "reserialised-python",
    `${again} by Python's json.dumps, with spaces after colons and commas.`,
    escapeUnicode(writeLikePython(value)),
  );
  add("reserialised-python-unicode", `${again} by json.dumps with ensure_ascii=False.`, writeLikePython(value));
  add("reserialised-php", `${again} by PHP's json_encode, with escaped slashes.`, escapeUnicode(compact).replaceAll("/", "\\/"));
  add("reserialised-ascii", `${again} with \\u escapes.`, escapeUnicode(compact));
  add(
    "reserialised-go",
    `${again} by Go's encoding/json, with sorted fields and escaped <, > and &.`,
    escapeHtml(JSON.stringify(sortFields(value))),
  );
  add("reserialised-sorted", `${again} with sorted fields.`, JSON.stringify(sortFields(value)));
}

function escapeUnicode(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function escapeHtml(json: string): string {
  return json.replace(/[<>&]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== "object" || value === null) return value;
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, sortFields(inner)]));
}

function writeLikePython(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeLikePython).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}: ${writeLikePython(inner)}`)
    .join(", ")}}`;
}
