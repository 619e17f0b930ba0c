import { limits } from "./limits.ts";

export const AUTOMATION_LIMITS = limits("automations", "An automation", {
  name: [200, "name", "characters"],
  description: [1000, "description", "characters"],
  steps: [100, "steps"],
  stepId: [50, "id of a step", "characters"],
  branches: [10, "branches of a split"],
  delayDays: [365, "a delay", "days"],
  webhookFields: [20, "fields that a webhook step sends"],
  reEntryDelayHours: [8760, "time until a contact may enter again", "hours"],
  moves: [1000, "steps that one entry takes, loops included, before it fails"],
});

/** The values of fields that are not given. */
export const AUTOMATION_DEFAULTS = { currency: "USD", reEntryDelayHours: 24 } as const;

/** The states of an automation (docs/automations.md#states-and-versions). */
export const AUTOMATION_STATUSES = ["DRAFT", "ACTIVE", "PAUSED"] as const;
export type AutomationStatus = (typeof AUTOMATION_STATUSES)[number];

/** ACTIVE while inside; COMPLETED at the end of the path; EXITED and FAILED before that, with a reason. */
export const ENTRY_STATUSES = ["ACTIVE", "COMPLETED", "EXITED", "FAILED"] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

/** The start of every definition: the `from` of its first connection. */
export const TRIGGER_STEP = "trigger";
