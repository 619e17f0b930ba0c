/** Limits of automations (docs/reference/limits.md). */
export const AUTOMATION_LIMITS = {
  name: 200,
  description: 1000,
  steps: 100,
  stepId: 50,
  branches: 10,
  delayDays: 365,
  /** Fields of the data of a webhook step. */
  webhookFields: 20,
  reEntryDelayHours: 8760,
  /** Steps that one entry takes before it fails: the bound of loops. */
  moves: 1000,
} as const;

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
