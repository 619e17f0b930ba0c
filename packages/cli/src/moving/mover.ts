import {
  addressKey,
  type ContactImport,
  contract,
  type ListAddition,
  type ListRemoval,
  type Page,
  type SuppressionImport,
  type Template,
} from "@mailsvc/sdk/contract";
import { cancelledError, hasStatus, toFailure } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";
import { loadDepartures } from "./departures.ts";
import { findLists, type TargetLists } from "./lists.ts";
import type { MovingSource, SourcePerson, SourceSuppression, SourceTemplate } from "./source.ts";
import type { Tally } from "./tally.ts";

export interface MoveOptions {
  readonly dryRun: boolean;
  /** Kinds that are left where they are. */
  readonly skipTemplates: boolean;
}

// People in one request: their custom fields may have 16 kB each.
const BATCH = 500;

// Effectively unlimited: --timeout ends the retries.
const RETRIES = 100;

/**
 * Moves what a source has, part by part: lists, suppressions, then people with their memberships, then templates. Nothing is remembered
 * between runs: each step leaves what is there already, so that a move which was stopped is repeated from the start.
 */
export class Mover {
  readonly #session: Session;
  readonly #source: MovingSource;
  readonly #tally: Tally;
  readonly #options: MoveOptions;

  constructor(session: Session, source: MovingSource, tally: Tally, options: MoveOptions) {
    this.#session = session;
    this.#source = source;
    this.#tally = tally;
    this.#options = options;
  }

