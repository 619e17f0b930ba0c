import { type Automation, type AutomationEntry, type AutomationStep, contract, type EntryStatus } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { invalid, notFound, nullIfNotFound } from "../../lib/api-error.ts";
import { trustSenderInDev } from "../dev-senders.ts";
import { drop, type Operation, type Reads, readOperation, type Writes, writeOperation } from "../operation.ts";
import { graphFields, nameStepType, showGraph, toOwnGraph } from "./automation-steps.ts";
import { answerList, listQuery } from "./lists.ts";

const Status = z.enum(["enabled", "disabled"]);
const NOTE =
  "steps: trigger, delay, send_email, wait_for_event with a timeout, condition over the contact, contact_update, add_to_segment; without variables";

const RUN_STATUSES = { ACTIVE: "running", COMPLETED: "completed", EXITED: "cancelled", FAILED: "failed" } as const satisfies Record<
  EntryStatus,
  string
>;
const ENTRY_STATUSES = { running: "ACTIVE", completed: "COMPLETED", cancelled: "EXITED", failed: "FAILED" } as const;

/** Automations that begin with an event of a program. */
export const automationOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/automations",
    note: NOTE,
    body: z.object({ name: z.string(), status: Status.default("disabled"), ...graphFields }),
    status: 201,
    run: async ({ name, status, ...graph }, calls) => {
      const own = toOwnGraph(graph);
      await trustSendersInDev(own.steps, calls);
      const { id } = await calls.write(contract.automations.create, { name, allowReEntry: true, reEntryDelayHours: 1, ...own });
      if (status === "enabled") await calls.write(contract.automations.activate, { id });
      return { object: "automation", id };
    },
  }),
  readOperation({
    path: "/automations",
    query: listQuery.extend({ status: Status.optional() }),
    run: ({ status, ...query }, { read }) =>
      answerList(
        query,
        async (page) => {
          const { data, pagination } = await read(contract.automations.list, page);
          return { data: data.filter((one) => status === undefined || showListed(one).status === status), pagination };
        },
        showListed,
      ),
  }),
  readOperation({
    path: "/automations/:id",
    note: "a step that Resend does not have keeps its type and fields; the trigger has the key trigger",
    run: async ({ id }, { read }) => {
      const automation = await read(contract.automations.get, { id });
      return { object: "automation", ...showListed(automation), ...showGraph(automation) };
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/automations/:id",
    note: NOTE,
    body: z.object({
      name: z.string().nullish(),
      status: Status.nullish(),
      steps: graphFields.steps.optional(),
      connections: graphFields.connections.optional(),
    }),
    run: async ({ id, name, status, steps, connections }, calls) => {
      if ((steps === undefined) !== (connections === undefined)) {
        const missing = steps === undefined ? "steps" : "connections";
        throw invalid(missing, "required", `Missing \`${missing}\` field.`);
      }
      const graph = steps && connections ? toOwnGraph({ steps, connections }) : null;
      if (graph) await trustSendersInDev(graph.steps, calls);
      if (name || graph) await calls.write(contract.automations.update, { id, ...drop({ name }), ...graph });
      if (status) await switchAutomation(id, status, calls);
      return { object: "automation", id };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/automations/:id",
    run: async ({ id }, calls) => {
      await switchAutomation(id, "disabled", calls);
      await calls.write(contract.automations.delete, { id });
      return { object: "automation", id, deleted: true };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/automations/:id/duplicate",
    status: 201,
    run: async ({ id }, { read, write }) => {
      const { name, description, trigger, goal, currency, allowReEntry, reEntryDelayHours, steps, connections } = await read(
        contract.automations.get,
        { id },
      );
      const copy = { description, trigger, goal, currency, allowReEntry, steps, connections, ...drop({ reEntryDelayHours }) };
      const made = await write(contract.automations.create, { ...copy, name: `${name} (copy)`.slice(-200) });
      return { object: "automation", id: made.id };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/automations/:id/stop",
    run: async ({ id }, calls) => {
      await switchAutomation(id, "disabled", calls);
      return { object: "automation", id, status: "disabled" };
    },
  }),
  readOperation({
    path: "/automations/:id/runs",
    query: listQuery.extend({ status: z.enum(["running", "completed", "cancelled", "failed"]).optional() }),
    run: ({ id, status, ...query }, { read }) =>
      answerList(
        query,
        (page) => read(contract.automations.entries, { id, ...page, ...(status && { status: ENTRY_STATUSES[status] }) }),
        showRun,
      ),
  }),
  readOperation({
    path: "/automations/:id/runs/:run",
    note: "of the steps, those that were taken; of the latest 2,000 runs",
    run: async ({ id, run }, calls) => {
      const entry = await getEntry(id, run, calls);
      const { steps } = await calls.read(contract.automations.get, { id, version: entry.version });
      const types = new Map(steps.map((step) => [step.id, nameStepType(step.type)]));
      return {
        object: "automation_run",
        ...showRun(entry),
        steps: entry.path.map(({ stepId, at, outcome, reason, branch, emailId }) => ({
          ...{ key: stepId, type: types.get(stepId) ?? stepId, status: outcome === "done" ? "completed" : "skipped" },
          ...{ started_at: at, completed_at: at, created_at: at },
          output: emailId === null && branch === null ? null : drop({ email_id: emailId, branch }),
          error: reason === null ? null : { message: reason },
        })),
      };
    },
  }),
];

// Pages of entries that are looked through for one.
const MAX_PAGES = 20;
const PAGE = 100;

/** An entry of an automation. Throws ApiError not_found. */
async function getEntry(id: string, run: string, { read }: Reads): Promise<AutomationEntry> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, pagination } = await read(contract.automations.entries, { id, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    const found = data.find((one) => one.id === run);
    if (found) return found;
    if (pagination.nextCursor === null) break;
    cursor = pagination.nextCursor;
  }
  throw notFound("automation run", run);
}

/** In dev mode, makes the senders of an automation's mail verified ones: its activation asks for that. */
async function trustSendersInDev(steps: readonly AutomationStep[], calls: Writes): Promise<void> {
  if (!calls.deps.config.dev) return;
  for (const step of steps) {
    if (step.type !== "send_email") continue;
    const template = step.from === undefined ? await nullIfNotFound(calls.read(contract.templates.get, { id: step.templateId })) : null;
    await trustSenderInDev(step.from ?? template?.from ?? undefined, calls);
  }
}

/** Activates an automation, or pauses it: who is inside waits there. Changes nothing if it is so already. */
async function switchAutomation(id: string, status: z.output<typeof Status>, { read, write }: Writes): Promise<void> {
  const isActive = (await read(contract.automations.get, { id })).status === "ACTIVE";
  if (status === "enabled" && !isActive) await write(contract.automations.activate, { id });
  if (status === "disabled" && isActive) await write(contract.automations.pause, { id });
}

function showListed({ id, name, status, createdAt, updatedAt }: Automation) {
  return { id, name, status: status === "ACTIVE" ? "enabled" : "disabled", created_at: createdAt, updated_at: updatedAt };
}

function showRun({ id, status, enteredAt, endedAt }: AutomationEntry) {
  return { id, status: RUN_STATUSES[status], started_at: enteredAt, completed_at: endedAt, created_at: enteredAt };
}
