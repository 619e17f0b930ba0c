import type { SegmentRule } from "@mailsvc/sdk/contract";
import { type Acted, find, known, type Making, type Noun } from "../noun.ts";
import { addressOf, MARKS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";

const ZONES = ["Europe/Berlin", "America/New_York", "Pacific/Auckland", "Asia/Kolkata"];

const person = ({ universe, pick, tenant }: Making) => ({
  // Some are in the crowd already.
  email: addressOf(pick.oneIn(3) ? pick.int(0, 23) : pick.int(40, 60)),
  firstName: `Ann ${MARKS[tenant]}`,
  tags: [pick.of("vip", "trial", "customer")],
  customFields: {
    timeZone: pick.of(...ZONES),
    score: pick.int(0, 100),
    renewsOn: new Date(universe.now() + pick.int(-5, 60) * 86_400_000).toISOString().slice(0, 10),
  },
});

async function deleteContact(u: Universe, tenant: Tenant, { id, named }: { readonly id: string; readonly named: string }): Promise<Acted> {
  const outcome = await u.call(() => u.sdk(tenant).contacts.delete(named));
  if ("value" in outcome) u.ledger.remove(id);
  return outcome;
}

/** People, and what they are in. */
export const PEOPLE_NOUNS = {
  contact: {
    make: async (making) => {
      const fields = person(making);
      return known(await making.universe.value(() => making.universe.sdk(making.tenant).contacts.create(fields)), { email: fields.email });
    },
    verbs: {
      edit: (u, { tenant, id }, pick) =>
        u.call(() => u.sdk(tenant).contacts.update(id, { tags: [pick.of("vip", "trial")], customFields: { score: pick.int(0, 100) } })),
      delete: (u, { tenant, id }) => deleteContact(u, tenant, { id, named: id }),
    },
  },
  crowd: {
    make: async ({ universe, tenant, pick }) => {
      const rows = Array.from({ length: pick.int(5, 40) }, (_, i) => ({
        email: addressOf(i),
        firstName: `P${i} ${MARKS[tenant]}`,
        tags: i % 2 === 0 ? ["vip"] : ["trial"],
        customFields: { timeZone: pick.of(...ZONES), score: i },
      }));
      const done = await universe.value(() => universe.sdk(tenant).contacts.import({ rows }));
      return done && { id: "crowd", also: {} };
    },
    verbs: {},
  },
  list: {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      const optIn = pick.oneIn(3) && { doubleOptIn: true, confirmationFrom: "hello@acme.test" };
      const list = await universe.value(() => universe.sdk(tenant).lists.create({ name: `News ${MARKS[tenant]}`, public: true, ...optIn }));
      const contacts = Array.from({ length: pick.int(2, 12) }, (_, i) => addressOf(i * 2));
      if (list) await universe.call(() => universe.sdk(tenant).lists.add(list.id, { contacts }));
      return known(list);
    },
    verbs: {
      edit: (u, { tenant, id }, pick) =>
        u.call(() => u.sdk(tenant).lists.remove(id, { contacts: [addressOf(pick.int(0, 3) * 2), addressOf(pick.int(0, 12))] })),
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).lists.delete(id)),
    },
  },
  segment: {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      const list = find(making, "list");
      const rules = pick.of<SegmentRule>(
        { field: "tags", operator: "contains", value: "vip" },
        { not: { field: "tags", operator: "contains", value: "vip" } },
        { field: "customFields.score", operator: "gte", value: pick.int(0, 90) },
        { field: "lastOpenedAt", operator: "withinLast", value: "30d" },
        { field: "received", operator: "gte", value: pick.int(1, 3) },
        { field: "clicked", operator: "exists", value: false, within: "2d" },
        { field: "did.purchase", operator: "gte", value: pick.int(1, 2), within: "10d" },
        { field: "did.login", operator: "exists", value: false },
        {
          any: [
            { field: "customFields.renewsOn", operator: "withinNext", value: "30d" },
            { field: "createdAt", operator: "withinLast", value: "2d" },
          ],
        },
        list ? { field: "lists", operator: "contains", value: list.id } : { field: "status", operator: "equals", value: "SUBSCRIBED" },
      );
      return known(await universe.value(() => universe.sdk(tenant).segments.create({ name: `Some ${MARKS[tenant]}`, rules })));
    },
    verbs: {
      edit: (u, { tenant, id }, pick) =>
        u.call(() =>
          u.sdk(tenant).segments.update(id, { rules: { field: "customFields.score", operator: "gte", value: pick.int(0, 90) } }),
        ),
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).segments.delete(id)),
    },
  },
  suppression: {
    make: async ({ universe, tenant, pick }) => {
      const email = addressOf(pick.int(0, 23));
      const scope = pick.of("marketing" as const, "all" as const);
      const made = await universe.value(() => universe.sdk(tenant).suppressions.create({ email, scope, reason: "manual" }));
      if (made) universe.ledger.refuse({ tenant, address: email, scope });
      return known(made, { email });
    },
    verbs: {
      delete: async (u, { tenant, id, also }) => {
        u.ledger.allow(tenant, also["email"] ?? "");
        return u.call(() => u.sdk(tenant).suppressions.delete(id));
      },
    },
  },
  ownId: {
    make: async (making) => {
      const { universe, tenant, label } = making;
      const { contacts } = universe.sdk(tenant);
      const externalId = `crm-${label}`;
      const made = await universe.value(() => contacts.upsert({ ...person(making), externalId }));
      return known(made, { externalId });
    },
    verbs: {
      // The person stays who they are under another address.
      edit: async (u, { tenant, id, also }, pick) => {
        const { contacts } = u.sdk(tenant);
        const externalId = also["externalId"] ?? "";
        const moved = await u.value(() => contacts.update(externalId, { email: addressOf(pick.int(61, 80)) }));
        if (moved && moved.id !== id) u.ledger.note("follows", `The person ${externalId} has another id under another address.`);
        return moved !== null;
      },
      delete: (u, { tenant, id, also }) => deleteContact(u, tenant, { id, named: also["externalId"] ?? "" }),
    },
  },
  trackedBatch: {
    make: async ({ universe, tenant, pick, label }) => {
      const events = Array.from({ length: pick.int(2, 12) }, (_, i) => ({
        ...{
          id: `${label}-${i}`,
          name: pick.of("purchase", "login"),
          contact: addressOf(pick.int(0, 45)),
          value: pick.int(1, 90),
          currency: "EUR",
          properties: { batch: `${label}-${i}` },
        },
        ...(pick.oneIn(2) && { at: new Date(universe.now() - pick.int(0, 20) * 86_400_000).toISOString() }),
      }));
      const batch = { events, createContacts: pick.oneIn(2) };
      const first = await universe.value(() => universe.sdk(tenant).events.trackBatch(batch));
      if (!first) return null;
      const repeated = await universe.call(() => universe.sdk(tenant).events.trackBatch(batch));
      if ("refused" in repeated) universe.ledger.note("once", `Tracking ${label} once more is refused: ${repeated.refused}.`);
      const again = "value" in repeated ? repeated.value : null;
      // A person who was unknown may be known meanwhile.
      const twice = (again?.results ?? []).filter((result, i) => result === "tracked" && first.results[i] !== "failed").length;
      if (twice > 0) universe.ledger.note("once", `${twice} events of ${label} were tracked twice.`);
      return { id: label, also: {} };
    },
    verbs: {},
  },
  reader: {
    make: async ({ universe, tenant, pick }) => {
      const name = pick.of("purchase", "login");
      const event = {
        name,
        contact: addressOf(pick.int(0, 12)),
        value: pick.int(1, 90),
        currency: "EUR",
        properties: { shop: MARKS[tenant] },
      };
      const tracked = await universe.value(() => universe.sdk(tenant).events.track(event));
      return tracked && { id: "reader", also: { address: event.contact } };
    },
    verbs: {},
  },
} satisfies Record<string, Noun>;
