import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import { toDomain } from "@mailsvc/sdk/contract";
import { waitForTurn } from "../lib/turn.ts";

/** A DKIM key. Its public half is in DNS at `<selector>._domainkey.<domain>`. */
export interface DkimKey {
  domain: string;
  selector: string;
  /** PEM, RSA (from 1024 bits) or Ed25519. */
  privateKey: string;
  /** The workspaces whose mail it signs; null for those of all. Mail of the server itself is always signed. */
  workspaces: readonly string[] | null;
}

/** A public key in DNS: `k` and `p` of its record. */
export interface DkimPublicKey {
  readonly type: "rsa" | "ed25519";
  /** Base64. */
  readonly key: string;
}

/**
 * Gives the DKIM-Signature lines for a message of a workspace from `domain`, to be put before it; empty if there is no key for both.
 * `workspaceId` is null for mail of the server itself.
 */
export type DkimSigner = (domain: string, message: Buffer, workspaceId: string | null) => Promise<Buffer>;

// Bytes of a body that are canonicalized and hashed in one stretch: a few milliseconds.
const PIECE_BYTES = 256 * 1024;

// Headers that a relay has no reason to change. One-click unsubscribe needs List-Unsubscribe-Post to be signed (RFC 8058 4).
const SIGNED =
  /^(?:from|to|cc|reply-to|subject|date|message-id|in-reply-to|references|mime-version|content-.+|list-.+|feedback-id|auto-submitted)$/;
// Named once more than they occur, so that adding another one breaks the signature (RFC 6376 8.15).
const OVERSIGNED = ["from", "to", "reply-to", "subject", "date"];

const EMPTY_LINES = Buffer.from("\r\n".repeat(PIECE_BYTES / 2));

// RSA with 2048 bits takes 0.3 ms: in a thread of the pool it does not hold up the event loop, and uses other cores. Ed25519 is quick.
const signInPool = promisify(sign);

interface LoadedKey extends Pick<DkimKey, "domain" | "selector" | "workspaces"> {
  algorithm: "rsa-sha256" | "ed25519-sha256";
  key: KeyObject;
}

/**
 * Signs with every key of the From domain, or of the nearest parent domain that has keys (DMARC's relaxed alignment), so
 * that a domain can have an RSA and an Ed25519 key. Throws TypeError with the name of a key that cannot be used.
 */
export function dkimSigner(keys: readonly DkimKey[]): DkimSigner {
  const loaded = keys.map(loadKey);
  return async (domain, message, workspaceId) => {
    const chosen = chooseKeys(keysOf(loaded, workspaceId), domain);
    if (chosen.length === 0) return Buffer.alloc(0);
    const end = message.indexOf("\r\n\r\n");
    const headers = message.toString("latin1", 0, end).split(/\r\n(?![ \t])/);
    const bodyHash = await hashBody(message.subarray(end + 4));
    const signatures = await Promise.all(chosen.map((key) => buildSignature(key, headers, bodyHash)));
    return Buffer.from(signatures.join(""), "latin1");
  };
}

/** The keys that sign mail of a workspace; `workspaceId` is null for mail of the server itself. */
export function keysOf<Key extends Pick<DkimKey, "workspaces">>(keys: readonly Key[], workspaceId: string | null): readonly Key[] {
  return keys.filter(({ workspaces }) => workspaceId === null || workspaces === null || workspaces.includes(workspaceId));
}

/** The keys that sign mail from a domain: all of the domain, or of the nearest parent domain that has keys. */
export function chooseKeys<Key extends { readonly domain: string }>(keys: readonly Key[], domain: string): readonly Key[] {
  const labels = domain.split(".");
  for (let i = 0; i < labels.length - 1; i += 1) {
    const found = keys.filter((key) => key.domain === labels.slice(i).join("."));
    if (found.length > 0) return found;
  }
  return [];
}

/** The public half of a key, as its DNS record has it. */
export function toPublicKey({ privateKey }: Pick<DkimKey, "privateKey">): DkimPublicKey {
  const key = createPublicKey(privateKey);
  const der = key.export({ type: "spki", format: "der" });
  if (key.asymmetricKeyType !== "ed25519") return { type: "rsa", key: der.toString("base64") };
  // The key alone, without the header of SPKI before its 32 bytes (RFC 8463 4).
  return { type: "ed25519", key: der.subarray(-32).toString("base64") };
}

