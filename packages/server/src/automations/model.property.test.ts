import { type AutomationConnection, type AutomationStep, listBranches, listDefinitionFaults } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";
import { pickBranch } from "./steps/paths.ts";

/*
 * The engine against a model of it: one automation, a few contacts, and any sequence of events, hours, pauses and new definitions. The
 * model keeps entries in memory and moves them one by one; it knows nothing of batches, jobs and transactions.
 */

const HOUR = 3_600_000;
const NAMES = ["ada", "grace", "joan"] as const;
type Name = (typeof NAMES)[number];

interface Definition {
  readonly steps: AutomationStep[];
  readonly connections: AutomationConnection[];
}

interface ModelEntry {
  readonly contact: Name;
  readonly definition: Definition;
  readonly enteredAt: number;
  status: "ACTIVE" | "COMPLETED" | "EXITED";
  reason: string | null;
  stepId: string | null;
  dueAt: number;
  waits: "event" | "met" | null;
  goal: boolean;
  readonly path: { stepId: string; at: number; branch: string | null }[];
}

/** Moves entries as the documentation says. */
class Model {
  now: number;
  active = true;
  readonly entries: ModelEntry[] = [];
  readonly tags = new Map<Name, Set<string>>(NAMES.map((name) => [name, new Set()]));
  readonly ids: Readonly<Record<Name, string>>;
  readonly automationId: string;

  constructor(now: number, automationId: string, ids: Readonly<Record<Name, string>>) {
    this.now = now;
    this.automationId = automationId;
    this.ids = ids;
  }

  enter(contact: Name, definition: Definition): void {
    const last = this.entries.findLast((entry) => entry.contact === contact);
    const mayEnter = !last || (last.status !== "ACTIVE" && last.enteredAt <= this.now - HOUR);
    if (!this.active || !this.tags.has(contact) || !mayEnter) return;
    const stepId = definition.connections.find(({ from }) => from === "trigger")?.to ?? null;
    const at = { enteredAt: this.now, dueAt: this.now };
    this.entries.push({ contact, definition, ...at, status: "ACTIVE", reason: null, stepId, waits: null, goal: false, path: [] });
    this.run();
  }

  buy(contact: Name, value: number): void {
    for (const entry of this.entries.filter((one) => one.contact === contact && one.status === "ACTIVE")) {
      const step = entry.definition.steps.find(({ id }) => id === entry.stepId);
      const filter = step?.type === "wait_for_event" && step.event.type === "event" ? step.event.filter : undefined;
      const least = filter && "value" in filter ? Number(filter.value) : 0;
      // An event after the timeout comes too late, even if a pause has kept the entry at this step.
      if (entry.waits === "event" && value >= least && this.now < entry.dueAt) Object.assign(entry, { waits: "met", dueAt: this.now });
      if (this.active) entry.goal = true;
    }
    this.run();
  }

