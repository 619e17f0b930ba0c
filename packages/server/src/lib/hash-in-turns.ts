import { createHash } from "node:crypto";
import { CHUNK_BYTES, waitForTurn } from "./turn.ts";

/** The SHA-256 of a text, hex. It lets the event loop serve others meanwhile. */
export async function hashInTurns(text: string): Promise<string> {
  const hash = createHash("sha256");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (at > 0) await waitForTurn();
    hash.update(bytes.subarray(at, at + CHUNK_BYTES));
  }
  return hash.digest("hex");
}
