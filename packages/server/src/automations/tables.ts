import type {
  AutomationConnection,
  AutomationOccurrence,
  AutomationStatus,
  AutomationStep,
  AutomationTrigger,
  EntryStatus,
} from "@mailsvc/sdk/contract";
import { isNotNull, sql } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

/** Entries that are inside. A query must repeat this text to use the index of them. */
export const INSIDE = sql`status = 'ACTIVE'`;

/** The part of a tracked event that an entry keeps for the templates of later steps. */
export interface EntryEvent {
  readonly name: string;
  readonly value?: number | undefined;
  readonly currency?: string | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

export function automationTables(c: ColumnTypes) {
  return {
    automations: automations(c),
    automationVersions: automationVersions(c),
    automationContacts: automationContacts(c),
    automationEntries: automationEntries(c),
    automationRevenue: automationRevenue(c),
    automationMoves: automationMoves(c),
  };
}

export type AutomationTables = ReturnType<typeof automationTables>;

/** An automation and its state: see `states.ts`. Its numbers are counters. */
function automations(c: ColumnTypes) {
  return c.table(
    "automations",
    {
      id: c.text("id").primaryKey(),
      workspaceId: c.text("workspace_id").notNull(),
      name: c.text("name").notNull(),
      description: c.text("description"),
      status: c.text("status").$type<AutomationStatus>().notNull(),
      trigger: c.json<AutomationTrigger>("trigger_on").notNull(),
      /** Next time contacts enter by a date trigger; null while it is not active. */
      nextDateAt: c.instant("next_date_at"),
      /** Key of the trigger, as `toKey` writes it; an event with the same key may start the automation. */
      triggerKey: c.text("trigger_key").notNull(),
      goal: c.json<AutomationOccurrence>("goal"),
      goalKey: c.text("goal_key"),
      /** The mark of the log at its activation: only events behind it make contacts enter. */
      listensAfter: c.reference("listens_after"),
      /** Currency of its revenue. */
      currency: c.text("currency").notNull().default("USD"),
      /** The newest version of the definition. */
      version: c.int("version").notNull(),
      allowReEntry: c.flag("allow_re_entry").notNull(),
      reEntryDelayHours: c.int("re_entry_delay_hours").notNull(),
      createdAt: c.instant("created_at").notNull(),
      updatedAt: c.instant("updated_at").notNull(),
      /** Counts the changes of its fields, to refuse one that was based on an older state. */
      revision: c.int("revision").notNull().default(1),
      archivedAt: c.instant("archived_at"),
      /** Set when it is deleted; a job deletes its entries. */
      deletedAt: c.instant("deleted_at"),
    },
    (t) => [
      c.index("automations_workspace").on(t.workspaceId, t.id),
      c.index("automations_trigger").on(t.workspaceId, t.triggerKey).where(INSIDE),
      c.index("automations_goal").on(t.workspaceId, t.goalKey).where(INSIDE),
    ],
  );
}

/** The definitions of an automation. None is changed after entries began with it. */
function automationVersions(c: ColumnTypes) {
  return c.table(
    "automation_versions",
    {
      automationId: c.text("automation_id").notNull(),
      version: c.int("version").notNull(),
      steps: c.json<AutomationStep[]>("steps").notNull(),
      connections: c.json<AutomationConnection[]>("connections").notNull(),
      /** The pinned versions of templates by their ids; null until it is activated. */
      templates: c.json<Record<string, number>>("templates"),
      createdAt: c.instant("created_at").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.automationId, t.version] })],
  );
}

/** One row for each contact that ever entered: it decides who may enter, also when triggers race. */
function automationContacts(c: ColumnTypes) {
  return c.table(
    "automation_contacts",
    {
      automationId: c.text("automation_id").notNull(),
      contactId: c.text("contact_id").notNull(),
      /** The latest entry. */
      entryId: c.text("entry_id").notNull(),
      enteredAt: c.instant("entered_at").notNull(),
      inside: c.flag("inside").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.automationId, t.contactId] }), c.index("automation_contacts_contact").on(t.contactId, t.inside)],
  );
}

/** A contact's way through an automation. */
function automationEntries(c: ColumnTypes) {
  return c.table(
    "automation_entries",
    {
      id: c.text("id").primaryKey(),
      workspaceId: c.text("workspace_id").notNull(),
      automationId: c.text("automation_id").notNull(),
      version: c.int("version").notNull(),
      contactId: c.text("contact_id").notNull(),
      contactSeq: c.reference("contact_seq").notNull(),
      status: c.text("status").$type<EntryStatus>().notNull(),
      reason: c.text("reason"),
      /** The step that comes next, and when. */
      stepId: c.text("step_id"),
      dueAt: c.instant("due_at"),
      /** The step that it waits in; null unless the step before the next one waits. */
      waitingIn: c.text("waiting_in"),
      /** Key of the event that its current step waits for, as `toKey` writes it. */
      waitsFor: c.text("waits_for"),
      /** The mark of the log when it began to wait: only events behind it end the wait. */
      waitsAfter: c.reference("waits_after"),
      /** True once that has happened: the entry goes on by the branch `event`. */
      met: c.flag("met"),
      /** The tracked event that made the contact enter, or ended its latest wait. */
      event: c.json<EntryEvent>("event"),
      /** Attempts at the next step that failed for a reason of ours. */
      failures: c.int("failures").notNull().default(0),
      /** Steps taken. */
      moves: c.int("moves").notNull(),
      enteredAt: c.instant("entered_at").notNull(),
      /** The mark of the log at that time: only events behind it are its goal, or add to its revenue. */
      enteredAfter: c.reference("entered_after").notNull(),
      endedAt: c.instant("ended_at"),
      /** The mark of the log at its end: what happened before it, and is read later, still counts. */
      endedAfter: c.reference("ended_after"),
      goalReachedAt: c.instant("goal_reached_at"),
      /** In hundredths of the currency; null for nothing. */
      revenue: c.reference("revenue"),
      goalRevenue: c.reference("goal_revenue"),
    },
    (t) => [
      c.index("automation_entries_automation").on(t.automationId, t.id),
      c.index("automation_entries_status").on(t.automationId, t.status, t.id),
      c.index("automation_entries_contact").on(t.automationId, t.contactId),
      c.index("automation_entries_due").on(t.automationId, t.dueAt, t.id).where(INSIDE),
      c.index("automation_entries_waiting").on(t.contactId, t.waitsFor).where(isNotNull(t.waitsFor)),
    ],
  );
}

/** The revenue of automations, in hundredths of their currency. Parts that add up, so that writers rarely wait for the same row. */
function automationRevenue(c: ColumnTypes) {
  return c.table(
    "automation_revenue",
    {
      automationId: c.text("automation_id").notNull(),
      part: c.int("part").notNull(),
      revenue: c.reference("revenue").notNull(),
      goalRevenue: c.reference("goal_revenue").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.automationId, t.part] })],
  );
}

/** The steps that entries have taken. */
function automationMoves(c: ColumnTypes) {
  return c.table(
    "automation_moves",
    {
      entryId: c.text("entry_id").notNull(),
      move: c.int("move").notNull(),
      stepId: c.text("step_id").notNull(),
      at: c.instant("at").notNull(),
      outcome: c.text("outcome").$type<"done" | "skipped">().notNull(),
      reason: c.text("reason"),
      branch: c.text("branch"),
      emailId: c.text("email_id"),
    },
    (t) => [c.primaryKey({ columns: [t.entryId, t.move] })],
  );
}

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly aut: "automations";
    readonly ent: "automationEntries";
  }
}
