import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { ATTEMPTS_OF_OWN_MAIL } from "../queue/queue.ts";
import { readRequest, renderConfirmedPage, renderConfirmPage } from "./confirmation.ts";
import { lookForRecord, type RecordLook } from "./dns.ts";
import {
  addSender,
  CONFIRM_JOB,
  chooseRelay,
  getSenderRow,
  getSenderRowByToken,
  listSenders,
  recordLook,
  recordVerification,
  removeSender,
  type SenderDeps,
  toSender,
} from "./senders.ts";

export const senderHandlers: Handlers<typeof contract.senders, SenderDeps> = {
  list: (input, { read, workspaceId }) => listSenders(read, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => addSender(tx, deps, workspaceId, input),
  get: async ({ id }, { read, workspaceId }) => toSender(await getSenderRow(read, workspaceId, id)),
  update: ({ id, relay }, { tx, deps, workspaceId }) => chooseRelay(tx, deps, workspaceId, { id, relay }),
  verify: {
    prepare: async ({ id, force }, { read, deps, workspaceId, key }) => {
      if (force && !key.owner)
        throw new ApiError("forbidden", "Only the owner key may verify a sender without proof.", {
          details: [{ path: "force", code: "owner_only", message: "Leave out force, or use the owner key." }],
        });
      const row = await getSenderRow(read, workspaceId, id);
      return row.kind === "domain" && !force ? lookForRecord(deps, row) : null;
    },
    run: async ({ id, force }, { tx, deps, workspaceId }, look: RecordLook | null) => {
      const row = await getSenderRow(tx, workspaceId, id);
      if (look !== null) return toSender(await recordLook(tx, deps, row, look));
      if (force) return toSender(await recordVerification(tx, deps, row, null));
      if (row.status === "PENDING")
        await deps.queue.enqueue(tx, {
          ...{ kind: CONFIRM_JOB, payload: { workspaceId, senderId: id } },
          ...{ dedupeKey: `${CONFIRM_JOB}:${id}`, maxAttempts: ATTEMPTS_OF_OWN_MAIL },
        });
      return toSender(row);
    },
  },
  delete: ({ id }, { tx, deps, workspaceId }) => removeSender(tx, deps, workspaceId, id),
  confirmPage: async ({ token, lang = null }, { deps, header }) => {
    const row = await getSenderRowByToken(deps.db.read, token);
    const reader = { menu: lang, browser: header("accept-language") };
    return renderConfirmPage(row, await readRequest(deps.db.read, deps, row, reader));
  },
  confirm: ({ token, lang = null }, { deps, header }) =>
    deps.db.tx(async (tx) => {
      const row = await recordVerification(tx, deps, await getSenderRowByToken(tx, token), null);
      return renderConfirmedPage(row, await readRequest(tx, deps, row, { menu: lang, browser: header("accept-language") }));
    }),
};