  delete(contact: Name): void {
    if (!this.tags.delete(contact)) return;
    for (const entry of this.entries)
      if (entry.contact === contact && entry.status === "ACTIVE") Object.assign(entry, { status: "EXITED", reason: "contact_deleted" });
  }

  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const due = this.entries.filter(({ status }) => status === "ACTIVE").map(({ dueAt }) => dueAt);
      const next = Math.min(...due.filter((at) => at > this.now));
      if (!this.active || next > end) break;
      this.now = next;
      this.run();
    }
    this.now = end;
  }

  run(): void {
    for (const entry of this.entries) while (this.active && entry.status === "ACTIVE" && entry.dueAt <= this.now) this.#step(entry);
  }

  #step(entry: ModelEntry): void {
    const { contact, definition } = entry;
    const tags = this.tags.get(contact) as Set<string>;
    const step = definition.steps.find(({ id }) => id === entry.stepId);
    if (!step) {
      Object.assign(entry, { status: "COMPLETED", stepId: null });
      return;
    }
    const leave = (branch?: string): void => {
      entry.stepId = definition.connections.find((c) => c.from === step.id && c.branch === branch)?.to ?? null;
    };
    if (entry.waits !== null) {
      const branch = entry.waits === "met" ? "event" : "timeout";
      (entry.path.at(-1) as { branch: string | null }).branch = branch;
      entry.waits = null;
      leave(branch);
      return;
    }
    const taken = { stepId: step.id, at: this.now, branch: null as string | null };
    entry.path.push(taken);
    switch (step.type) {
      case "wait_for_event":
        Object.assign(entry, { waits: "event", dueAt: this.now + Number.parseInt(step.timeout, 10) * HOUR });
        return;
      case "delay":
        entry.dueAt = this.now + Number.parseInt(step.for, 10) * HOUR;
        leave();
        return;
      case "exit":
        Object.assign(entry, { status: "EXITED", reason: "exit" });
        return;
      case "condition":
        taken.branch = tags.has("x") ? "yes" : "no";
        leave(taken.branch);
        return;
      case "split":
        taken.branch = pickBranch(step, { automationId: this.automationId, contactId: this.ids[contact] });
        leave(taken.branch);
        return;
      case "add_tag":
        tags.add(step.tag);
        leave();
        return;
      case "remove_tag":
        tags.delete(step.tag);
        leave();
        return;
      case "goal":
        entry.goal = true;
        leave();
        return;
      default:
        throw new Error(`The model has no ${step.type}.`);
    }
  }
}

const TYPES = ["delay", "wait_for_event", "condition", "split", "add_tag", "remove_tag", "goal", "exit"] as const;

function makeStep(id: string, type: (typeof TYPES)[number], n: number): AutomationStep {
  switch (type) {
    case "delay":
      return { id, type, for: `${n}h` };
    case "wait_for_event":
      return {
        id,
        type,
        event: { type: "event", name: "buy", filter: { field: "value", operator: "gte", value: n } },
        timeout: `${n + 1}h`,
      };
    case "condition":
      return { id, type, rule: { field: "tags", operator: "contains", value: "x" } };
    case "split":
      return { id, type, branches: ["a", "b"].map((name, i) => ({ name, weight: i + n })) };
    case "add_tag":
    case "remove_tag":
      return { id, type, tag: "x" };
    default:
      return { id, type };
  }
}

/** A valid definition: each way leads forward, or ends, and that of a delay may lead back. */
const definitions = fc
  .array(fc.record({ type: fc.constantFrom(...TYPES), n: fc.integer({ min: 1, max: 3 }), to: fc.tuple(fc.nat(9), fc.nat(9)) }), {
    minLength: 2,
    maxLength: 7,
  })
  .map((drawn): Definition => {
    const steps = drawn.map(({ type, n }, i) => makeStep(`s${i}`, type, n));
    const connections: AutomationConnection[] = [{ from: "trigger", to: "s0" }];
    for (const [i, step] of steps.entries()) {
      if (step.type === "exit") continue;
      for (const [k, branch] of (listBranches(step) ?? [undefined]).entries()) {
        const first = step.type === "delay" ? 0 : i + 1;
        const to = first + ((drawn[i] as (typeof drawn)[number]).to[k] as number);
        if (to < steps.length) connections.push({ from: step.id, to: `s${to}`, ...(branch !== undefined && { branch }) });
      }
    }
    return reachable({ steps, connections });
  })
  .filter((definition) => listDefinitionFaults(definition).length === 0);

function reachable({ steps, connections }: Definition): Definition {
  const found = new Set(["trigger"]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const { from, to } of connections) if (found.has(from)) found.add(to);
  }
  return { steps: steps.filter(({ id }) => found.has(id)), connections: connections.filter(({ from }) => found.has(from)) };
}

const name = fc.constantFrom(...NAMES);
const commands = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("go" as const), name }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("buy" as const), name, value: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("advance" as const), hours: fc.integer({ min: 1, max: 5 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("pause" as const, "activate" as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("edit" as const), definition: definitions }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), name }) },
  ),
  { minLength: 6, maxLength: 20 },
);

