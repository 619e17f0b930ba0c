import type { Permission } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";

/** A kind of objects that have pages. */
export interface Kind {
  /** Word for one such object. */
  readonly noun: string;
  /** Path of its pages. */
  readonly page: string;
  readonly permission: Permission;
  /** Name of the object with an id. Throws RequestError. */
  readonly load: (id: string, signal: AbortSignal) => Promise<string>;
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
    noun: "form",
    page: "forms",
    permission: "lists:read",
    load: async (id, signal) => (await api.forms.get(id, { signal })).name,
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

/** A kind of objects; undefined for one without pages, or that the person may not read. */
export function findKind(prefix: string): Kind | undefined {
  const kind = Object.hasOwn(KINDS, prefix) ? KINDS[prefix as ObjectPrefix] : undefined;
  return kind && may(kind.permission) ? kind : undefined;
}

/** Kind of the object that has an id. */
export function kindOf(id: string): Kind | undefined {
  return findKind(id.slice(0, id.indexOf("_")));
}

/** An id of an object that has a page, within a text. */
export const OBJECT_ID = new RegExp(`\\b(${Object.keys(KINDS).join("|")})_[0-9a-z]{26}\\b`, "g");
