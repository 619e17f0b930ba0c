import { usageError } from "../runtime/errors.ts";
import type { Session } from "../types.ts";
import { convert, makeSlug, splitName } from "./placeholders.ts";
import { Service } from "./service.ts";
import type { Consent, MovingSource, SourceList, SourcePerson, SourceSuppression, SourceTemplate } from "./source.ts";

// The most that listmonk puts on a page.
const PAGE = 50;

interface Results<T> {
  readonly data: { readonly results: readonly T[] | null; readonly total: number };
}

interface ListmonkList {
  readonly id: number;
  readonly name: string;
  readonly description?: string | null;
  readonly type: string;
  readonly optin: string;
}

interface Membership {
  readonly id: number;
  readonly subscription_status: string;
}

interface Subscriber {
  readonly id: number;
  readonly email: string;
  readonly name?: string | null;
  readonly attribs?: Readonly<Record<string, unknown>> | null;
  readonly status: string;
  readonly lists?: readonly Membership[] | null;
}

interface Bounce {
  readonly id: number;
  readonly type: string;
  readonly email: string;
}

interface ListmonkTemplate {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly subject?: string | null;
  readonly body: string;
}

/** The variables with the name and token of a user of listmonk's API. */
const LISTMONK_VARIABLES = { user: "LISTMONK_API_USER", token: "LISTMONK_API_TOKEN" } as const;

/** A running listmonk. Throws CliError. */
export function openListmonk(session: Session, url: URL): MovingSource {
  const { env } = session.host;
  const user = env[LISTMONK_VARIABLES.user];
  const token = env[LISTMONK_VARIABLES.token];
  if (!user || !token)
    throw usageError(`Set ${LISTMONK_VARIABLES.user} and ${LISTMONK_VARIABLES.token}.`, {
      hint: "listmonk makes them at Admin > Users: a user of the type API, with the permissions in docs/moving/from-listmonk.md.",
    });
  if (url.username !== "" || url.password !== "")
    throw usageError("The address must not have a name and a password: others see them.", {
      hint: `Set ${LISTMONK_VARIABLES.user} and ${LISTMONK_VARIABLES.token}.`,
    });
  const headers = { Authorization: `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}` };
  return new Listmonk(new Service(session, { name: "listmonk", base: url, headers }), url.origin);
}

class Listmonk implements MovingSource {
  readonly title: string;
  readonly #service: Service;
  /** Lists in which people are members only after they have confirmed. */
  readonly #confirmed = new Set<number>();
  readonly #remarks: string[] = [];

  constructor(service: Service, origin: string) {
    this.#service = service;
    this.title = `listmonk at ${origin}`;
  }

  remarks(): readonly string[] {
    return this.#remarks;
  }

