import { hash } from "node:crypto";
import type { Endpoint } from "@mailsvc/sdk/contract";
import { and, asc, eq, gte, lt } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { toCanonicalJson } from "../lib/json.ts";
import type { Seal } from "../lib/seal.ts";
import { hashInTurns } from "../lib/turn.ts";
import { DAY, MINUTE } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { HttpDeps } from "./deps.ts";
import type { HeaderReader } from "./headers.ts";

/** Time for which a stored answer can be replayed. */
export const RETENTION_MS = DAY;
/** The longest Idempotency-Key. */
export const MAX_KEY_LENGTH = 255;

/** Identifies the request an answer belongs to. */
export interface Claim {
  keyId: string;
  /** Method and path of the endpoint: one key may be used on different endpoints. */
  route: string;
  /** As `hashKey` returns it. */
  idempotencyKey: string;
  requestHash: string;
}

/** A stored answer: the status and the JSON of its body. */
export interface StoredAnswer {
  status: number;
  answer: string;
}

/**
 * The claim of a request with an Idempotency-Key; null without one. `understood` is the request as it was validated: requests that mean the
 * same are the same, however their JSON is written. Throws ApiError validation_error.
 */
export async function parseClaim(
  headers: HeaderReader,
  keyId: string,
  { method, path }: Endpoint,
  understood: Readonly<Record<string, unknown>>,
): Promise<Claim | null> {
  const idempotencyKey = headers.get("idempotency-key");
  if (idempotencyKey === null) return null;
  if (idempotencyKey.length > MAX_KEY_LENGTH || !/^[\x21-\x7e]+$/.test(idempotencyKey))
    throw invalid("Idempotency-Key", "invalid_header", `Idempotency-Key must be 1 to ${MAX_KEY_LENGTH} visible ASCII characters.`);
  const requestHash = await hashInTurns(toCanonicalJson(understood));
  return { keyId, route: `${method} ${path}`, idempotencyKey: hashKey(keyId, idempotencyKey), requestHash };
}

/** An Idempotency-Key as it is stored. Callers make keys of what they know, such as `welcome/ada@example.com`, which must not stay. */
export function hashKey(keyId: string, idempotencyKey: string): string {
  return hash(
    "sha256",
    `${keyId}
${idempotencyKey}`,
    "base64url",
  );
}

/** The answer stored under this key; null when the key is new. Throws ApiError idempotency_key_reused for another request. */
export async function findAnswer(q: Tx | Reader, { keyId, route, idempotencyKey, requestHash }: Claim): Promise<StoredAnswer | null> {
  const [found] = (await q.lookUp(q.t.idempotency, [{ keyId, route, idempotencyKey }]))[0] ?? [];
  if (!found) return null;
  if (found.requestHash !== requestHash)
    throw new ApiError("idempotency_key_reused", "This Idempotency-Key was used for a different request in the last 24 hours.");
  return { status: found.status, answer: found.answer };
}

/** Stores answers in the transaction of their effects, so that both exist or neither. Throws UniqueViolation if a key has been taken. */
export async function storeAnswers(
  tx: Tx,
  answers: readonly { readonly claim: Claim; readonly answer: StoredAnswer }[],
  now: number,
): Promise<void> {
  await tx.insertAll(
    tx.t.idempotency,
    answers.map(({ claim: { keyId, route, idempotencyKey, requestHash }, answer: { status, answer } }) => ({
      ...{ keyId, route, idempotencyKey, requestHash },
      ...{ status, answer, createdAt: now },
    })),
  );
}

/** A claim as one string. */
export function toClaimId({ keyId, route, idempotencyKey }: Claim): string {
  return `answer:${keyId}:${route}:${idempotencyKey}`;
}

/** An answer as it is stored: encrypted where it contains a secret. */
export function toStored(seal: Seal, { confidential }: Endpoint, claim: Claim, answer: StoredAnswer): StoredAnswer {
  return confidential ? sealAnswer(seal, claim, answer) : answer;
}

/** The answer that `toStored` was given. */
export function fromStored(seal: Seal, { confidential }: Endpoint, claim: Claim, stored: StoredAnswer): StoredAnswer {
  return confidential ? unsealAnswer(seal, claim, stored) : stored;
}

function sealAnswer(seal: Seal, claim: Claim, { status, answer }: StoredAnswer): StoredAnswer {
  return {
    status,
    answer: Buffer.from(seal.seal(answer, toClaimId(claim))).toString("base64"),
  };
}

function unsealAnswer(seal: Seal, claim: Claim, { status, answer }: StoredAnswer): StoredAnswer {
  return {
    status,
    answer: seal.open(Buffer.from(answer, "base64"), toClaimId(claim)),
  };
}

// Rows deleted per transaction: a day's worth at once would block all writers.
const CHUNK = 1000;

/** The job that deletes answers older than a day, in chunks. It sleeps while there is nothing to delete. */
export function deleteOldAnswers(deps: HttpDeps): JobHandler {
  return async () => {
    const { db, clock } = deps;
    const { idempotency: t } = db.read.t;
    const before = clock.now() - RETENTION_MS;
    const old = await db.read.select().from(t).where(lt(t.createdAt, before)).limit(CHUNK);
    return {
      again: old.length === CHUNK ? clock.now() : await nextDeletion(deps, before),
      commit: async (tx) => {
        for (const row of old)
          await tx.delete(t).where(and(eq(t.keyId, row.keyId), eq(t.route, row.route), eq(t.idempotencyKey, row.idempotencyKey)));
      },
    };
  };
}

/** Returns the time at which the oldest answer becomes a day old, a minute from now at the earliest; without any, a day from now. */
async function nextDeletion({ db, clock }: HttpDeps, before: number): Promise<number> {
  const { idempotency: t } = db.read.t;
  const [oldest] = await db.read.select({ at: t.createdAt }).from(t).where(gte(t.createdAt, before)).orderBy(asc(t.createdAt)).limit(1);
  return Math.max((oldest?.at ?? clock.now()) + RETENTION_MS, clock.now() + MINUTE);
}
