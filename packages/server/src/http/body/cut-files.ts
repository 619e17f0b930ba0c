import { isAscii } from "node:buffer";
import { waitForTurn } from "../../lib/turn.ts";

/** A body whose attachments have markers instead of their contents. */
export interface CutBody {
  readonly rest: Buffer;
  /** The contents by their markers: base64, as far as it was looked at. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const KEY = Buffer.from('"content"');
// Shorter ones are left where they are.
const LONG = 64 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Cuts the contents of attachments out of JSON, so that they are not decoded and parsed with it: 60 ms for 20 MB, 35 of them at once.
 * `marker` is a text that the sender cannot know.
 */
export function cutFiles(json: Buffer, marker: string): CutBody {
  const files = new Map<string, Buffer>();
  const kept: Buffer[] = [];
  let from = 0;
  for (let at = json.indexOf(KEY); at !== -1; at = json.indexOf(KEY, at)) {
    at = skipBlanks(json, at + KEY.length);
    if (json[at] !== COLON) continue;
    at = skipBlanks(json, at + 1);
    if (json[at] !== QUOTE) continue;
    const start = at + 1;
    const end = json.indexOf(QUOTE, start);
    if (end === -1) break;
    at = end;
    const content = json.subarray(start, end);
    if (content.length < LONG || content.includes(BACKSLASH) || !isAscii(content)) continue;
    const name = `${marker}.${files.size}`;
    files.set(name, content);
    kept.push(json.subarray(from, start), Buffer.from(name));
    from = end;
  }
  return { rest: files.size === 0 ? json : Buffer.concat([...kept, json.subarray(from)]), files };
}

/** Puts the contents back into the parsed body; false when one of them is no attachment's. */
export async function putFilesBack(body: Record<string, unknown>, files: CutBody["files"]): Promise<boolean> {
  const { attachments } = body;
  if (!Array.isArray(attachments)) return false;
  let found = 0;
  for (const attachment of attachments as ({ content?: unknown } | null)[]) {
    const content = typeof attachment?.content === "string" ? files.get(attachment.content) : undefined;
    if (!attachment || !content) continue;
    await waitForTurn();
    attachment.content = content.toString("latin1");
    found += 1;
  }
  return found === files.size;
}

function skipBlanks(json: Buffer, from: number): number {
  let at = from;
  while (BLANKS.has(json[at] as number)) at += 1;
  return at;
}