/** Reads the service's view of all entries, and checks that its numbers add up. */
async function observe({ sdk }: TestWorld, id: string) {
  const entries = await sdk.automations.entries(id).toArray();
  const { entered, inside, completed, exited, failed, goalConversions, steps } = await sdk.automations.stats(id);
  const count = (status: string): number => entries.filter((entry) => entry.status === status).length;
  expect({ entered, inside, completed, exited, failed }).toEqual({
    ...{ entered: entries.length, inside: count("ACTIVE"), completed: count("COMPLETED") },
    ...{ exited: count("EXITED"), failed: 0 },
  });
  expect(goalConversions).toBe(entries.filter(({ goalReachedAt }) => goalReachedAt !== null).length);
  const taken = entries.flatMap(({ path }) => path);
  for (const { stepId, entered: came } of steps) expect(came).toBe(taken.filter((step) => step.stepId === stepId).length);
  return entries
    .map(({ contactId, status, reason, stepId, enteredAt, dueAt, goalReachedAt, path }) => ({
      ...{ contactId, status, reason, stepId, enteredAt, dueAt, goal: goalReachedAt !== null },
      path: path.map(({ stepId: taken, at, branch }) => ({ stepId: taken, at, branch })),
    }))
    .sort(inOrder);
}

function inOrder(a: { enteredAt: string; contactId: string }, b: { enteredAt: string; contactId: string }): number {
  return a.enteredAt.localeCompare(b.enteredAt) || a.contactId.localeCompare(b.contactId);
}

function show(model: Model) {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return model.entries
    .map(({ contact, status, reason, stepId, enteredAt, dueAt, goal, path }) => ({
      contactId: model.ids[contact],
      status,
      reason,
      stepId: status === "ACTIVE" ? stepId : null,
      enteredAt: iso(enteredAt),
      dueAt: status === "ACTIVE" ? iso(dueAt) : null,
      goal,
      path: path.map(({ at, ...taken }) => ({ ...taken, at: iso(at) })),
    }))
    .sort(inOrder);
}

test("entries go where a simple model of the engine says, whatever happens, and the numbers add up", async () => {
  await fc.assert(
    fc.asyncProperty(definitions, commands, async (first, sequence) => {
      await using world = await createWorld();
      const { sdk } = world;
      const fields = {
        name: "Model",
        trigger: { type: "event", name: "go" },
        goal: { type: "event", name: "buy" },
        allowReEntry: true,
        reEntryDelayHours: 1,
      } as const;
      const { id } = await sdk.automations.create({ ...fields, ...first });
      await sdk.automations.activate(id);
      const created = await Promise.all(
        NAMES.map(async (one) => [one, (await sdk.contacts.create({ email: `${one}@example.com` })).id] as const),
      );
      const ids = Object.fromEntries(created) as Record<Name, string>;
      const model = new Model(world.clock.now(), id, ids);
      let definition = first;
      for (const command of sequence) {
        if ("name" in command && !model.tags.has(command.name)) continue;
        switch (command.do) {
          case "go":
            await sdk.events.track({ name: "go", contact: ids[command.name] });
            model.enter(command.name, definition);
            break;
          case "buy":
            await sdk.events.track({ name: "buy", contact: ids[command.name], value: command.value, currency: "USD" });
            model.buy(command.name, command.value);
            break;
          case "advance":
            await world.clock.advance(`${command.hours}h`);
            model.advance(command.hours * HOUR);
            break;
          case "pause":
          case "activate":
            await sdk.automations[command.do](id);
            model.active = command.do === "activate";
            model.run();
            break;
          case "edit":
            definition = command.definition;
            await sdk.automations.update(id, definition);
            break;
          case "delete":
            await sdk.contacts.delete(ids[command.name]);
            model.delete(command.name);
        }
        await world.settle();
        expect(await observe(world, id)).toEqual(show(model));
      }
    }),
    { numRuns: 10 },
  );
});
