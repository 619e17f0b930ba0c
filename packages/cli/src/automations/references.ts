import {
  type AutomationDefinition,
  type AutomationOccurrence,
  type AutomationStep,
  type AutomationTrigger,
  isReferenceField,
  REFERENCES,
  type ReferenceField,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import type { Session } from "../types.ts";

/** Objects of one kind in the workspace: ids by names, and names by ids. A name of several objects is left out. */
interface Names {
  readonly ids: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
}

type Path = readonly PropertyKey[];
type Mapping = (field: ReferenceField, value: string, path: Path) => string;

/** The parts of an automation that refer to something. */
interface Referring extends AutomationDefinition {
  readonly trigger: AutomationTrigger;
  readonly goal: AutomationOccurrence | null;
}

/** A name that nothing has. */
interface UnknownName {
  readonly path: Path;
  readonly message: string;
}

const ID = /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/;
// A reference takes this many characters.
const MAX_NAME = 100;

/**
 * Translates between ids, which the server uses, and names, which files use, so that a file means the same in every workspace: templates
 * have slugs, lists and segments names, webhooks URLs. Objects without a name keep their id. Loads the workspace's objects on first use.
 */
export class References {
  readonly #session: Session;
  readonly #loaded = new Map<ReferenceField, Promise<Names>>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** The definition with names. */
  async toNames<D extends Referring>(definition: D): Promise<D> {
    const known = await this.#load(definition);
    return mapReferences(definition, (field, value) => known.get(field)?.names.get(value) ?? value);
  }

  /** The definition with ids, and the names that nothing has. */
  async toIds<D extends Referring>(definition: D): Promise<{ definition: D; unknown: UnknownName[] }> {
    const known = await this.#load(definition);
    const unknown: UnknownName[] = [];
    const mapped = mapReferences(definition, (field, value, path) => {
      const id = ID.test(value) ? value : known.get(field)?.ids.get(value);
      const { label, by } = REFERENCES[field];
      if (id === undefined) unknown.push({ path, message: `No ${label} has the ${by} "${value}", or several have it.` });
      return id ?? value;
    });
    return { definition: mapped, unknown };
  }

  async #load(definition: Referring): Promise<Map<ReferenceField, Names>> {
    const used = new Set<ReferenceField>();
    mapReferences(definition, (field, value) => {
      used.add(field);
      return value;
    });
    for (const field of used) if (!this.#loaded.has(field)) this.#loaded.set(field, readNames(this.#session, field));
    return new Map(await Promise.all([...used].map(async (field) => [field, await (this.#loaded.get(field) as Promise<Names>)] as const)));
  }
}

/** Replaces every reference of a definition: in triggers, goals, steps, and the lists in rules. */
function mapReferences<D extends Referring>(definition: D, map: Mapping): D {
  const { trigger, goal, steps } = definition;
  return {
    ...definition,
    trigger: mapFields(trigger, ["trigger"], map),
    goal: goal && mapFields(goal, ["goal"], map),
    steps: steps.map((step, i) => mapFields(step, ["steps", i], map)),
  };
}

/** Replaces the references among the fields of a step or occurrence; free data, such as custom fields, is left alone. */
function mapFields<T extends AutomationStep | AutomationTrigger>(given: T, path: Path, map: Mapping): T {
  const mapped = Object.entries(given).map(([key, value]): [string, unknown] => {
    const at = [...path, key];
    if (isReferenceField(key)) return [key, map(key, String(value), at)];
    if (key === "event") return [key, mapFields(value as AutomationOccurrence, at, map)];
    return [key, key === "rule" ? mapRule(value as SegmentRule, at, map) : value];
  });
  return Object.fromEntries(mapped) as T;
}

function mapRule(rule: SegmentRule, path: Path, map: Mapping): SegmentRule {
  if ("all" in rule) return { all: rule.all.map((inner, i) => mapRule(inner, [...path, "all", i], map)) };
  if ("any" in rule) return { any: rule.any.map((inner, i) => mapRule(inner, [...path, "any", i], map)) };
  if ("not" in rule) return { not: mapRule(rule.not, [...path, "not"], map) };
  if (rule.field !== "lists") return rule;
  const at = [...path, "value"];
  if (typeof rule.value === "string") return { ...rule, value: map("listId", rule.value, at) };
  return Array.isArray(rule.value) ? { ...rule, value: rule.value.map((one, i) => map("listId", String(one), [...at, i])) } : rule;
}

async function readNames(session: Session, field: ReferenceField): Promise<Names> {
  const rows = await listNamed(session, field);
  const byName = Map.groupBy(rows, ({ name }) => name);
  const unique = rows.filter(({ name }) => byName.get(name)?.length === 1 && name.length <= MAX_NAME && !ID.test(name));
  return { ids: new Map(unique.map(({ id, name }) => [name, id])), names: new Map(unique.map(({ id, name }) => [id, name])) };
}

async function listNamed(session: Session, field: ReferenceField): Promise<{ id: string; name: string }[]> {
  const client = await session.client();
  const all = { limit: 100 };
  switch (field) {
    case "templateId":
      return (await client.templates.list(all).toArray()).map(({ id, slug }) => ({ id, name: slug }));
    case "listId":
      return client.lists.list(all).toArray();
    case "segmentId":
      return client.segments.list(all).toArray();
    case "webhookId":
      return (await client.webhooks.list(all).toArray()).map(({ id, url }) => ({ id, name: url }));
  }
}
