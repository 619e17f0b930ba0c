import type { SecretFilter } from "./secrets.ts";

// A mail inside a mail inside a mail …
const MAX_DEPTH = 10;

const ENCODED_WORD = /=\?[^?\s]+\?([bq])\?([^?\s]*)\?=/gi;

/**
 * The bytes of a mail as Latin-1 characters, without secrets: in its headers and in each part of text, whatever their encoding. A part that
 * holds one is written anew, as base64; all others stay as they are.
 */
export function cleanMail(raw: string, filter: SecretFilter, depth = 0): string {
  const [, head = raw, gap = "", body = ""] = /^([\s\S]*?)(\r?\n\r?\n)([\s\S]*)$/.exec(raw) ?? [];
  const headers = unfoldedOf(head);
  const cleaned = cleanHead(head, filter);
  const type = headers.get("content-type") ?? "text/plain";
  const boundary = /^multipart\//i.test(type) ? /boundary="?([^";\r\n]+)"?/i.exec(type)?.[1] : undefined;
  if (boundary !== undefined && depth < MAX_DEPTH) return cleaned + gap + cleanParts(body, boundary, filter, depth);
  if (/^message\/rfc822/i.test(type) && depth < MAX_DEPTH) return cleaned + gap + cleanMail(body, filter, depth + 1);
  if (!/^(?:text\/|message\/|application\/(?:json|xml))/i.test(type)) return cleaned + gap + body;
  return cleanText(cleaned, gap, body, headers.get("content-transfer-encoding")?.trim().toLowerCase() ?? "7bit", filter);
}

function cleanParts(body: string, boundary: string, filter: SecretFilter, depth: number): string {
  const line = `--${boundary}`;
  return body
    .split(line)
    .map((part, i) => {
      // The text before the first part, and what follows the last one.
      if (i === 0 || part.startsWith("--")) return filter.clean(part);
      const [, start = "", rest = ""] = /^(\s*?\r?\n)?([\s\S]*)$/.exec(part) ?? [];
      return start + cleanMail(rest, filter, depth + 1);
    })
    .join(line);
}

function cleanText(head: string, gap: string, body: string, encoding: string, filter: SecretFilter): string {
  if (encoding !== "base64" && encoding !== "quoted-printable") return head + gap + filter.clean(body);
  const text = encoding === "base64" ? Buffer.from(body, "base64").toString("latin1") : decodeQuoted(body);
  const cleaned = filter.clean(text);
  if (cleaned === text) return head + gap + body;
  const written = Buffer.from(cleaned, "latin1").toString("base64").replace(/.{76}/g, "$&\r\n");
  const tail = /\r?\n$/.exec(body)?.[0] ?? "";
  return head.replace(/^content-transfer-encoding:.*(?:\r?\n[ \t].*)*/im, "Content-Transfer-Encoding: base64") + gap + written + tail;
}

/** Headers are cleaned as they stand and, where a secret is broken over lines or encoded, as a reader puts them together. */
function cleanHead(head: string, filter: SecretFilter): string {
  return head
    .split(/\r?\n(?![ \t])/)
    .map((field) => {
      const joined = field.replace(/\r?\n[ \t]+/g, " ").replace(ENCODED_WORD, decodeWord);
      const cleaned = filter.clean(joined);
      return cleaned === joined ? field : cleaned;
    })
    .join("\r\n");
}

function decodeWord(_all: string, kind: string, text: string): string {
  return kind.toLowerCase() === "b" ? Buffer.from(text, "base64").toString("latin1") : decodeQuoted(text.replaceAll("_", " "));
}

function decodeQuoted(text: string): string {
  return text.replace(/=\r?\n/g, "").replace(/=([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function unfoldedOf(head: string): Map<string, string> {
  return new Map(
    head
      .replace(/\r?\n[ \t]+/g, " ")
      .split(/\r?\n/)
      .map((line) => /^([^:\s]+):\s*(.*)$/.exec(line))
      .flatMap((found) => (found ? [[String(found[1]).toLowerCase(), String(found[2])] as const] : [])),
  );
}
