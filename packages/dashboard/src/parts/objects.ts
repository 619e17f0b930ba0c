import type { Key, Page, Permission } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { RequestError } from "../api/request-error.ts";
import { may, mayOperate } from "../api/session.ts";
import { readAll } from "./page-reader.ts";

/** Name of an object. The path is given where the id alone does not say it. */
interface Named {
  readonly name: string;
  readonly path: string;
}

/** A kind of objects that have pages. */
export interface Kind {
  /** Word for one such object. */
  readonly noun: string;
  /** Path of its pages, or of the page that shows all of them. */
  readonly page: string;
  /** True for a kind without a page for each object. */
  readonly listed?: true;
  readonly permission: Permission | "operator";
  /** Name of the object with an id; `of` is the object that it belongs to. Throws RequestError. */
  readonly load: (id: string, signal: AbortSignal, of: string) => Promise<string | Named>;
}

/** Name of mail without a subject. */
export const NO_SUBJECT = "(no subject)";

/** The kinds of objects that have pages, by the prefixes of their ids. */
const KINDS = {
  con: {
    noun: "contact",
    page: "contacts",
    permission: "contacts:read",
    load: async (id, signal) => (await api.contacts.get(id, { signal })).email,
  },
  em: {
    noun: "email",
    page: "activity",
    permission: "transactional:read",
    load: async (id, signal) => (await api.emails.get(id, { signal })).subject || NO_SUBJECT,
  },
  cmp: {
    noun: "campaign",
    page: "campaigns",
    permission: "campaigns:read",
    load: async (id, signal) => (await api.campaigns.get(id, { signal })).name,
  },
  aut: {
    noun: "automation",
    page: "automations",
    permission: "automations:read",
    load: async (id, signal) => (await api.automations.get(id, {}, { signal })).name,
  },
  tpl: {
    noun: "template",
    page: "templates",
    permission: "templates:read",
    load: async (id, signal) => (await api.templates.get(id, {}, { signal })).name,
  },
  list: {
    noun: "list",
    page: "lists",
    permission: "lists:read",
    load: async (id, signal) => (await api.lists.get(id, { signal })).name,
  },
  seg: {
    noun: "segment",
    page: "segments",
    permission: "segments:read",
    load: async (id, signal) => (await api.segments.get(id, { signal })).name,
  },
  act: {
    noun: "agent",
    page: "agents",
    permission: "marketplace:read",
    load: async (id, signal) => (await api.activations.get(id, { signal })).agentName,
  },
  whk: {
    noun: "webhook",
    page: "webhooks",
    permission: "webhooks:read",
    load: async (id, signal) => {
      const { description, url } = await api.webhooks.get(id, { signal });
      return description ?? url;
    },
  },
  rcv: {
    noun: "received mail",
    page: "received",
    permission: "received:read",
    load: async (id, signal) => (await api.received.get(id, { signal })).subject || NO_SUBJECT,
  },
  snd: {
    noun: "sender",
    page: "senders",
    permission: "senders:read",
    load: async (id, signal) => (await api.senders.get(id, { signal })).value,
  },
  sup: {
    noun: "suppression",
    page: "suppressions",
    permission: "suppressions:read",
    load: async (id, signal) => (await api.suppressions.get(id, { signal })).email,
  },
  lp: {
    noun: "page",
    page: "landing-pages",
    permission: "marketplace:read",
    load: async (id, signal) => {
      const { title, createdBy } = await api.landingPages.get(id, { signal });
      // Forms of the brand are pages as well.
      return createdBy.agent ? title : { name: title, path: `/forms/${id}` };
    },
  },
  lm: {
    noun: "lead magnet",
    page: "lead-magnets",
    permission: "marketplace:read",
    load: async (id, signal) => (await api.leadMagnets.get(id, { signal })).title,
  },
  ast: {
    noun: "picture",
    page: "pictures",
    permission: "marketplace:read",
    load: async (id, signal) => (await api.assets.get(id, { signal })).fileName,
  },
  key: {
    noun: "key",
    page: "keys",
    permission: "keys:read",
    load: async (id, signal) => (await findKey(id, signal)).name,
  },
  mbr: {
    noun: "member",
    page: "people",
    listed: true,
    permission: "keys:read",
    load: async (id, signal) => {
      const { name, email } = await findIn((page) => api.members.list(page, { signal }), id);
      return name ?? email;
    },
  },
  ses: {
    noun: "session",
    page: "people?tab=sessions",
    listed: true,
    permission: "keys:read",
    load: async (id, signal) => {
      const { name, email } = await findIn((page) => api.dashboard.sessions(page, { signal }), id);
      return name ?? email ?? "browser";
    },
  },
  ent: {
    noun: "entry",
    page: "automations",
    permission: "automations:read",
    load: async (id, signal, automation) => {
      const { contactId } = await findIn((page) => api.automations.entries(automation, page, { signal }), id);
      const path = `/automations/${automation}/entries/${contactId}?entry=${id}`;
      return { name: may("contacts:read") ? `the way of ${(await api.contacts.get(contactId, { signal })).email}` : "their way", path };
    },
  },
  run: {
    noun: "run",
    page: "agents",
    permission: "marketplace:read",
    load: async (id, signal, activation) => ({
      name: (await api.runs.get(activation, id, { signal })).title ?? id,
      path: `/agents/${activation}/runs/${encodeURIComponent(id)}`,
    }),
  },
  whd: {
    noun: "delivery",
    page: "webhooks",
    permission: "webhooks:read",
    load: async (id, signal, webhook) => ({
      name: (await api.webhooks.delivery(webhook, id, { signal })).type,
      path: `/webhooks/${webhook}/${id}`,
    }),
  },
  ws: {
    noun: "workspace",
    page: "workspaces",
    listed: true,
    permission: "operator",
    load: async (id, signal) => (await findIn((page) => api.workspaces.list(page, { signal }), id)).name,
  },
  evt: {
    noun: "event",
    page: "events",
    permission: "events:read",
    load: async (id, signal) => (await api.events.get(id, { signal })).type,
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** Prefix of the ids of a kind of objects that have pages. */
export type ObjectPrefix = keyof typeof KINDS;

/** Kinds whose objects are found only within the one that they belong to. */
const PARTS: ReadonlySet<string> = new Set<ObjectPrefix>(["ent", "run", "whd"]);

/** A kind of objects; undefined for one without pages, or that the person may not read. */
export function findKind(prefix: string): Kind | undefined {
  const kind: Kind | undefined = Object.hasOwn(KINDS, prefix) ? KINDS[prefix as ObjectPrefix] : undefined;
  if (kind === undefined) return undefined;
  return (kind.permission === "operator" ? mayOperate() : may(kind.permission)) ? kind : undefined;
}

/** Kind of the object that has an id. Agents choose the ids of their runs, so what belongs to an agent is a run. */
export function kindOf(id: string, of?: string): Kind | undefined {
  const prefix = of?.startsWith("act_") ? "run" : id.slice(0, id.indexOf("_"));
  return of === undefined && PARTS.has(prefix) ? undefined : findKind(prefix);
}

/** Path of the page that shows an object, as far as its kind says it. */
export function pathOf({ page, listed }: Kind, id: string): string {
  return listed ? `/${page}` : `/${page}/${id}`;
}

/** Loads an object by name, with the path of its page. Throws RequestError. */
export async function loadNamed(kind: Kind, id: string, signal: AbortSignal, of = ""): Promise<Named> {
  const found = await kind.load(id, signal, of);
  return typeof found === "string" ? { name: found, path: pathOf(kind, id) } : found;
}

/** The key with an id. Throws RequestError. */
export function findKey(id: string, signal: AbortSignal): Promise<Key> {
  return findIn((page) => api.keys.list(page, { signal }), id);
}

/** Looks for an object in a list that has no request for one. Throws RequestError. */
async function findIn<T extends { readonly id: string }>(
  list: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<T>>,
  id: string,
): Promise<T> {
  const found = (await readAll<T>(list)).find((one) => one.id === id);
  if (found) return found;
  throw new RequestError({ code: "not_found", message: "It is not there any more.", status: 404 });
}

/** True for an object that does not exist. */
export function isMissing(cause: unknown): boolean {
  return cause instanceof RequestError && cause.status === 404;
}

/** An id of an object that has a page, within a text: a prefix and 26 characters, or eleven for an event. */
export const OBJECT_ID = new RegExp(`\\b(${Object.keys(KINDS).join("|")})_[0-9a-z]{11}(?:[0-9a-z]{15})?\\b`, "g");
