import { expect, test } from "vitest";
import { ApiError } from "../lib/api-error.ts";
import { fingerprint } from "./fingerprint.ts";
import { FIELD_HEADERS } from "./instructions.ts";
import { type Envelope, readMessage } from "./message.ts";

const KB = 1024;
const ENVELOPE: Envelope = { from: "a@acme.example", recipients: [], protocol: "ESMTP", by: "mx.acme.example", at: 0, captured: false };
const READ = [
  ...["From", "Sender", "To", "Cc", "Subject", "Message-ID", "Received", "Content-Type"],
  ...["Idempotency-Key", "Resend-Idempotency-Key", "X-Tag", "X-Tags", "X-Metadata-A"],
  ...["X-PM-Tag", "X-PM-Metadata-A", "X-PM-Message-Stream", "X-SES-Message-Tags", "X-SES-Configuration-Set"],
  ...["X-Mailsvc-Tag-A", ...Object.values(FIELD_HEADERS)],
];
const PIECES = [
  ...[" ", "\t", "=", ";", "<", ">", ",", ":", "(", "\\", "[", "{", '"', "é"],
  ...["a=b,", "a=b c;", "a,", '"<', "<a@b.example>,", "a:b;", "=?", "=?utf-8?q?a?= ", "=?utf-8?q?a ", " a", "\u2028 ", "; boundary="],
];

/** A message whose header takes nearly all the room there is: `piece` again and again, with text at both ends. */
function hostile(name: string, piece: string): Buffer {
  const line = piece.repeat(Math.ceil(900 / Buffer.byteLength(piece)));
  const count = Math.floor((127 * KB) / (Buffer.byteLength(line) + 3));
  return Buffer.from(`${name}: a${`\r\n ${line}`.repeat(count)}\r\n a\r\n\r\nHi\r\n`);
}

/** The processor time of what is done with a message before it is stored, ms. */
async function measure(message: Buffer): Promise<number> {
  const before = process.cpuUsage();
  try {
    await fingerprint(message, await readMessage(message, ENVELOPE), ENVELOPE);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Ten times what the dearest header takes on a quiet machine, ms. Work that grows with the square of the length takes many seconds. */
const LIMIT_MS = 500;

test.each(READ)("128 KB of anything in %s are read within half a second of processor time", async (name) => {
  for (const piece of PIECES) {
    const message = hostile(name, piece);
    // The least of some: other tests of this process, and its garbage, take time too.
    let least = await measure(message);
    for (let i = 0; i < 4 && least > LIMIT_MS; i += 1) least = Math.min(least, await measure(message));
    expect([piece, least < LIMIT_MS ? "quick" : least]).toEqual([piece, "quick"]);
  }
});
