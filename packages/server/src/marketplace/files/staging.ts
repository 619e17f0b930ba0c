import { and, eq, isNotNull, lte } from "drizzle-orm";
import type { Db } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { ApiError } from "../../lib/api-error.ts";
import { HOUR } from "../../lib/units.ts";
import type { JobHandler, Queue } from "../../queue/queue.ts";
import type { AgentDeps } from "../agent-access.ts";
import { deleteContent, findContent, getPart, PART_BYTES, type Staged, SWEEP_JOB } from "./contents.ts";
import { assertQuota, type FileOwner, lockFiles } from "./quota.ts";
import type { Upload } from "./upload.ts";

/** Writes the bytes of large files before the transaction that stores the file. */
export interface Staging {
  /**
   * Writes the parts of a file, each in its own transaction, so that others can write in between. The file is invisible until
   * it is stored. Its quota is taken at once and released when the upload fails or the client has `gone`. Null for a file of
   * one part or with known bytes, which needs no staging. Throws ApiError storage_quota_exceeded, storage_unavailable or
   * validation_error.
   */
  stage(owner: FileOwner, upload: Upload, gone: AbortSignal): Promise<Staged | null>;
  /** Deletes staged contents that were not stored. */
  drop(staged: Staged | null): Promise<void>;
}

// Without a further part for this long the process must have died: an upload is in memory before its parts are written, and
// writing takes a second or two.
const ABANDONED_MS = HOUR;
// Parts deleted in one transaction.
const STEP = 8;

type StagingDeps = Pick<FileDeps, "ids" | "clock" | "queue" | "log"> & { readonly db: Db };

export function createStaging(depsOf: () => StagingDeps): Staging {
  return {
    stage: async (owner, upload, gone) => {
      const deps = depsOf();
      const { db, ids, clock, queue, log } = deps;
      const { workspaceId, activationId } = owner;
      const size = upload.bytes.length;
      if (size <= PART_BYTES || (await findContent(db.read, workspaceId, upload.sha256))) return null;
      const contentId = ids("fc");
      await db.tx(async (tx) => {
        await lockFiles(tx, workspaceId);
        await assertQuota(tx, owner, size);
        await tx
          .insert(tx.t.fileContents)
          .values({ id: contentId, workspaceId, sha256: upload.sha256, size, activationId, stagedAt: clock.now() });
        await queue.enqueue(tx, { kind: SWEEP_JOB, payload: { contentId }, runAt: clock.now() + ABANDONED_MS });
      });
      try {
        await writeParts(deps, contentId, upload, gone);
      } catch (error) {
        await drop(deps, { contentId }).catch((failed: unknown) =>
          log.warn("could not delete a failed upload; its quota is released within the hour", { error: String(failed) }),
        );
        throw error;
      }
      return { contentId };
    },
    drop: async (staged) => {
      if (staged) await drop(depsOf(), staged);
    },
  };
}

export function fileJobs(deps: FileDeps): Readonly<Record<string, JobHandler>> {
  return { [SWEEP_JOB]: sweepContents(deps) };
}

/** Deletes abandoned contents, and the parts of deleted ones. */
function sweepContents({ db, clock }: FileDeps): JobHandler {
  return async ({ payload }) => {
    const contentId = String(payload.contentId);
    const { fileContents: c, fileParts: p } = db.read.t;
    const [row] = await findRows(db.read, c, { id: contentId });
    const before = clock.now() - ABANDONED_MS;
    if (row) {
      if (row.stagedAt === null) return {};
      if (row.stagedAt > before) return { again: row.stagedAt + ABANDONED_MS };
      return {
        again: clock.now(),
        commit: async (tx) => void (await tx.delete(c).where(and(eq(c.id, contentId), isNotNull(c.stagedAt), lte(c.stagedAt, before)))),
      };
    }
    const parts = await db.read.select({ part: p.part }).from(p).where(eq(p.contentId, contentId)).limit(STEP);
    if (parts.length === 0) return {};
    return {
      ...(parts.length === STEP && { again: clock.now() }),
      commit: async (tx) => {
        for (const { part } of parts) await tx.delete(p).where(and(eq(p.contentId, contentId), eq(p.part, part)));
      },
    };
  };
}

function assertConnected(gone: AbortSignal): void {
  if (gone.aborted) throw new ApiError("validation_error", "The connection ended before the file was stored.");
}

/** Writes the parts of a file whose quota is taken. Throws ApiError storage_unavailable or validation_error. */
async function writeParts({ db, clock }: StagingDeps, contentId: string, upload: Upload, gone: AbortSignal): Promise<void> {
  for (let part = 0; part * PART_BYTES < upload.bytes.length; part += 1) {
    assertConnected(gone);
    await db.tx(async (tx) => {
      const { fileContents: c, fileParts } = tx.t;
      // Updated with each part, so that contents a sweep has deleted get no further part.
      const [there] = await tx
        .update(c)
        .set({ stagedAt: clock.now() })
        .where(and(eq(c.id, contentId), isNotNull(c.stagedAt)))
        .returning({ id: c.id });
      if (!there)
        throw new ApiError("storage_unavailable", "The upload took too long and was cancelled.", { headers: { "retry-after": "1" } });
      await tx.insert(fileParts).values({ contentId, part, bytes: getPart(upload, part) });
    });
  }
  assertConnected(gone);
}

async function drop({ db, queue }: StagingDeps, staged: Staged): Promise<void> {
  await db.tx(async (tx) => {
    const { fileContents: c } = tx.t;
    const [there] = await tx
      .select({ id: c.id })
      .from(c)
      .where(and(eq(c.id, staged.contentId), isNotNull(c.stagedAt)));
    if (there) await deleteContent(tx, { queue }, staged);
  });
}

export interface FileDeps extends AgentDeps {
  readonly db: Db;
  readonly queue: Queue;
}
