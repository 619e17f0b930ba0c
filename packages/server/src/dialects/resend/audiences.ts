import { contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { type Operation, readOperation, writeOperation } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";

/** Audiences, and segments as Resend calls them now: both are lists that people do not see, whose members are added by hand. */
export const audienceOperations: readonly Operation[] = [
  ...describeLists("audiences", "audience"),
  ...describeLists("segments", "segment"),
];

function describeLists(folder: "audiences" | "segments", object: "audience" | "segment"): Operation[] {
  return [
    writeOperation({
      method: "POST",
      path: `/${folder}`,
      body: z.object({ name: z.string() }),
      status: 201,
      run: async ({ name }, { write }) => {
        const { id } = await write(contract.lists.create, { name, public: false });
        return { object, id, name };
      },
    }),
    readOperation({
      path: `/${folder}`,
      query: listQuery,
      run: (query, { read }) =>
        answerList(
          query,
          (page) => read(contract.lists.list, page),
          ({ id, name, createdAt }) => ({ id, name, created_at: createdAt }),
        ),
    }),
    readOperation({
      path: `/${folder}/:id`,
      run: async ({ id }, { read }) => {
        const { name, createdAt } = await read(contract.lists.get, { id });
        return { object, id, name, created_at: createdAt };
      },
    }),
    writeOperation({
      method: "PATCH",
      path: `/${folder}/:id`,
      body: z.object({ name: z.string() }),
      run: async ({ id, name }, { write }) => {
        await write(contract.lists.update, { id, name });
        return { object, id, name };
      },
    }),
    writeOperation({
      method: "DELETE",
      path: `/${folder}/:id`,
      run: async ({ id }, { write }) => {
        await write(contract.lists.delete, { id });
        return { object, id, deleted: true };
      },
    }),
  ];
}
