import { audit } from "./audit.ts";
import { automations } from "./automations.ts";
import { campaigns } from "./campaigns.ts";
import { contacts } from "./contacts.ts";
import { dashboard } from "./dashboard.ts";
import { clock, faults, world } from "./dev.ts";
import { domains } from "./domains.ts";
import { emails } from "./emails.ts";
import type { Contract } from "./endpoint.ts";
import { events } from "./events.ts";
import { explanations } from "./explanations.ts";
import { forms } from "./forms.ts";
import { health } from "./health.ts";
import { inboundNouns } from "./inbound.ts";
import { inboundDomains } from "./inbound-domains.ts";
import { inbox, testInbox } from "./inbox.ts";
import { jobs } from "./jobs.ts";
import { keys, me } from "./keys.ts";
import { lint } from "./lint.ts";
import { lists } from "./lists.ts";
import { mailStates } from "./mail-states.ts";
import { type AgentContract, agentNouns } from "./marketplace/agent.ts";
import { marketplace } from "./marketplace/nouns.ts";
import { callbacks } from "./marketplace/payments.ts";
import { members } from "./members.ts";
import { metrics } from "./metrics.ts";
import { people } from "./people.ts";
import { providers } from "./providers.ts";
import { queue } from "./queue.ts";
import { readers } from "./readers.ts";
import { received } from "./received.ts";
import { relays } from "./relays.ts";
import { requests } from "./requests.ts";
import { segments } from "./segments.ts";
import { senders } from "./senders.ts";
import { suppressions } from "./suppressions.ts";
import { templates } from "./templates.ts";
import { webhooks } from "./webhooks.ts";
import { workspaces } from "./workspaces.ts";

/** Every endpoint of the service, by noun and verb. */
export const contract = {
  emails,
  mailStates,
  received,
  inboundDomains,
  templates,
  senders,
  domains,
  suppressions,
  providers,
  contacts,
  people,
  lists,
  forms,
  segments,
  campaigns,
  automations,
  events,
  requests,
  metrics,
  webhooks,
  explanations,
  lint,
  testInbox,
  keys,
  audit,
  members,
  dashboard,
  workspaces,
  jobs,
  queue,
  readers,
  relays,
  me,
  health,
  inbox,
  ...marketplace,
  clock,
  world,
  faults,
} as const satisfies Contract;
export type MailsvcContract = typeof contract;

/** All endpoints a server has: the contract plus those for agents and for callbacks. */
export const served: Contract = { ...contract, ...agentNouns, ...callbacks, ...inboundNouns };

/** Nouns of all endpoints; those of agents as in `agentNouns`. */
type Noun = keyof MailsvcContract | `agent.${keyof AgentContract}` | keyof typeof callbacks | keyof typeof inboundNouns;

/** Every noun by its topic, with a line about it, in the order in which help and reference present them. */
export const NOUNS_BY_TOPIC = {
  Email: {
    emails: "List, inspect, cancel, reschedule and requeue emails",
    mailStates: "States of mail without its content, for support: delivered, bounced, deferred, and why",
    received: "Received mail and replies: list, read, answer",
    inboundDomains: "Domains whose mail you receive",
    templates: "Email templates: write, preview, publish",
    senders: "Addresses and domains you send from",
    domains: "Check SPF, DKIM, DMARC, PTR and MX of a domain",
    suppressions: "Addresses that must not get mail",
    providers: "Your accounts at mail providers, which report bounces and complaints",
    campaigns: "Email to many contacts: draft, schedule, send, measure",
    automations: "Series of steps for each contact: define, activate, watch",
    events: "What happened: list, inspect and follow events",
    requests: "Requests to the API: list and follow them",
    metrics: "Counts of mail that was sent, delivered, opened and refused, by day, tag, sender and receiver",
    webhooks: "Your webhooks: register, test, see and repeat deliveries",
    testInbox: "Captured mail of test keys: list, wait for, read",
    explanations: "Why an email, contact, campaign or webhook is in its state, and what to do",
    lint: "Check mail for what mail programs, filters and readers dislike",
  },
  Audience: {
    contacts: "People you write to: list, create, import, search",
    people: "Everything about one person: read it, or erase it",
    lists: "Lists of contacts, with double opt-in",
    forms: "Sign-up forms: hosted pages, and HTML for your own",
    segments: "Dynamic contact groups defined by rules",
  },
  Marketplace: {
    listings: "Agents you offer: create listings, pay for them, rotate secrets",
    deliveries: "Events sent to the webhooks of your agents",
    payments: "Payments for listings",
    catalog: "Agents you can activate",
    activations: "Agents that work for your brand",
    approvals: "Approval requests of agents",
    messages: "Messages and questions of agents",
    runs: "Runs of agents and their logs",
    credits: "Credits your agents spend",
    plans: "Your plan and the agents it covers",
    brand: "Colors, logo and voice of your brand",
    landingPages: "Landing pages of your agents: publish, statistics, sign-ups",
    leadMagnets: "Files that subscribers download",
    assets: "The image library of your brand",
  },
  Agents: {
    "agent.self": "The activation an agent works for",
    "agent.messages": "Write to the brand, ask it, read its answers",
    "agent.runs": "Start, log and end runs",
    "agent.credits": "Spend and refund the brand's credits",
    "agent.wakeups": "Schedule wakeups",
    "agent.landingPages": "Create and change pages, read their statistics",
    "agent.leadMagnets": "Upload files that subscribers download",
    "agent.assets": "Save images to the brand's library",
    "agent.brand": "Read the brand's colors, logo and voice",
    "agent.lists": "The brand's lists and their sizes",
    "agent.explanations": "Why the activation or a run is in its state",
  },
  Server: {
    workspaces: "Workspaces of this server, with the operator key",
    keys: "API keys",
    members: "People who may sign in to the dashboard: invite, remove, sign out",
    audit: "Changes of settings and content: who, what, when",
    dashboard: "The dashboard: links to sign in, and the browsers that are signed in",
    me: "The key you call with and its workspace",
    jobs: "Background jobs",
    queue: "Pause all sending, hold single domains and requeue deferred emails, with the operator key",
    readers: "Readers of the log of events: see how far they are, rebuild what they keep, with the operator key",
    relays: "Mail servers that take this server's mail, with the operator key",
    health: "Health checks",
  },
  "Local development": {
    inbox: "Captured mail: list, wait for, read",
    clock: "The server's clock: freeze, advance, jump to the next timer",
    faults: "Make requests fail on purpose",
    world: "Reset the dev server, or save and restore snapshots of it",
  },
  Callbacks: {
    inbound: "Bounces and complaints that mail providers report",
    stripe: "Events of Stripe about payments for listings",
  },
} as const satisfies Readonly<Record<string, { readonly [N in Noun]?: string }>>;

