import { contract, type Sender, toDomain } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { loadDkimRecords } from "../../domains/domains.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { buildDnsRecord, getSenderRow } from "../../senders/senders.ts";
import { type Operation, type Reads, readOperation, writeOperation } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";

/** Settings of a domain at Resend. Tracking is set for each mail here, so that only its absence can be asked for. */
const Settings = z.object({
  region: z.string().nullish(),
  custom_return_path: z.string().nullish(),
  open_tracking: z.boolean().nullish(),
  click_tracking: z.boolean().nullish(),
  tls: z.enum(["opportunistic", "enforced"]).nullish(),
});

const UNTRACKED = { open_tracking: false, click_tracking: false };

const NOTE = "region, return path and TLS are those of the server; tracking is set for each mail";

/** A domain is a sender here. */
export const domainOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/domains",
    note: NOTE,
    body: Settings.extend({ name: z.string() }),
    status: 201,
    prepare: async ({ name, ...settings }, calls) => {
      assertPossible(settings);
      const create = await calls.prepare(contract.senders.create, { domain: name });
      return { create, keys: await listKeys(toDomain(name), calls, { look: false }) };
    },
    run: async (_input, calls, { create, keys }) => showDomain(await calls.finish(create), calls, keys),
  }),
  readOperation({
    path: "/domains",
    query: listQuery,
    run: (query, { read }) =>
      answerList(
        query,
        async (page) => {
          const { data, pagination } = await read(contract.senders.list, page);
          return { data: data.filter(({ kind }) => kind === "domain"), pagination };
        },
        (sender) => showListed(sender),
      ),
  }),
  readOperation({
    path: "/domains/:id",
    run: async ({ id }, calls) => {
      const sender = await getDomain(id, calls);
      return { object: "domain", ...(await showDomain(sender, calls, await listKeys(sender.value, calls, { look: true }))) };
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/domains/:id",
    note: NOTE,
    body: Settings,
    run: async ({ id, ...settings }, calls) => {
      assertPossible(settings);
      await getDomain(id, calls);
      return { object: "domain", id };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/domains/:id",
    run: async ({ id }, calls) => {
      await getDomain(id, calls);
      await calls.write(contract.senders.delete, { id });
      return { object: "domain", id, deleted: true };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/domains/:id/verify",
    prepare: async ({ id }, calls) => {
      await getDomain(id, calls);
      return calls.prepare(contract.senders.verify, { id });
    },
    run: async ({ id }, calls, verify) => {
      await calls.finish(verify);
      return { object: "domain", id };
    },
  }),
];

/** The sender with this id, if it is a domain. Throws ApiError not_found. */
export async function getDomain(id: string, { read }: Reads): Promise<Sender> {
  const sender = await read(contract.senders.get, { id });
  if (sender.kind !== "domain") throw notFound("domain", id);
  return sender;
}

/** Throws ApiError not_implemented for a setting that a domain cannot have here. */
function assertPossible({ open_tracking, click_tracking }: z.output<typeof Settings>): void {
  if (open_tracking || click_tracking)
    throw new ApiError("not_implemented", "Domains have no tracking here.", { hint: "Send with tracking through /api/v1/send." });
}

/** A domain in a list. One whose record is missing stays verified: it may still send. */
function showListed({ id, value, status: state, createdAt }: Sender) {
  const capabilities = { sending: "enabled", receiving: "disabled" };
  return {
    id,
    name: value,
    status: state === "PENDING" ? "pending" : "verified",
    created_at: createdAt,
    region: "local",
    capabilities,
    ...UNTRACKED,
  };
}

/** The record of a key, and what its status is: of a key that is not published, that depends on the domain. */
interface KeyRecord {
  readonly record: { readonly type: string; readonly name: string; readonly value: string };
  readonly status: "verified" | "temporary_failure" | "not_started" | null;
}

/** The records of the keys that sign mail of a domain. With `look`, name servers are asked for them, which no transaction may wait for. */
async function listKeys(domain: string, { rows, deps, workspaceId }: Reads, { look }: { readonly look: boolean }): Promise<KeyRecord[]> {
  const keys = await loadDkimRecords(rows, deps, workspaceId, { domain, look });
  return keys.map(({ isFound, ...record }) => {
    const unknown = look ? "temporary_failure" : "not_started";
    return { record, status: isFound === null ? unknown : isFound ? "verified" : null };
  });
}

/** A domain with the records to publish. */
async function showDomain(sender: Sender, { rows, workspaceId }: Reads, keys: readonly KeyRecord[]) {
  const isPending = sender.status === "PENDING";
  const own = buildDnsRecord(await getSenderRow(rows, workspaceId, sender.id));
  const ownStatus = isPending ? "pending" : sender.failingSince === null ? "verified" : "temporary_failure";
  const records = [
    { record: "SPF", ...own, ttl: "Auto", status: ownStatus },
    ...keys.map(({ record, status }) => ({
      ...{ record: "DKIM", ...record },
      ...{ ttl: "Auto", status: status ?? (isPending ? "pending" : "failed") },
    })),
  ];
  return { ...showListed(sender), records };
}
