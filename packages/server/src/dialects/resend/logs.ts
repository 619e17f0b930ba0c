import { contract, REQUEST_LIMITS, type RequestRecord } from "@mailsvc/sdk/contract";
import { notFound } from "../../lib/api-error.ts";
import { type Operation, type Reads, readOperation } from "../operation.ts";
import { answerPart, partQuery } from "./lists.ts";

const PREFIX = "/resend";
const NOTE = "of a server in dev mode, the latest requests; bodies and user agents are not kept, and ids in paths are left out";

/** Requests of programs of Resend. */
export const logOperations: readonly Operation[] = [
  readOperation({
    path: "/logs",
    note: NOTE,
    query: partQuery,
    run: async (query, calls) => answerPart(query, await listRequests(calls), showRequest),
  }),
  readOperation({
    path: "/logs/:id",
    note: NOTE,
    run: async ({ id }, calls) => {
      const request = (await listRequests(calls)).find((one) => one.id === id);
      if (!request) throw notFound("log", id);
      return { object: "log", ...showRequest(request), request_body: null, response_body: null };
    },
  }),
];

async function listRequests({ read }: Reads): Promise<RequestRecord[]> {
  const { data } = await read(contract.requests.list, { path: `${PREFIX}/*`, limit: REQUEST_LIMITS.kept });
  return data;
}

function showRequest({ id, at, path, method, status }: RequestRecord) {
  return { id, created_at: at, endpoint: path.slice(PREFIX.length), method, response_status: status, user_agent: null };
}