/** A line about each noun, for the help of the command line and the tags of the OpenAPI document. */
export const NOUN_SUMMARIES = {
  ...NOUNS_BY_TOPIC.Email,
  ...NOUNS_BY_TOPIC.Audience,
  ...NOUNS_BY_TOPIC.Marketplace,
  ...NOUNS_BY_TOPIC.Agents,
  ...NOUNS_BY_TOPIC.Server,
  ...NOUNS_BY_TOPIC["Local development"],
  ...NOUNS_BY_TOPIC.Callbacks,
} as const satisfies Readonly<Record<Noun, string>>;

export * from "./address.ts";
export * from "./audit.ts";
export * from "./automation-branches.ts";
export * from "./automation-connection.ts";
export * from "./automation-fields.ts";
export * from "./automation-graph.ts";
export * from "./automation-references.ts";
export * from "./automation-reports.ts";
export * from "./automation-schema.ts";
export * from "./automation-steps.ts";
export * from "./automation-triggers.ts";
export * from "./automation-words.ts";
export * from "./automations.ts";
export * from "./batch.ts";
export * from "./block-text.ts";
export * from "./blocks.ts";
export {
  CALENDAR_LIMITS,
  CALENDAR_METHODS,
  type CalendarMethod,
  type CalendarProperty,
  CapturedCalendar,
  IcalEvent,
  readCalendar,
  showCalendar,
} from "./calendar.ts";
export * from "./campaign.ts";
export * from "./campaign-fields.ts";
export * from "./campaign-stats.ts";
export * from "./campaigns.ts";
export * from "./closest.ts";
export * from "./contact-fields.ts";
export * from "./contact-imports.ts";
export * from "./contacts.ts";
export * from "./currency.ts";
export * from "./dashboard.ts";
export { explainMissingDate } from "./dates.ts";
export * from "./dev.ts";
export * from "./dev-only.ts";
export * from "./domains.ts";
export * from "./duration.ts";
export * from "./email-states.ts";
export * from "./emails.ts";
export * from "./endpoint.ts";
export * from "./error-body.ts";
export * from "./errors.ts";
export * from "./event-data.ts";
export * from "./event-filter.ts";
export * from "./event-types.ts";
export * from "./events.ts";
export * from "./explanations.ts";
export { SignUpForm } from "./forms.ts";
export * from "./health.ts";
export * from "./inbound.ts";
export * from "./inbound-domains.ts";
export * from "./inbox.ts";
export { listInexactNumbers } from "./inexact-number.ts";
export * from "./jobs.ts";
export * from "./keys.ts";
export * from "./language.ts";
export { findLimitSection } from "./limits.ts";
export * from "./lint.ts";
export * from "./lint-rules.ts";
export * from "./lists.ts";
export * from "./loopback.ts";
export * from "./mail-states.ts";
export * from "./marketplace/index.ts";
export * from "./members.ts";
export * from "./metrics.ts";
export * from "./page.ts";
export * from "./people.ts";
export * from "./proposed-by.ts";
export * from "./proposed-by.ts";
export * from "./providers.ts";
export * from "./queue.ts";
export * from "./readers.ts";
export * from "./received.ts";
export * from "./recipient-texts.ts";
export {
  isTogether,
  listAddresses,
  listRecipients,
  type NamedRecipient,
  RECIPIENT_KINDS,
  type RecipientFields,
  type RecipientKind,
} from "./recipients.ts";
export * from "./relay-name.ts";
export * from "./relay-states.ts";
export * from "./relays.ts";
export * from "./requests.ts";
export * from "./rule-fields.ts";
export * from "./scopes.ts";
export * from "./segment-rules.ts";
export * from "./segments.ts";
export { type AtLeastOne, Attachment, FailedRecipient, SEND_LIMITS, Tags, Tracking, Utm } from "./send-fields.ts";
export * from "./senders.ts";
export * from "./suppressions.ts";
export { findOtherAt } from "./taken-paths.ts";
export {
  RESERVED_SLUG,
  Slug,
  TEMPLATE_KINDS,
  TEMPLATE_LIMITS,
  TEMPLATE_RENDERERS,
  TEMPLATE_STATUSES,
  TEMPLATE_TYPES,
  TemplateOrigin,
  VARIABLE_TYPES,
  VariableDeclaration,
} from "./template-fields.ts";
export * from "./template-send.ts";
export * from "./templates.ts";
export * from "./time-of-day.ts";
export { parseAmounts, parsePastTimeWords, parseTimeWords } from "./time-words.ts";
export { findNextTimeOfDay, findTimeOfDate, toLocalTime } from "./time-zone.ts";
export * from "./tones.ts";
export * from "./webhooks.ts";
export * from "./workspaces.ts";
