import type { Permission } from "@mailsvc/sdk/contract";
import { api } from "./api/client.ts";
import type { Route } from "./router.tsx";

/** An entry of the navigation. It is shown to people whose role may read what it shows. */
interface Entry {
  readonly name: string;
  readonly path: string;
  readonly permission: Permission | "operator";
  /** Left out for people with this permission, who have a fuller page. */
  readonly unless?: Permission;
  /** A page outside of its path that belongs to it. */
  readonly also?: string;
  /** Number of things there that wait for an answer, and the word for them. */
  readonly count?: { readonly load: (signal: AbortSignal) => Promise<number>; readonly what: string };
  /** Only in dev mode. */
  readonly dev?: true;
}

interface Group {
  readonly group: string;
  readonly entries: readonly Entry[];
  /** Only where agents are offered. */
  readonly marketplace?: true;
}

/** The navigation: groups of entries, in the order in which they are shown. */
export const NAVIGATION: readonly Group[] = [
  {
    group: "Mail",
    entries: [
      { name: "Overview", path: "/overview", permission: "events:read" },
      { name: "Activity", path: "/activity", permission: "transactional:read" },
      { name: "Inbox", path: "/inbox", permission: "transactional:read" },
      { name: "Mail states", path: "/mail-states", permission: "mail_states:read", unless: "transactional:read" },
      { name: "Received", path: "/received", permission: "received:read" },
    ],
  },
  {
    group: "Marketing",
    entries: [
      { name: "Campaigns", path: "/campaigns", permission: "campaigns:read" },
      { name: "Automations", path: "/automations", permission: "automations:read" },
    ],
  },
  {
    group: "Audience",
    entries: [
      { name: "Contacts", path: "/contacts", permission: "contacts:read" },
      { name: "Lists", path: "/lists", permission: "lists:read" },
      { name: "Forms", path: "/forms", permission: "lists:read" },
      { name: "Segments", path: "/segments", permission: "segments:read" },
      { name: "Suppressions", path: "/suppressions", permission: "suppressions:read" },
    ],
  },
  {
    group: "Content",
    entries: [
      { name: "Templates", path: "/templates", permission: "templates:read" },
      { name: "Pictures", path: "/pictures", permission: "marketplace:read" },
      { name: "Brand", path: "/brand", permission: "brand:read" },
    ],
  },
  {
    group: "Agents",
    marketplace: true,
    entries: [
      {
        name: "Approvals",
        path: "/approvals",
        permission: "marketplace:read",
        count: { load: async (signal) => (await api.approvals.list({ limit: 1 }, { signal })).pagination.total, what: "open" },
      },
      { name: "My agents", path: "/agents", permission: "marketplace:read" },
      { name: "Catalog", path: "/catalog", permission: "marketplace:read" },
      { name: "Landing pages", path: "/landing-pages", permission: "marketplace:read" },
      { name: "Lead magnets", path: "/lead-magnets", permission: "marketplace:read" },
      { name: "Credits", path: "/credits", permission: "marketplace:read" },
      { name: "Plan", path: "/plan", permission: "billing:read" },
      { name: "My listings", path: "/listings", also: "/new-listing", permission: "listings:read" },
    ],
  },
  {
    group: "Developers",
    entries: [
      { name: "Events", path: "/events", permission: "events:read" },
      { name: "Webhooks", path: "/webhooks", permission: "webhooks:read" },
      { name: "Requests", path: "/requests", permission: "events:read" },
      { name: "API keys", path: "/keys", permission: "keys:read" },
      { name: "Clock and faults", path: "/dev", permission: "transactional:read", dev: true },
    ],
  },
  {
    group: "Server",
    entries: [
      { name: "Queue", path: "/queue", permission: "operator" },
      { name: "Relays", path: "/relays", permission: "operator" },
      { name: "Workspaces", path: "/workspaces", permission: "operator" },
    ],
  },
  {
    group: "Settings",
    entries: [
      { name: "Senders", path: "/senders", permission: "senders:read" },
      { name: "Inbound domains", path: "/inbound-domains", permission: "received:read" },
      { name: "People", path: "/people", permission: "keys:read" },
      { name: "Audit log", path: "/audit", permission: "audit:read" },
    ],
  },
];

/** Permission a person needs to see the pages at a path and below it; null for pages that are not in the navigation. */
export function findNeed(at: string): Entry["permission"] | null {
  const entries = NAVIGATION.flatMap((group) => group.entries);
  return entries.find(({ path }) => at === path || at.startsWith(`${path}/`))?.permission ?? null;
}

