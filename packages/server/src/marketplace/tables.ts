import type { ColumnTypes } from "../db/columns.ts";
import { activationTables } from "./activations/tables.ts";
import { agentWebhookTables } from "./agent-webhooks/tables.ts";
import { creditTables } from "./credits/tables.ts";
import { fileTables } from "./files/tables.ts";
import { pageTables } from "./landing-pages/tables.ts";
import { listingTables } from "./listings/tables.ts";
import { messageTables } from "./messages/tables.ts";
import { paymentTables } from "./payments/tables.ts";
import { planTables } from "./plans/tables.ts";
import { runTables } from "./runs/tables.ts";
import { wakeupTables } from "./wakeups/tables.ts";

/** The tables of all modules. */
export function marketplaceTables(c: ColumnTypes) {
  return {
    ...listingTables(c),
    ...paymentTables(c),
    ...activationTables(c),
    ...agentWebhookTables(c),
    ...planTables(c),
    ...runTables(c),
    ...messageTables(c),
    ...creditTables(c),
    ...wakeupTables(c),
    ...pageTables(c),
    ...fileTables(c),
  };
}
