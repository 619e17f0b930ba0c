import { addressKey, type Mailbox, parseAddress, parseMailbox, type SendRequest, type SendResponse } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../lib/api-error.ts";
import { mediaTypeOf } from "../mail/media-type.ts";
import { assertVerified } from "../senders/senders.ts";
import { suppressedAmong } from "../suppressions/suppressions.ts";
import { deliveryOf } from "./jobs.ts";
import { scheduleOf } from "./schedule.ts";
import { noteQueued } from "./states.ts";
import { type AttachmentRow, insertAttachments, insertContents, insertEmail } from "./store.ts";

type Request = z.output<typeof SendRequest>;
export type Files = Omit<AttachmentRow, "contentsId" | "position">[];

/** What a mail says. */
export interface Wording {
  readonly subject: string;
  readonly html?: string | null | undefined;
  readonly text?: string | null | undefined;
}

/** What a template came to: by recipient, in the form addresses are compared in, and as `slug@version`. */
export interface Rendering {
  readonly wordings: ReadonlyMap<string, Wording>;
  readonly name: string;
}

/** Decodes the attachments of a request, before its transaction begins: 20 MB of base64 take their time. */
export const readFiles = (attachments: NonNullable<Request["attachments"]>): Promise<Files> =>
  Promise.all(
    attachments.map(async ({ filename, content, contentType, contentId }) => {
      const bytes = Buffer.from(content, "base64");
      return {
        filename,
        contentType: contentType ?? (await mediaTypeOf(filename)),
        contentId: contentId ?? null,
        size: bytes.length,
        content: bytes,
      };
    }),
  );

const SUPPRESSED = "This recipient is on the suppression list.";

/** What the answer says of recipients that were left out. */
const refusals = (boxes: readonly Mailbox[], suppressed: ReadonlySet<string>) =>
  boxes
    .filter((b) => suppressed.has(addressKey(b.address)))
    .map((b) => ({ to: b.address, code: "recipient_suppressed" as const, message: SUPPRESSED }));

/**
 * Queues one message for each recipient, with its first event and the job that will deliver it: all rows of one
 * transaction (SPEC 2, 4). Throws ApiError sender_not_verified, recipient_suppressed or validation_error.
 */
export const send = async (
  request: Request,
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  files: Files,
  template?: Rendering,
): Promise<SendResponse> => {
  const now = deps.clock.now();
  const scheduledAt = scheduleOf(request.scheduledAt, now);
  await assertVerified(tx, deps, workspaceId, parseMailbox(request.from));
  const batch = typeof request.to !== "string";
  const boxes = (typeof request.to === "string" ? [request.to] : request.to).map(parseAddress);
  const suppressed = await suppressedAmong(
    tx,
    workspaceId,
    boxes.map((b) => addressKey(b.address)),
  );
  const failed = suppressed.size === 0 ? [] : refusals(boxes, suppressed);
  if (failed.length === boxes.length) {
    const details = failed.map(({ to, code, message }) => ({
      path: batch ? `to[${boxes.findIndex((b) => b.address === to)}]` : "to",
      code,
      message: `${to}: ${message}`,
    }));
    throw new ApiError("recipient_suppressed", batch ? "Every recipient is on the suppression list." : SUPPRESSED, { details });
  }

  // One for all, unless a template says something else to each.
  const contents = new Map<Wording, number>();
  const contentsOf = async ({ subject, html = null, text = null }: Wording): Promise<number> => {
    const [first = null] = contents.values();
    const id = await insertContents(tx, {
      workspaceId,
      from: request.from,
      replyTo: request.replyTo ?? null,
      subject,
      html,
      text,
      headers: request.headers ?? {},
      tags: request.tags ?? {},
      attachments: files.length,
      filesOf: files.length === 0 ? null : first,
      template: template?.name ?? null,
    });
    if (first === null && files.length > 0)
      await insertAttachments(
        tx,
        files.map((file, position) => ({ ...file, contentsId: id, position })),
      );
    return id;
  };

  const ids: string[] = [];
  for (const { address } of boxes) {
    const toKey = addressKey(address);
    if (suppressed.has(toKey)) continue;
    const wording = template?.wordings.get(toKey) ?? request;
    let contentsId = contents.get(wording);
    if (contentsId === undefined) {
      contentsId = await contentsOf(wording);
      contents.set(wording, contentsId);
    }
    const id = deps.ids("em");
    ids.push(id);
    await insertEmail(tx, {
      workspaceId,
      id,
      contentsId,
      to: address,
      toKey,
      createdAt: now,
      scheduledAt,
      nextAttemptAt: scheduledAt ?? now,
    });
    if (scheduledAt !== null) await noteQueued(tx, { workspaceId, id, createdAt: now });
    await deps.queue.enqueue(tx, deliveryOf(workspaceId, id, scheduledAt, now));
  }
  if (!batch) return { id: ids[0] as string, status: "queued" };
  return { ids, status: "queued", count: ids.length, ...(failed.length > 0 && { failed }) };
};