/** The pages. Each is its own module, which the browser loads when it is first shown. */
export const ROUTES: readonly Route[] = [
  { path: "/overview", load: () => import("./pages/overview.tsx") },
  { path: "/activity", load: () => import("./pages/activity.tsx") },
  { path: "/activity/:id", load: () => import("./pages/email.tsx") },
  { path: "/mail-states", load: () => import("./pages/mail-states.tsx") },
  { path: "/mail-states/:id", load: () => import("./pages/mail-state.tsx") },
  { path: "/inbox", load: () => import("./pages/inbox.tsx") },
  { path: "/inbox/:id", load: () => import("./pages/inbox.tsx"), stays: true },
  { path: "/contacts", load: () => import("./pages/contacts.tsx") },
  { path: "/contacts/import", load: () => import("./pages/contact-import.tsx") },
  { path: "/contacts/:id", load: () => import("./pages/contact.tsx") },
  { path: "/lists", load: () => import("./pages/lists.tsx") },
  { path: "/lists/:id", load: () => import("./pages/list.tsx") },
  { path: "/forms", load: () => import("./pages/forms.tsx") },
  { path: "/forms/:id", load: () => import("./pages/form.tsx") },
  { path: "/segments", load: () => import("./pages/segments.tsx") },
  { path: "/segments/new", load: () => import("./pages/new-segment.tsx") },
  { path: "/segments/:id", load: () => import("./pages/segment.tsx") },
  { path: "/suppressions", load: () => import("./pages/suppressions.tsx") },
  { path: "/suppressions/:id", load: () => import("./pages/suppression.tsx") },
  { path: "/received", load: () => import("./pages/received.tsx") },
  { path: "/received/:id", load: () => import("./pages/thread.tsx") },
  { path: "/inbound-domains", load: () => import("./pages/inbound-domains.tsx") },
  { path: "/templates", load: () => import("./pages/templates.tsx") },
  { path: "/templates/:id", load: () => import("./pages/template.tsx") },
  { path: "/templates/:id/versions/:version", load: () => import("./pages/template-version.tsx") },
  { path: "/pictures", load: () => import("./pages/pictures.tsx") },
  { path: "/pictures/:id", load: () => import("./pages/picture.tsx") },
  { path: "/brand", load: () => import("./pages/brand.tsx") },
  { path: "/campaigns", load: () => import("./pages/campaigns.tsx") },
  { path: "/campaigns/:id", load: () => import("./pages/campaign.tsx") },
  { path: "/campaigns/:id/edit", load: () => import("./pages/campaign-edit.tsx") },
  { path: "/campaigns/:id/review", load: () => import("./pages/campaign-review.tsx") },
  { path: "/automations", load: () => import("./pages/automations.tsx") },
  { path: "/automations/:id", load: () => import("./pages/automation.tsx") },
  { path: "/automations/:id/edit", load: () => import("./pages/automation-edit.tsx") },
  { path: "/automations/:id/entries/:contact", load: () => import("./pages/automation-entry.tsx") },
  { path: "/approvals", load: () => import("./pages/approvals.tsx") },
  { path: "/agents", load: () => import("./pages/agents.tsx") },
  { path: "/agents/:id", load: () => import("./pages/agent.tsx") },
  { path: "/agents/:id/runs/:run", load: () => import("./pages/agent-run.tsx") },
  { path: "/catalog", load: () => import("./pages/catalog.tsx") },
  { path: "/catalog/:slug", load: () => import("./pages/catalog-agent.tsx") },
  { path: "/install/:slug", load: () => import("./pages/install.tsx") },
  { path: "/landing-pages", load: () => import("./pages/landing-pages.tsx") },
  { path: "/landing-pages/:id", load: () => import("./pages/landing-page.tsx") },
  { path: "/lead-magnets", load: () => import("./pages/lead-magnets.tsx") },
  { path: "/lead-magnets/:id", load: () => import("./pages/lead-magnet.tsx") },
  { path: "/plan", load: () => import("./pages/plan.tsx") },
  { path: "/credits", load: () => import("./pages/credits.tsx") },
  { path: "/listings", load: () => import("./pages/listings.tsx") },
  { path: "/listings/:slug", load: () => import("./pages/listing.tsx") },
  { path: "/listings/:slug/deliveries/:id", load: () => import("./pages/listing-delivery.tsx") },
  { path: "/new-listing", load: () => import("./pages/new-listing.tsx") },
  { path: "/events", load: () => import("./pages/events.tsx") },
  { path: "/events/:id", load: () => import("./pages/event.tsx") },
  { path: "/webhooks", load: () => import("./pages/webhooks.tsx") },
  { path: "/webhooks/:id", load: () => import("./pages/webhook.tsx") },
  { path: "/webhooks/:id/:delivery", load: () => import("./pages/webhook-delivery.tsx") },
  { path: "/keys", load: () => import("./pages/keys.tsx") },
  { path: "/keys/:id", load: () => import("./pages/key.tsx") },
  { path: "/requests", load: () => import("./pages/requests.tsx") },
  { path: "/dev", load: () => import("./pages/dev.tsx") },
  { path: "/queue", load: () => import("./pages/queue.tsx") },
  { path: "/relays", load: () => import("./pages/relays.tsx") },
  { path: "/relays/:name", load: () => import("./pages/relay.tsx") },
  { path: "/workspaces", load: () => import("./pages/workspaces.tsx") },
  { path: "/senders", load: () => import("./pages/senders.tsx") },
  { path: "/senders/:id", load: () => import("./pages/sender.tsx") },
  { path: "/people", load: () => import("./pages/people.tsx") },
  { path: "/audit", load: () => import("./pages/audit.tsx") },
];
