import { type Activation, listSettingFaults, type Settings } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { ApiError } from "../../lib/api-error.ts";
import { isSameJson } from "../../lib/json.ts";
import type { ListingRow } from "../listings/listings.ts";
import type { ActivationDeps } from "./deps.ts";
import { settingsOf } from "./granted.ts";
import { showActivation } from "./show.ts";
import { assertNotEnded, getActivation, lockActivation } from "./store.ts";

interface Change {
  /** Credits it may use in a month; null for no limit. */
  readonly creditLimit?: number | null | undefined;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/** Changes what is given, and tells the agent its settings if they differ. Throws ApiError not_found, invalid_state or validation_error. */
export async function changeActivation(tx: Tx, deps: ActivationDeps, workspaceId: string, id: string, change: Change): Promise<Activation> {
  const now = deps.clock.now();
  await lockActivation(tx, id);
  const found = await getActivation(tx, workspaceId, id);
  assertNotEnded(found, now);
  const { creditLimit = found.activation.creditLimit } = change;
  const settings = change.settings === undefined ? found.activation.settings : readSettings(found.listing, change.settings);
  await tx.update(tx.t.activations).set({ creditLimit, settings }).where(eq(tx.t.activations.id, id));
  const activation = { ...found.activation, creditLimit, settings };
  const [before, after] = [settingsOf(found.activation, found.listing), settingsOf(activation, found.listing)];
  if (!isSameJson(before, after)) await deps.activationHooks.settingsChanged(tx, id, after, now);
  return showActivation({ ...found, activation }, now);
}

/** The values that a brand has filled in. Throws ApiError validation_error, which names each that does not fit the listing. */
export function readSettings({ settingsSchema }: ListingRow, values: Readonly<Record<string, unknown>>): Settings {
  const faults = listSettingFaults(settingsSchema, values);
  const [first] = faults;
  if (first === undefined) return values as Settings;
  throw new ApiError("validation_error", `settings.${first.name}: ${first.message}`, {
    details: faults.map(({ name, code, message }) => ({ path: `settings.${name}`, code, message })),
    hint: "The catalog shows the settings of an agent: mailsvc catalog get",
  });
}
