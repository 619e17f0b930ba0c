import type { contract, HandlerInput, HandlerOutput } from "@mailsvc/sdk/contract";
import { getContactRow, holdContacts } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import { recordEvents } from "../events/events.ts";
import { iso } from "../lib/clock.ts";
import type { AutomationDeps } from "./deps.ts";

type Track = typeof contract.events.track;

/** Records an event of the workspace's own about a contact, which automations listen to. Throws ApiError not_found. */
export async function track(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  { name, contact: ref, value, currency, properties }: HandlerInput<Track>,
): Promise<HandlerOutput<Track>> {
  const contact = await getContactRow(tx, workspaceId, ref);
  const [held] = await holdContacts(tx, workspaceId, [contact]);
  const at = deps.clock.now();
  const data = { name, ...(value !== undefined && { value, currency }), ...(properties !== undefined && { properties }) };
  await recordEvents(tx, deps, [{ workspaceId, type: "contact.tracked", contactId: held?.id ?? null, at, data }]);
  return { type: "contact.tracked", contactId: contact.id, name, at: iso(at) };
}
