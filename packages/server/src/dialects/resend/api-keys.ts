import { contract, PERMISSIONS } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { type Operation, readOperation, writeOperation } from "../operation.ts";
import { getDomain } from "./domains.ts";
import { idOf } from "./ids.ts";
import { answerList, listQuery } from "./lists.ts";

const PERMISSIONS_OF = { full_access: [...PERMISSIONS], sending_access: ["transactional:send" as const] };

// Resend takes a key without a name.
const UNNAMED = "Unnamed key";

export const apiKeyOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/api-keys",
    body: z.object({
      name: z.string(),
      permission: z.enum(["full_access", "sending_access"]).nullish(),
      domain_id: idOf("domains").nullish(),
    }),
    status: 201,
    confidential: true,
    run: async ({ name, permission, domain_id }, calls) => {
      const { id, key } = await calls.write(contract.keys.create, {
        name: name || UNNAMED,
        permissions: PERMISSIONS_OF[permission ?? "full_access"],
        ...(domain_id && { senders: [(await getDomain(domain_id, calls)).value] }),
      });
      return { object: "api_key", id, token: key };
    },
  }),
  readOperation({
    path: "/api-keys",
    query: listQuery,
    run: (query, { read }) =>
      answerList(
        query,
        (page) => read(contract.keys.list, { ...page, revoked: "false" }),
        ({ id, name, createdAt, lastUsedAt }) => ({ id, name, created_at: createdAt, last_used_at: lastUsedAt }),
      ),
  }),
  writeOperation({
    method: "PATCH",
    path: "/api-keys/:id",
    body: z.object({ name: z.string() }),
    run: async ({ id, name }, { write }) => {
      await write(contract.keys.update, { id, name: name || UNNAMED });
      return { object: "api_key", id };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/api-keys/:id",
    run: async ({ id }, { write }) => {
      await write(contract.keys.revoke, { id });
      return { object: "api_key", id, deleted: true };
    },
  }),
];
