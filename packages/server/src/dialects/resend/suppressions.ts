import { contract, type Suppression } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { toSeqCursor } from "../../db/pagination.ts";
import { nullIfNotFound } from "../../lib/api-error.ts";
import { getSuppressionRow } from "../../suppressions/suppressions.ts";
import { type Operation, readOperation, type Writes, writeOperation } from "../operation.ts";
import { idOf } from "./ids.ts";
import { answerList, listQuery } from "./lists.ts";

const MAX_BATCH = 100;
const Addresses = z.array(z.string()).max(MAX_BATCH);
const Ids = z.array(idOf("suppressions")).max(MAX_BATCH);

const ORIGINS = { bounce: "bounce", complaint: "complaint", unsubscribe: "manual", manual: "manual" } as const;

export const suppressionOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/suppressions",
    body: z.object({ email: z.string() }),
    status: 201,
    run: async ({ email }, { write }) => {
      const { id } = await write(contract.suppressions.create, { email });
      return { object: "suppression", id };
    },
  }),
  readOperation({
    path: "/suppressions",
    query: listQuery.extend({ origin: z.enum(["bounce", "complaint", "manual"]).optional() }),
    run: ({ origin, ...query }, { read, rows, workspaceId }) =>
      answerList(
        query,
        (page) => read(contract.suppressions.list, { ...page, ...(origin && { reason: origin }) }),
        showSuppression,
        async (id) => toSeqCursor((await getSuppressionRow(rows, workspaceId, id)).seq),
      ),
  }),
  readOperation({
    path: "/suppressions/:id",
    run: async ({ id }, { read }) => ({ object: "suppression", ...showSuppression(await read(contract.suppressions.get, { id })) }),
  }),
  writeOperation({
    method: "DELETE",
    path: "/suppressions/:id",
    run: async ({ id: named }, { write }) => {
      const { id } = await write(contract.suppressions.delete, { id: named });
      return { object: "suppression", id, deleted: true };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/suppressions/batch/add",
    body: z.object({ emails: Addresses.min(1) }),
    status: 201,
    run: async ({ emails }, { write }) => {
      const data: object[] = [];
      for (const email of emails) data.push({ object: "suppression", id: (await write(contract.suppressions.create, { email })).id });
      return { data };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/suppressions/batch/remove",
    body: z.object({ emails: Addresses.optional(), ids: Ids.optional() }),
    run: async ({ emails = [], ids = [] }, calls) => {
      const data: object[] = [];
      for (const named of [...emails, ...ids]) {
        const id = await removeIfThere(named, calls);
        if (id !== null) data.push({ object: "suppression", id, deleted: true });
      }
      return { data };
    },
  }),
];

/** Removes a suppression by id or address; gives its id, null when there is none. */
async function removeIfThere(named: string, { write }: Writes): Promise<string | null> {
  return (await nullIfNotFound(write(contract.suppressions.delete, { id: named })))?.id ?? null;
}

function showSuppression({ id, email, reason, emailId, createdAt }: Suppression) {
  return { id, email, origin: ORIGINS[reason], source_id: emailId, created_at: createdAt };
}