  async lists(): Promise<readonly SourceList[]> {
    const lists: SourceList[] = [];
    for await (const some of this.#pages<ListmonkList>("/api/lists", { order_by: "created_at", order: "asc" }))
      for (const { id, name, description, type, optin } of some) {
        if (optin === "double") this.#confirmed.add(id);
        lists.push({ key: String(id), name, description: description || null, public: type === "public" });
      }
    const asking = lists.filter(({ key }) => this.#confirmed.has(Number(key))).map(({ name }) => name);
    if (asking.length > 0)
      this.#remarks.push(
        `Asks for confirmation at listmonk, not here until you turn it on (lists update --double-opt-in): ${asking.join(", ")}.`,
      );
    return lists;
  }

  async *suppressions(): AsyncGenerator<readonly SourceSuppression[]> {
    for await (const some of this.#pages<Bounce>("/api/bounces", { order_by: "created_at", order: "asc" }))
      yield some.flatMap(({ id, type, email }): SourceSuppression[] =>
        type === "hard" || type === "complaint"
          ? [{ at: `bounce ${id}`, email, reason: type === "hard" ? "bounce" : "complaint", note: "listmonk" }]
          : [],
      );
  }

  /** Sorted by their addresses, which are unique: by time, pages would overlap where many were imported at once. */
  async *people(): AsyncGenerator<readonly SourcePerson[]> {
    for await (const some of this.#pages<Subscriber>("/api/subscribers", { order_by: "email", order: "asc" }))
      yield some.map((one) => this.#toPerson(one));
  }

  #toPerson({ id, email, name, attribs, status, lists }: Subscriber): SourcePerson {
    const memberships = lists ?? [];
    const left = memberships.filter((one) => one.subscription_status === "unsubscribed");
    const joins = memberships.filter(
      (one) => one.subscription_status === "confirmed" || (one.subscription_status === "unconfirmed" && !this.#confirmed.has(one.id)),
    );
    return {
      at: `subscriber ${id}`,
      email,
      consent: readConsent(status, joins.length, left.length),
      fields: { ...splitName(name ?? ""), ...(attribs && Object.keys(attribs).length > 0 && { customFields: attribs }) },
      suppression: status === "blocklisted" ? { reason: "manual", note: "Blocklisted at listmonk" } : null,
      joins: joins.map((one) => String(one.id)),
      left: left.map((one) => String(one.id)),
      fault: null,
    };
  }

  async *templates(): AsyncGenerator<SourceTemplate> {
    const { data } = await this.#service.get<{ data: readonly ListmonkTemplate[] | null }>("/api/templates");
    for (const template of data ?? []) yield toTemplate(template);
  }

  async *#pages<T extends { readonly id: number }>(path: string, order: Readonly<Record<string, string>>): AsyncGenerator<readonly T[]> {
    const seen = new Set<number>();
    for (let page = 1, total = 0; ; page += 1) {
      const { data } = await this.#service.get<Results<T>>(path, { page, per_page: PAGE, ...order });
      const results = data.results ?? [];
      total = data.total;
      // Rows that are added meanwhile move others to the next page.
      const fresh = results.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      if (fresh.length > 0) yield fresh;
      if (results.length > 0 && page * PAGE < total) continue;
      if (seen.size < total)
        this.#remarks.push(`${path} has ${total} rows and ${seen.size} were read: it changed meanwhile. Run the command again.`);
      return;
    }
  }
}

/** Whoever left all lists, or is blocked, said no; whoever is on none, or has not confirmed one, never agreed. */
function readConsent(status: string, joined: number, left: number): Consent {
  if (status === "blocklisted") return "refused";
  if (status !== "enabled") return "unknown";
  if (joined > 0) return "agreed";
  return left > 0 ? "refused" : "unknown";
}

const SUBSCRIBER_FIELDS: Readonly<Record<string, string>> = {
  Email: "email",
  FirstName: "firstName",
  LastName: "lastName",
  Name: "firstName",
};

/** The counterpart of an action of Go's templates; null without one. */
function convertAction(inside: string): string | null {
  const action = inside.replace(/^-?\s*|\s*-?$/g, "");
  if (/^template\s+"content"\s+\.$/.test(action)) return "{{{body}}}";
  if (/^TrackView(?:\s+\.)?$/.test(action)) return "";
  if (/^UnsubscribeURL(?:\s+\.)?$/.test(action)) return "{{unsubscribeUrl}}";
  if (/^MessageURL(?:\s+\.)?$/.test(action)) return "{{viewInBrowserUrl}}";
  const link = /^TrackLink\s+"(https?:[^"{}]+)"(?:\s+\.)?$/.exec(action)?.[1];
  if (link !== undefined) return link;
  const [, owner, field = ""] = /^\.(Subscriber(?:\.Attribs)?|Tx\.Data)\.(\w+)$/.exec(action) ?? [];
  if (owner === "Subscriber") return SUBSCRIBER_FIELDS[field] === undefined ? null : `{{${SUBSCRIBER_FIELDS[field]}}}`;
  return owner === undefined ? null : `{{${field}}}`;
}

const ACTION = /\{\{(.*?)\}\}/gs;

function toTemplate({ id, name, type, subject, body }: ListmonkTemplate): SourceTemplate {
  const html = convert(body, ACTION, convertAction);
  const line = convert(subject ?? "", ACTION, convertAction);
  const isLayout = html.text.includes("{{{body}}}");
  const visual = type === "campaign_visual" ? "Templates of the visual editor cannot be moved." : null;
  const obstacle = html.obstacle ?? line.obstacle;
  return {
    at: `template ${id}`,
    name,
    slug: makeSlug(name, String(id)),
    type: isLayout ? "layout" : type === "tx" ? "transactional" : "marketing",
    fields: { html: html.text, ...(line.text === "" || isLayout ? {} : { subject: line.text }) },
    obstacle: visual ?? (obstacle === null ? null : `${obstacle} has no counterpart here.`),
  };
}