  /** Throws CliError, also when the user stops it: between two requests, so that each row read is moved or counted as open. */
  async run(tell: (text: string) => void): Promise<void> {
    const { dryRun, skipTemplates } = this.#options;
    const lists = await findLists(this.#session, { title: this.#source.title, lists: await this.#source.lists() }, this.#tally, dryRun);
    const departed = await loadDepartures(this.#session, lists);
    for await (const rows of this.#source.suppressions()) {
      this.#tally.read("suppressions", rows.length);
      for (const some of inBatches(rows)) await this.#suppress(some);
      tell(`${this.#tally.sums.suppressions.read} suppressions`);
    }
    let held: SourcePerson[] = [];
    const flush = async (): Promise<void> => {
      for (const some of inBatches(held)) await this.#movePeople(some, lists, departed);
      held = [];
      tell(`${this.#tally.sums.people.read} people`);
    };
    for await (const some of this.#source.people()) {
      this.#tally.read("people", some.length);
      held.push(...some);
      if (held.length >= BATCH) await flush();
    }
    await flush();
    if (!skipTemplates) await this.#moveTemplates();
  }

  /** Sends a request that changes something; Ctrl-C ends the program before it or after it. */
  async #write<T>(call: Parameters<Session["send"]>[0]): Promise<T> {
    if (this.#session.signal.aborted) throw cancelledError();
    return (await this.#session.send({ ...call, retries: RETRIES, untilDone: true })).data as T;
  }

  async #suppress(rows: readonly SourceSuppression[]): Promise<void> {
    const entries = rows.map(({ email, reason, note }) => ({ email, reason, scope: "all", ...(note === undefined ? {} : { note }) }));
    const body = { entries, dryRun: this.#options.dryRun };
    const { created, widened, unchanged, failed } = await this.#write<SuppressionImport>(
      buildCall(contract.suppressions.import, [], {}, body),
    );
    this.#tally.count("suppressions", "added", created);
    this.#tally.count("suppressions", "changed", widened);
    this.#tally.count("suppressions", "unchanged", unchanged);
    for (const { index, message } of failed) {
      const row = rows[index] as SourceSuppression;
      this.#tally.refuse("suppressions", "failed", { at: row.at, name: row.email }, message);
    }
  }

  /** Suppresses first, so that nobody is mailable for a moment who must not be. */
  async #movePeople(rows: readonly SourcePerson[], lists: TargetLists, departed: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
    const readable = rows.filter((row) => row.fault === null);
    for (const { at, email, fault } of rows) if (fault !== null) this.#tally.refuse("people", "failed", { at, name: email }, fault);
    const suppressed = readable.flatMap(({ at, email, suppression }) => (suppression ? [{ at, email, ...suppression }] : []));
    if (suppressed.length > 0) {
      this.#tally.read("suppressions", suppressed.length);
      await this.#suppress(suppressed);
    }
    if (readable.length === 0) return;
    const moved = await this.#importPeople(readable);
    for (const person of readable) this.#tally.read("memberships", person.joins.length + person.left.length);
    const taken = new Set(moved);
    for (const person of readable)
      if (!taken.has(person))
        for (const _ of [...person.joins, ...person.left])
          this.#tally.refuse("memberships", "leftOut", { at: person.at, name: person.email }, "The person was not moved.");
    await this.#leave(moved, lists);
    await this.#join(moved, lists, departed);
  }

  /** Creates or updates people; returns those that the server has taken. */
  async #importPeople(rows: readonly SourcePerson[]): Promise<readonly SourcePerson[]> {
    const body = {
      // No status is sent for a person who agreed there: a new contact is subscribed, and one that is known keeps what it said here.
      rows: rows.map(({ email, fields, consent }) => ({
        ...fields,
        email,
        ...(consent === "refused" && { status: "UNSUBSCRIBED" }),
        ...(consent === "unknown" && { initialStatus: "UNSUBSCRIBED" }),
      })),
      dryRun: this.#options.dryRun,
    };
    const { created, updated, unchanged, results, errors } = await this.#write<ContactImport>(
      buildCall(contract.contacts.import, [], {}, body),
    );
    this.#tally.count("people", "added", created);
    this.#tally.count("people", "changed", updated);
    this.#tally.count("people", "unchanged", unchanged);
    const faults = new Map(errors.map((error) => [error.index, error]));
    return rows.filter((row, index) => {
      if (results[index] !== "failed") return true;
      const fault = faults.get(index);
      this.#tally.refuse("people", "failed", { at: row.at, name: row.email }, fault ? `${fault.path}: ${fault.message}` : "Refused.");
      return false;
    });
  }

  /** Ends memberships of people who left a list at the source. */
  async #leave(people: readonly SourcePerson[], lists: TargetLists): Promise<void> {
    for (const [key, some] of groupBy(people, ({ left }) => left)) {
      const list = lists.get(key);
      if (list?.id === undefined || list.isNew || this.#options.dryRun) {
        this.#tally.count("memberships", "unchanged", some.length);
        continue;
      }
      const body = { contacts: some.map(({ email }) => email), startAutomations: false };
      const { removed } = await this.#write<ListRemoval>(buildCall(contract.lists.remove, [list.id], {}, body));
      this.#tally.count("memberships", "changed", removed);
      this.#tally.count("memberships", "unchanged", some.length - removed);
    }
  }

  async #join(people: readonly SourcePerson[], lists: TargetLists, departed: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
    for (const [key, some] of groupBy(people, ({ joins }) => joins)) {
      const list = lists.get(key);
      const wanted = some.filter((person) => {
        const reason = this.#explainNoJoin(person, list, departed);
        if (reason !== null) this.#tally.refuse("memberships", "leftOut", { at: person.at, name: person.email }, reason);
        return reason === null;
      });
      if (wanted.length === 0 || list === undefined) continue;
      if (this.#options.dryRun || list.id === undefined) {
        await this.#foreseeJoins(wanted, list.id);
        continue;
      }
      const body = { contacts: wanted.map(({ email }) => email), startAutomations: false };
      const { added, pending, unchanged, failed } = await this.#write<ListAddition>(buildCall(contract.lists.add, [list.id], {}, body));
      this.#tally.count("memberships", "added", added + pending);
      this.#tally.count("memberships", "unchanged", unchanged);
      for (const { index, message } of failed) {
        const person = wanted[index] as SourcePerson;
        this.#tally.refuse("memberships", "failed", { at: person.at, name: person.email }, message);
      }
    }
  }

  #explainNoJoin(
    person: SourcePerson,
    list: { readonly id: string | undefined } | undefined,
    departed: ReadonlyMap<string, ReadonlySet<string>>,
  ): string | null {
    if (list === undefined) return "The list is not one of the source's lists.";
    if (person.consent !== "agreed") return "The person has not agreed to get mail.";
    if (list.id !== undefined && departed.get(list.id)?.has(readKey(person.email))) return "The person left this list here.";
    return null;
  }

  async #foreseeJoins(people: readonly SourcePerson[], list: string | undefined): Promise<void> {
    const distinct = new Set(people.map(({ email }) => readKey(email))).size;
    const added = list === undefined ? distinct : await this.#askJoins(people, list);
    this.#tally.count("memberships", "added", added);
    this.#tally.count("memberships", "unchanged", people.length - added);
  }

  async #askJoins(people: readonly SourcePerson[], list: string): Promise<number> {
    const body = { rows: people.map(({ email }) => ({ email })), list, dryRun: true };
    return (await this.#write<ContactImport>(buildCall(contract.contacts.import, [], {}, body))).joined;
  }

  async #moveTemplates(): Promise<void> {
    const known = await this.#listSlugs();
    for await (const template of this.#source.templates()) {
      this.#tally.read("templates");
      const place = { at: template.at, name: template.name };
      if (template.obstacle !== null) this.#tally.refuse("templates", "leftOut", place, template.obstacle);
      else if (known.has(template.slug)) this.#tally.count("templates", "unchanged");
      else await this.#createTemplate(template, known);
    }
  }

  async #createTemplate({ at, name, slug, type, fields }: SourceTemplate, known: Set<string>): Promise<void> {
    known.add(slug);
    if (this.#options.dryRun) return this.#tally.count("templates", "added");
    try {
      await this.#write(buildCall(contract.templates.create, [], {}, { ...fields, name, slug, type }));
      this.#tally.count("templates", "added");
    } catch (error) {
      if (!hasStatus(error, 400) && !hasStatus(error, 409) && !hasStatus(error, 422)) throw error;
      const { message, details = [] } = toFailure(error);
      this.#tally.refuse("templates", "failed", { at, name }, details[0] ? `${details[0].path}: ${details[0].message}` : message);
    }
  }

  async #listSlugs(): Promise<Set<string>> {
    const slugs = new Set<string>();
    for (let cursor: string | null = null; ; ) {
      const query = { limit: 100, ...(cursor === null ? {} : { cursor }) };
      const { data, pagination } = (await this.#session.send(buildCall(contract.templates.list, [], query, undefined)))
        .data as Page<Template>;
      for (const { slug } of data) slugs.add(slug);
      cursor = pagination.nextCursor ?? null;
      if (cursor === null) return slugs;
    }
  }
}

/** The key of an address, or the text itself if it is none. */
function readKey(email: string): string {
  try {
    return addressKey(email);
  } catch {
    return email.toLowerCase();
  }
}

function inBatches<T>(rows: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / BATCH) }, (_, i) => rows.slice(i * BATCH, (i + 1) * BATCH));
}

function groupBy(people: readonly SourcePerson[], keysOf: (person: SourcePerson) => readonly string[]): Map<string, SourcePerson[]> {
  const groups = new Map<string, SourcePerson[]>();
  for (const person of people)
    for (const key of keysOf(person)) {
      const group = groups.get(key) ?? [];
      groups.set(key, [...group, person]);
    }
  return groups;
}
