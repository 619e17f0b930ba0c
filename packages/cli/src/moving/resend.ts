import { usageError } from "../runtime/errors.ts";
import type { Session } from "../types.ts";
import { convert, makeSlug } from "./placeholders.ts";
import { Service } from "./service.ts";
import type { MovingSource, SourceList, SourcePerson, SourceSuppression, SourceTemplate } from "./source.ts";

const PAGE = 100;

interface Listing<T> {
  readonly data: readonly T[];
  readonly has_more?: boolean;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Topic extends Named {
  readonly description?: string | null;
  readonly visibility?: string;
}

interface ResendContact {
  readonly id: string;
  readonly email: string;
  readonly first_name?: string | null;
  readonly last_name?: string | null;
  readonly unsubscribed: boolean;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

interface ResendTemplate extends Named {
  readonly alias?: string | null;
  readonly from?: string | null;
  readonly subject?: string | null;
  readonly reply_to?: readonly string[] | null;
  readonly html?: string | null;
  readonly text?: string | null;
  readonly variables?: readonly { key: string; type: string; fallback_value?: unknown }[] | null;
}

/** An account at Resend, by the key in RESEND_API_KEY. Throws CliError. */
export function openResend(session: Session, url: URL): MovingSource {
  const key = session.host.env["RESEND_API_KEY"];
  if (!key) throw usageError("Set RESEND_API_KEY to a key of Resend with full access.");
  if (key.startsWith("ms_") || url.origin === new URL(session.settings().url).origin)
    throw usageError("RESEND_API_KEY or --from names this server, not Resend.", {
      hint: "mailsvc dev sets these variables for programs that it starts. Run the command outside of it.",
    });
  return new Resend(new Service(session, { name: "Resend", base: url, headers: { Authorization: `Bearer ${key}` } }));
}

class Resend implements MovingSource {
  readonly title = "Resend";
  readonly #service: Service;
  #segments: readonly Named[] = [];
  #hasTopics = false;

  constructor(service: Service) {
    this.#service = service;
  }

  remarks(): readonly string[] {
    return [];
  }

  /** Segments, and topics, in which people are who opted in. */
  async lists(): Promise<readonly SourceList[]> {
    this.#segments = await this.#all<Named>("/segments");
    const topics = await this.#all<Topic>("/topics");
    this.#hasTopics = topics.length > 0;
    return [
      ...this.#segments.map(({ id, name }) => ({ key: id, name, description: null, public: false })),
      ...topics.map(({ id, name, description, visibility }) => ({
        key: id,
        name,
        description: description || null,
        public: visibility !== "private",
      })),
    ];
  }

  async *suppressions(): AsyncGenerator<readonly SourceSuppression[]> {
    for await (const some of this.#pages<{ id: string; email: string; origin: string }>("/suppressions"))
      yield some.map(({ id, email, origin }) => ({
        at: `suppression ${id}`,
        email,
        reason: origin === "bounce" || origin === "complaint" ? origin : "manual",
        note: "Resend",
      }));
  }

  async *people(): AsyncGenerator<readonly SourcePerson[]> {
    const segmentsOf = await this.#readSegments();
    for await (const some of this.#pages<ResendContact>("/contacts")) {
      const people: SourcePerson[] = [];
      for (const contact of some) people.push(await this.#toPerson(contact, segmentsOf.get(contact.id) ?? []));
      yield people;
    }
  }

  /** The segments of each contact: asked by segment, which takes fewer requests than by contact. */
  async #readSegments(): Promise<ReadonlyMap<string, readonly string[]>> {
    const segments = new Map<string, string[]>();
    for (const { id } of this.#segments)
      for await (const some of this.#pages<ResendContact>("/contacts", { segment_id: id }))
        for (const contact of some) segments.set(contact.id, [...(segments.get(contact.id) ?? []), id]);
    return segments;
  }

  async #toPerson(contact: ResendContact, segments: readonly string[]): Promise<SourcePerson> {
    const path = `/contacts/${encodeURIComponent(contact.id)}`;
    // Lists of contacts leave the properties out.
    const { properties = contact.properties } = await this.#service.get<ResendContact>(path);
    const topics = this.#hasTopics ? await this.#all<Named & { subscription: string }>(`${path}/topics`) : [];
    return {
      at: `contact ${contact.id}`,
      email: contact.email,
      consent: contact.unsubscribed ? "refused" : "agreed",
      fields: {
        ...(contact.first_name && { firstName: contact.first_name }),
        ...(contact.last_name && { lastName: contact.last_name }),
        ...(properties && Object.keys(properties).length > 0 && { customFields: readProperties(properties) }),
      },
      suppression: null,
      joins: [...segments, ...topics.filter((topic) => topic.subscription === "opt_in").map(({ id }) => id)],
      left: topics.filter((topic) => topic.subscription === "opt_out").map(({ id }) => id),
      fault: null,
    };
  }

  async *templates(): AsyncGenerator<SourceTemplate> {
    for await (const some of this.#pages<Named>("/templates"))
      for (const { id } of some) yield toTemplate(await this.#service.get<ResendTemplate>(`/templates/${encodeURIComponent(id)}`));
  }

  async #all<T extends { readonly id: string }>(path: string): Promise<T[]> {
    const all: T[] = [];
    for await (const some of this.#pages<T>(path)) all.push(...some);
    return all;
  }

  async *#pages<T extends { readonly id: string }>(
    path: string,
    query: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<readonly T[]> {
    for (let after: string | undefined; ; ) {
      const { data, has_more: more } = await this.#service.get<Listing<T>>(path, { limit: PAGE, ...query, ...(after && { after }) });
      if (data.length > 0) yield data;
      const last = data.at(-1)?.id;
      if (more !== true || last === undefined || last === after) return;
      after = last;
    }
  }
}

/** Properties are values, or values with their types. */
function readProperties(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      name,
      typeof value === "object" && value !== null && "value" in value ? (value as { value: unknown }).value : value,
    ]),
  );
}

const TYPES: Readonly<Record<string, string>> = { list: "array" };
const VARIABLE = /\{\{\{?(.*?)\}?\}\}/gs;

function toTemplate({ id, name, alias, from, subject, reply_to: replyTo, html, text, variables }: ResendTemplate): SourceTemplate {
  const write = (inside: string): string | null => (/^[A-Za-z_]\w*$/.test(inside) ? `{{${inside}}}` : null);
  const sources = Object.entries({ html, text, subject }).flatMap(([field, source]) =>
    source ? [{ field, ...convert(source, VARIABLE, write) }] : [],
  );
  const obstacle = sources.find((source) => source.obstacle !== null)?.obstacle;
  const declared = (variables ?? []).map(({ key, type, fallback_value: value }) => ({
    name: key,
    type: TYPES[type] ?? type,
    ...(value === undefined || value === null ? {} : { default: value }),
  }));
  return {
    at: `template ${id}`,
    name,
    slug: makeSlug(alias || name, id),
    type: "transactional",
    fields: {
      ...Object.fromEntries(sources.map((source) => [source.field, source.text])),
      ...(from && { from }),
      ...(replyTo && replyTo.length > 0 && { replyTo }),
      ...(declared.length > 0 && { variables: declared }),
    },
    obstacle: obstacle === undefined || obstacle === null ? null : `${obstacle} has no counterpart here.`,
  };
}
