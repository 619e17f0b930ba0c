import { createHmac } from "node:crypto";
import { parseEventTypes } from "@mailsvc/sdk/contract";
import { TENANTS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

const listAll = (universe: Universe, tenant: Tenant) => universe.sdk(tenant).events.list({ after: 0, limit: 100 }).toArray();

export const EVENTS: Invariant = {
  name: "events",
  promise: "A poller gets each event once, in order, and misses none.",
  says: [
    "Who follows the events of a workspace by their numbers, now and then, sees each of them once, with rising numbers, and never learns later of an event with a smaller number than one that was already read. Each number is one more than that of the event before; some are missing only where events were deleted, or data was set back. That holds with one server and with two, while servers die and are restarted, and while others write.",
  ],
  check: async (universe) => {
    const found: string[] = [];
    const { keepDays, steps } = universe.script;
    // Numbers of events that a restoration took away are not given again.
    const isWhole = !universe.rewound && keepDays === null && !steps.some((step) => step.do === "disturb" && step.by === "erase");
    for (const tenant of TENANTS) {
      const all = await listAll(universe, tenant);
      all.forEach(({ sequence, id }, i) => {
        const before = all[i - 1]?.sequence ?? 0;
        if (i > 0 && sequence <= before) found.push(`The event ${id} of ${tenant} is out of order.`);
        else if (isWhole && sequence !== before + 1) found.push(`Of ${tenant} no event has a number between ${before} and ${sequence}.`);
      });
      if (universe.rewound) continue;
      const { last, seen } = universe.pollers[tenant];
      for (const { sequence, id, type } of all)
        if (sequence <= last && !seen.has(id))
          found.push(`A poller of ${tenant} at ${last} has missed ${type} ${id} with the number ${sequence}.`);
    }
    return found;
  },
};

/** Events that come without a subscription: those that an automation sends to a webhook, and tests of it. */
const UNASKED = new Set(["automation.webhook", "webhook.test", "test.ping"]);

export const WEBHOOKS: Invariant = {
  name: "webhooks",
  promise: "A webhook that works gets each event it subscribed to at least once, and nothing else.",
  says: [
    "A webhook that is on at rest has received everything that it subscribed to since it was registered, at least once, also what happened while it was paused, while it did not answer, and while a server was dead. It has received no event of another type. Where it is changed to subscribe to other types, it receives those from that change on, and no longer the former ones.",
    "An event that comes again has the same bytes. A webhook that has refused nothing gets the events of one mail to one recipient in the order of their numbers, and so it gets those of one contact that are about no mail, unless a server was killed.",
    "Agents are webhooks too: whatever was written for one that is on, and whose webhook works, has arrived or was replaced by what happened since, and the events of an activation arrive in their order.",
    "Each request is signed with the secret of its webhook. After a rotation it is signed with the old secret and the new one until the overlap is over, and from then on with the new one alone.",
  ],
  check: async (universe) => {
    if (universe.rewound) return [];
    const found: string[] = [];
    for (const thing of universe.things.values()) {
      if (thing.noun !== "webhook") continue;
      const hook = await universe.value(() => universe.sdk(thing.tenant).webhooks.get(thing.id));
      const subscriptions = universe.ledger.subscriptions.get(thing.label);
      if (hook?.status !== "enabled" || !subscriptions) continue;
      const got = new Set(
        universe.ledger.calls
          .filter(({ name, status }) => name === thing.label && status === 200)
          .map(({ body }) => (JSON.parse(body) as { id: string }).id),
      );
      const since = Number(thing.also["sequence"] ?? 0);
      const all = subscriptions.flatMap(({ events }) => typesOf(events));
      for (const { body } of universe.ledger.calls.filter(({ name }) => name === thing.label)) {
        const { type } = JSON.parse(body) as { type: string };
        if (!all.includes(type) && !UNASKED.has(type))
          found.push(`${thing.label} subscribed to ${hook.events.join(", ")} and got ${type}.`);
      }
      for (const { sequence, type, id, test } of await listAll(universe, thing.tenant)) {
        const present = subscriptions.findLast(({ before }) => before < sequence);
        // Of events that came with a change nobody knows to which side of it they belong.
        if (sequence <= since || test || UNASKED.has(type) || !present || sequence <= present.after) continue;
        const isWanted = typesOf(present.events).includes(type);
        if (isWanted && !got.has(id)) found.push(`${thing.label} never got ${type} ${id} (number ${sequence}, registered at ${since}).`);
        if (!isWanted && got.has(id))
          found.push(`${thing.label} got ${type} ${id} (number ${sequence}), and had changed to ${present.events.join(", ")}.`);
      }
    }
    return [
      ...found,
      ...(await agents(universe)),
      ...agentsOutOfOrder(universe),
      ...webhooksOutOfOrder(universe),
      ...otherBytes(universe),
      ...wronglySigned(universe),
    ];
  },
};

const typesOf = (patterns: readonly string[]): readonly string[] => patterns.flatMap((pattern) => parseEventTypes(pattern));

async function agents({ world, things, ledger, hooks }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const active = new Set((await read.select().from(read.t.activations)).flatMap(({ id, status }) => (status === "active" ? id : [])));
  const rows = await read.select().from(read.t.webhookEvents);
  return [...things.values()].flatMap(({ label, noun, id }) => {
    if (noun !== "agent" || !active.has(id) || hooks.modes.get(label) !== "works") return [];
    const got = new Set(
      ledger.calls.flatMap(({ name, status, body }) => (name === label && status === 200 ? (JSON.parse(body) as { id: string }).id : [])),
    );
    return rows.flatMap(({ id: eventId, streamId, type, state }) => {
      const isLost = state === "delivered" ? !got.has(eventId) : state === "pending" || state === "queued";
      return streamId === id && isLost ? [`${label} is on and never got ${type} ${eventId}, which is ${state}.`] : [];
    });
  });
}

/** Says which events of an agent arrived for the first time after a later one. */
function agentsOutOfOrder({ things, ledger, script }: Universe): string[] {
  // A request of a server that was killed may arrive after those of its successor.
  if (script.steps.some((step) => step.do === "disturb" && step.by.startsWith("kill"))) return [];
  return [...things.values()].flatMap(({ label, noun, id }) => {
    const calls = noun === "agent" ? ledger.calls.filter(({ name, status }) => name === label && status === 200) : [];
    const events = calls.map(
      ({ body }) => JSON.parse(body) as { readonly activationId: string; readonly sequence: number; readonly type: string },
    );
    const first = [
      ...new Map(
        events
          .filter((one) => one.activationId === id)
          .toReversed()
          .map((one) => [one.sequence, one]),
      ).values(),
    ].toReversed();
    return first.flatMap(({ sequence, type }, i) => {
      const before = first[i - 1]?.sequence ?? 0;
      return sequence < before ? [`${label} got ${type} with the number ${sequence} after that with the number ${before}.`] : [];
    });
  });
}

/** Says which events of one mail, or of one contact, came to a webhook that has taken all after a later one of the same. */
function webhooksOutOfOrder({ things, ledger, script }: Universe): string[] {
  // A request of a server that was killed may arrive after those of its successor, and one that was refused is tried by itself.
  if (script.steps.some((step) => step.do === "disturb" && /^(kill|webhooksDead|fullDisk|faults)/.test(step.by))) return [];
  return [...things.values()].flatMap(({ label, noun }) => {
    if (noun !== "webhook") return [];
    const events = new Map<string, Arrived>();
    for (const { name, body } of ledger.calls) {
      const event = JSON.parse(body) as Arrived;
      if (name === label && !events.has(event.id)) events.set(event.id, event);
    }
    return [...Map.groupBy(events.values(), ({ recipient, emailId, contactId }) => recipient?.id ?? emailId ?? contactId ?? null)].flatMap(
      ([about, own]) =>
        own.flatMap(({ sequence, type }, i) => {
          const before = own[i - 1];
          return about !== null && before && before.sequence > sequence
            ? [`${label} got ${type} of ${about} with the number ${sequence} after ${before.type} with the number ${before.sequence}.`]
            : [];
        }),
    );
  });
}

interface Arrived {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly recipient?: { readonly id: string } | null;
  readonly emailId?: string | null;
  readonly contactId?: string | null;
}

/** Says which events came to a webhook once more with another body. */
function otherBytes({ ledger }: Universe): string[] {
  const bodies = Map.groupBy(ledger.calls, ({ name, body }) => `${name} ${(JSON.parse(body) as Arrived).id}`);
  return [...bodies].flatMap(([what, calls]) => {
    const [first, other] = new Set(calls.map(({ body }) => body));
    return other === undefined ? [] : [`${what} came with other bytes: ${first} and ${other}`];
  });
}

/** Says which requests were not signed with all secrets that were to sign then, and with those alone. */
function wronglySigned({ ledger }: Universe): string[] {
  return ledger.calls.flatMap(({ name, prefix, body, signatures, at }) => {
    const known = ledger.secrets.get(name) ?? [];
    const wanted = known.flatMap((secrets, i) => {
      // Requests under way at the instant of a change may have either.
      const until = known[i + 1]?.from ?? Number.POSITIVE_INFINITY;
      if (at < secrets.from || at > until) return [];
      const both = [secrets.old, secrets.next].flatMap((secret) => (secret === null ? [] : `v1,${sign(secret, prefix + body)}`));
      if (at < secrets.until) return [both];
      return at === secrets.until || at === secrets.from ? [both, both.slice(-1)] : [both.slice(-1)];
    });
    const isRight =
      wanted.length === 0 || wanted.some((one) => one.length === signatures.length && one.every((own) => signatures.includes(own)));
    return isRight
      ? []
      : [`A request to ${name} at ${new Date(at).toISOString()} has ${signatures.length} signatures, which are not those of its secrets.`];
  });
}

/** Standard Webhooks: the key is the bytes that the base64 after the prefix decodes to. */
const sign = (secret: string, text: string): string =>
  createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(text)
    .digest("base64");
