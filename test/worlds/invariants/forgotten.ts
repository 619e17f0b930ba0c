import type { Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import { type Invariant, readAllRows } from "./invariant.ts";

export const FORGOTTEN: Invariant = {
  name: "forgotten",
  promise: "Who was erased is in no table any more.",
  says: [
    "When the service has answered that a person was erased from a workspace, and what was under way has ended, no row of that workspace holds the address: no contact, no mail or copy of one, no stored answer, no event, no received mail. It is looked for at once, because others may use the address again later.",
    "People who work for the workspace stay among its members and in its audit, although they are erased as readers of its mail.",
    "One mail to several people names the others alone from then on. Bytes that several captured mails share, such as a file, may stay.",
  ],
  check: async ({ ledger }) => ledger.notes.get("forgotten") ?? [],
};

/** Tables whose rows are shared: bytes by their hash. */
const SHARED = new Set(["inbox_parts", "inbox_bytes"]);

/** Tables about people who work for a workspace, whose addresses are no reader's. */
const OF_MEMBERS = new Set(["members", "dashboard_sessions", "audit_entries"]);

/** Says which rows of a workspace hold an address. */
export async function listTraces(universe: Universe, tenant: Tenant, address: string): Promise<string[]> {
  const found: string[] = [];
  const all = await readAllRows(universe);
  const workspaceId = universe.workspaces[tenant];
  const contents = new Set((all.get("emails") ?? []).flatMap((row) => (row["workspaceId"] === workspaceId ? row["contentsId"] : [])));
  for (const [table, rows] of all)
    for (const row of rows) {
      if (OF_MEMBERS.has(table) && !address.endsWith("@people.test")) continue;
      const isOwn = table === "contents" ? contents.has(row["id"]) : row["workspaceId"] === workspaceId;
      if (SHARED.has(table) || !isOwn) continue;
      if (textOf(row).includes(address))
        found.push(`A row of ${table} holds ${address} after the person was erased: ${textOf(row).slice(0, 300)}`);
    }
  return found;
}

const textOf = (row: Record<string, unknown>): string =>
  JSON.stringify(row, (_name, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
  ).toLowerCase();
