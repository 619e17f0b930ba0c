import { createHmac } from "node:crypto";
import { verifySignature } from "../../packages/agent-kit/src/verify.ts";
import { type Bench, type Figure, median } from "../figure.ts";

const ROUNDS = 15;
const ROUND_MS = 100;
const SIZE = 2048;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Verification of a webhook's signature, against the bare HMAC it needs. */
export const verify: Bench = {
  name: "verify",
  meaning:
    "verifySignature of the agent kit on a body of 2 KB: all checks, one secret, comparison in constant time. HMAC: createHmac of node:crypto over the same bytes. The ratio is the median of those within each round, the two in turns.",
  run: async (): Promise<Figure[]> => {
    const body = Buffer.alloc(SIZE, '{"type":"message.posted","text":"Grüße"}');
    const bare = (): Buffer => createHmac("sha256", SECRET).update(body).digest();
    const signature = bare().toString("hex");
    const checked = (): number | null => verifySignature({ body, signature, secrets: SECRET });
    if (checked() !== 0 || verifySignature({ body: body.subarray(1), signature, secrets: SECRET }) !== null)
      throw new Error("It does not verify.");
    const rounds = Array.from({ length: ROUNDS + 1 }, () => [rate(bare), rate(checked)] as const).slice(1);
    return [
      {
        name: "verify.2kb",
        value: median(rounds.map(([, ours]) => ours)),
        unit: "verifications/s",
        against: "HMAC",
        ratio: median(rounds.map(([theirs, ours]) => ours / theirs)),
        rounds: rounds.map(([, ours]) => ours),
        goal: { op: ">=", than: 0.7 },
      },
    ];
  },
};

/** Measures the runs of `work` in a second. */
function rate(work: () => unknown): number {
  const from = performance.now();
  let count = 0;
  for (; performance.now() - from < ROUND_MS; count += 100) for (let i = 0; i < 100; i += 1) work();
  return (count * 1000) / (performance.now() - from);
}
