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
import { agentNouns } from "./marketplace/agent.ts";
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
export { NOUN_GROUPS, NOUN_SUMMARIES } from "./noun-summaries.ts";
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
