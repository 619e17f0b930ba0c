/** @jsxImportSource preact */
import type { Permission } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { toHref } from "../router.tsx";
import { useResource } from "./resource.ts";

interface Kind {
  /** Word for one such object. */
  readonly noun: string;
  /** Path of its pages. */
  readonly page: string;
  readonly permission: Permission;
  readonly load: (id: string, signal: AbortSignal) => Promise<string>;
}

/** The kinds of objects that have pages, by the prefixes of their ids. */
const KINDS: Readonly<Record<string, Kind>> = {
  em: {
    noun: "email",
    page: "activity",
    permission: "transactional:read",
    load: async (id, signal) => (await api.emails.get(id, { signal })).subject || "(no subject)",
  },
  con: {
    noun: "contact",
    page: "contacts",
    permission: "contacts:read",
    load: async (id, signal) => (await api.contacts.get(id, { signal })).email,
  },
  list: { noun: "list", page: "lists", permission: "lists:read", load: async (id, signal) => (await api.lists.get(id, { signal })).name },
  seg: {
    noun: "segment",
    page: "segments",
    permission: "segments:read",
    load: async (id, signal) => (await api.segments.get(id, { signal })).name,
  },
  tpl: {
    noun: "template",
    page: "templates",
    permission: "templates:read",
    load: async (id, signal) => (await api.templates.get(id, {}, { signal })).name,
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
  whk: {
    noun: "webhook",
    page: "webhooks",
    permission: "webhooks:read",
    load: async (id, signal) => {
      const { description, url } = await api.webhooks.get(id, { signal });
      return description ?? url;
    },
  },
  act: {
    noun: "agent",
    page: "agents",
    permission: "marketplace:read",
    load: async (id, signal) => (await api.activations.get(id, { signal })).agentName,
  },
  rcv: {
    noun: "received mail",
    page: "received",
    permission: "received:read",
    load: async (id, signal) => (await api.received.get(id, { signal })).subject || "(no subject)",
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
  evt: {
    noun: "event",
    page: "events",
    permission: "events:read",
    load: async (id, signal) => (await api.events.get(id, { signal })).type,
  },
};

/** An id of an object that has a page, within a text. */
export const OBJECT_ID = new RegExp(`\\b(${Object.keys(KINDS).join("|")})_[0-9a-z]{26}\\b`, "g");

interface Props {
  readonly id: string;
  /** Its name, where that is known; else it is loaded. */
  readonly name?: string | undefined;
}

/** Link to an object, by its name. Shows the plain id if the object has no pages, or the person may not read it. */
export function ObjectLink({ id, name }: Props) {
  const kind = KINDS[id.slice(0, id.indexOf("_"))];
  if (kind === undefined || !may(kind.permission)) return <code>{id}</code>;
  return name === undefined ? <LoadedLink id={id} kind={kind} /> : <a href={toHref(`/${kind.page}/${id}`)}>{name}</a>;
}

function LoadedLink({ id, kind }: { readonly id: string; readonly kind: Kind }) {
  const { data, error } = useResource((signal) => kind.load(id, signal), [id]);
  if (error?.status === 404)
    return (
      <>
        deleted {kind.noun} <code>{id}</code>
      </>
    );
  return <a href={toHref(`/${kind.page}/${id}`)}>{data ?? id}</a>;
}