function loadKey({ domain: name, selector, privateKey, workspaces }: DkimKey): LoadedKey {
  const domain = toDomain(name);
  const where = `DKIM key ${selector}._domainkey.${domain}`;
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(selector)) throw new TypeError(`${where}: the selector is not a DNS label.`);
  let key: KeyObject;
  try {
    key = createPrivateKey(privateKey);
  } catch {
    throw new TypeError(`${where}: the private key is not an unencrypted PEM key.`);
  }
  if (key.asymmetricKeyType === "ed25519") return { domain, selector, workspaces, algorithm: "ed25519-sha256", key };
  if (key.asymmetricKeyType !== "rsa")
    throw new TypeError(`${where}: ${key.asymmetricKeyType} keys do not exist in DKIM; use rsa or ed25519.`);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < 1024) throw new TypeError(`${where}: ${bits} bits are too few for RSA; receivers want 1024 at least, better 2048.`);
  return { domain, selector, workspaces, algorithm: "rsa-sha256", key };
}

/** Hashes a body, canonicalized (relaxed, RFC 6376 3.4.4): no blanks at line ends, runs of blanks as one, no empty lines at the end. */
async function hashBody(body: Buffer): Promise<string> {
  const hash = createHash("sha256");
  // Bytes of line ends that count only if something follows them.
  let held = 0;
  let isEmpty = true;
  for (let at = 0; at < body.length; ) {
    if (at > 0) await waitForTurn();
    // Whole lines, because a run of blanks must not be cut.
    const lineEnd = body.indexOf("\r\n", at + PIECE_BYTES);
    const end = lineEnd === -1 ? body.length : lineEnd + 2;
    const text = body
      .toString("latin1", at, end)
      .replace(/[ \t]+/g, " ")
      .replaceAll(" \r\n", "\r\n");
    let length = text.length;
    while (text.endsWith("\r\n", length)) length -= 2;
    if (length > 0) {
      for (; held > 0; held -= Math.min(held, PIECE_BYTES)) {
        hash.update(EMPTY_LINES.subarray(0, held));
        if (held > PIECE_BYTES) await waitForTurn();
      }
      hash.update(text.slice(0, length), "latin1");
      isEmpty = false;
    }
    held += text.length - length;
    at = end;
  }
  if (!isEmpty) hash.update("\r\n");
  return hash.digest("base64");
}

/** Canonicalizes a header (relaxed, RFC 6376 3.4.2): name in lower case, unfolded, runs of blanks as one. */
function relaxedHeader(line: string): string {
  const colon = line.indexOf(":");
  const value = line
    .slice(colon + 1)
    .replaceAll("\r\n", "")
    .replace(/[ \t]+/g, " ")
    // Not trim(), which would also remove the byte A0 of UTF-8 text.
    .replace(/^ | $/g, "");
  return `${line.slice(0, colon).trim().toLowerCase()}:${value}`;
}

async function buildSignature(
  { domain, selector, algorithm, key }: LoadedKey,
  headers: readonly string[],
  bodyHash: string,
): Promise<string> {
  // Repeated headers are signed from the bottom up (RFC 6376 5.4.2).
  const signed = headers
    .map(relaxedHeader)
    .filter((line) => SIGNED.test(line.slice(0, line.indexOf(":"))))
    .reverse();
  const names = [...signed.map((line) => line.slice(0, line.indexOf(":"))), ...OVERSIGNED];
  const tags = [`v=1; a=${algorithm}; c=relaxed/relaxed;`, `d=${domain}; s=${selector};`, `bh=${bodyHash};`];
  const unsigned = `DKIM-Signature: ${tags.join("\r\n ")}\r\n h=${names.join(":").replace(/(.{50,66}:)/g, "$1\r\n  ")};\r\n b=`;
  // Header text is Latin-1, one character per byte.
  const data = Buffer.from([...signed, relaxedHeader(unsigned)].join("\r\n"), "latin1");
  // Ed25519 signs the SHA-256 of the data, not the data (RFC 8463 3).
  const value =
    algorithm === "rsa-sha256" ? await signInPool("sha256", data, key) : sign(null, createHash("sha256").update(data).digest(), key);
  return `${unsigned}${(value.toString("base64").match(/.{1,72}/g) ?? []).join("\r\n  ")}\r\n`;
}
