import { contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { notFound, nullIfNotFound } from "../../lib/api-error.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";

/** Audiences, and segments as Resend calls them now: both are lists that people do not see, whose members are added by hand. */
export const audienceOperations: readonly Operation[] = [
  ...describeLists("audiences", "audience"),
  ...describeLists("segments", "segment"),
];

function describeLists(folder: "audiences" | "segments", object: "audience" | "segment"): Operation[] {
  /** The answer about a list; one that is not there is missed by the name it has here. */
  const there = async <T>(id: string, answer: Promise<T>): Promise<T> => {
    const found = await nullIfNotFound(answer);
    if (found === null) throw notFound(object, id);
    return found;
  };
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
        const { name, createdAt } = await there(id, read(contract.lists.get, { id }));
        return { object, id, name, created_at: createdAt };
      },
    }),
    writeOperation({
      method: "PATCH",
      path: `/${folder}/:id`,
      body: z.object({ name: z.string() }),
      run: async ({ id, name }, { write }) => {
        await there(id, write(contract.lists.update, { id, name }));
        return { object, id, name };
      },
    }),
    // Resend says of what was never there that it is deleted.
    writeOperation({
      method: "DELETE",
      path: `/${folder}/:id`,
      run: async ({ id }, { write }) => {
        await nullIfNotFound(write(contract.lists.delete, { id }));
        return { object, id, deleted: true };
      },
    }),
  ];
}
