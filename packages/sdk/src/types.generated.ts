// Generated from the contract by `npm run generate`.
import type { Base64Input } from "./call/binary.ts";

export interface AbTest {
  /** Two to five variants, named A to E in this order */
  variants: Variant[];
  /** Recipients in the sample, in percent */
  samplePercent: number;
  /** What decides: unique opens, unique clicks, or you */
  winner: "opens" | "clicks" | "manual";
  /** Minutes after the sample was sent until the winner is decided */
  decideAfterMinutes: number;
}

export interface AbTestInput {
  /** Two to five variants, named A to E in this order */
  variants: Variant[];
  /** Recipients in the sample, in percent */
  samplePercent?: number | undefined;
  /** What decides: unique opens, unique clicks, or you */
  winner?: "opens" | "clicks" | "manual" | undefined;
  /** Minutes after the sample was sent until the winner is decided */
  decideAfterMinutes?: number | undefined;
}

export interface AcceptedRecipient {
  id: string;
  email: string;
  kind: "to" | "cc" | "bcc";
  status: "queued" | "suppressed";
}

export interface Activation {
  id: string;
  agentSlug: string;
  agentName: string;
  status: "active" | "paused" | "deactivated";
  pauseReasons: Array<"user_paused" | "plan_downgrade" | "webhook_failure">;
  scopes: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  version: number;
  update: {
    version: number;
    scopes: Array<{
      scope: "landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups";
      grants: string;
    }>;
    keptAt: string | null;
  } | null;
  settingsSchema: SettingsSchema | null;
  settings: Record<string, string | number | boolean>;
  keyPreview: string;
  keyDeliveredAt: string | null;
  webhookLastError: WebhookError | null;
  creditLimit: number | null;
  /** ISO 8601 instant */
  createdAt: string;
  pausedAt: string | null;
  deactivatedAt: string | null;
  deactivationReason: "user_deactivated" | "plan_downgrade" | "admin_revoke" | null;
}

export type ActivationStatus = "active" | "paused" | "deactivated";

export interface AgentCredits {
  balance: number;
  periodLimit: number | null;
  periodUsed: number;
  /** ISO 8601 instant */
  resetsAt: string;
}

export type AgentEvent = {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "agent.activated";
  apiKey: string;
  agentSlug: string;
  organizationName: string;
  scopes: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  settings: Record<string, string | number | boolean>;
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "approval_response";
  messageId: string;
  decision: string;
  comment: string | null;
  /** ISO 8601 instant */
  answeredAt: string;
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "message.posted";
  messageId: string;
  messageSequence: number;
  text: string;
  format: "plain" | "markdown";
  inReplyTo: string | null;
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "agent.paused";
  reason: "user_paused" | "plan_downgrade" | "webhook_failure";
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "agent.resumed";
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "agent.deactivated";
  reason: "user_deactivated" | "plan_downgrade" | "admin_revoke";
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "agent.scopes_changed";
  scopes: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  added: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "agent.settings_changed";
  settings: Record<string, string | number | boolean>;
} | {
  id: string;
  activationId: string;
  runId: string;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "run_force_failed";
  /** ISO 8601 instant */
  lastHeartbeatAt: string;
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "test.ping";
  test: true;
} | {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  type: "agent.wakeup";
  wakeupId: string;
  reason: string;
  payload: unknown;
  /** ISO 8601 instant */
  scheduledFor: string;
};

export type AgentEventState = "pending" | "queued" | "delivered" | "dead" | "superseded" | "cancelled";

export type AgentEventType = "agent.activated" | "approval_response" | "message.posted" | "agent.paused" | "agent.resumed" | "agent.deactivated" | "agent.scopes_changed" | "agent.settings_changed" | "run_force_failed" | "test.ping" | "agent.wakeup";

export interface AgentMessage {
  id: string;
  sequence: number;
  activationId: string;
  runId: string | null;
  type: "TEXT" | "APPROVAL_REQUEST" | "APPROVAL_RESPONSE";
  direction: "inbound" | "outbound";
  author: {
    role: "agent" | "brand" | "system";
  };
  text: string;
  format: "plain" | "markdown";
  externalId: string | null;
  inReplyTo: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  readAt: string | null;
  approval: Approval | null;
  agentSlug: string;
  agentName: string;
}

export type AgentScope = "landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups";

export interface AgentSelf {
  activationId: string;
  agentSlug: string;
  organizationName: string;
  status: "active" | "paused" | "deactivated";
  pauseReasons: Array<"user_paused" | "plan_downgrade" | "webhook_failure">;
  scopes: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  settings: Record<string, string | number | boolean>;
  keyPreview: string;
  /** ISO 8601 instant */
  createdAt: string;
  webhookLastError: WebhookError | null;
}

export interface Approval {
  title: string;
  options: Array<{
    id: string;
    label: string;
    style?: "primary" | "danger" | undefined;
  }>;
  allowComment: boolean;
  preview: {
    kind: "landing_page" | "lead_magnet" | "asset" | "text";
    id?: string | undefined;
    text?: string | undefined;
  } | null;
  allows: string | null;
  proposal: Proposal | null;
  status: "PENDING" | "APPROVED" | "REJECTED" | "ANSWERED" | "EXPIRED" | "CANCELLED";
  decision: string | null;
  comment: string | null;
  answeredAt: string | null;
  /** ISO 8601 instant */
  expiresAt: string;
  suspendRun: boolean;
}

export interface ApprovalDetail {
  id: string;
  sequence: number;
  activationId: string;
  runId: string | null;
  type: "TEXT" | "APPROVAL_REQUEST" | "APPROVAL_RESPONSE";
  direction: "inbound" | "outbound";
  author: {
    role: "agent" | "brand" | "system";
  };
  text: string;
  format: "plain" | "markdown";
  externalId: string | null;
  inReplyTo: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  readAt: string | null;
  approval: Approval | null;
  agentSlug: string;
  agentName: string;
  proposal: ProposalDetail | null;
}

export type ApprovalStatus = "PENDING" | "APPROVED" | "REJECTED" | "ANSWERED" | "EXPIRED" | "CANCELLED";

export interface Asset {
  id: string;
  url: string;
  fileName: string;
  contentType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  size: number;
  width: number;
  height: number;
  sha256: string;
  alt: string | null;
  tags: string[];
  externalId: string | null;
  /** ISO 8601 instant */
  createdAt: string;
}

export interface Attachment {
  /** Name the recipient sees */
  filename: string;
  /** The file, base64 */
  content: Base64Input;
  /** Media type, with any parameters; guessed from the name when absent. `text/calendar; method=REQUEST` is an invitation: mail programs show it with buttons */
  contentType?: string | undefined;
  /** Shows it inline: <img src='cid:…'> */
  contentId?: string | undefined;
}

export type AttemptClass = "ok" | "signature_rejected" | "http_status" | "redirect" | "timeout" | "dns" | "tls" | "connection" | "blocked_address" | "bad_response";

export interface AuditChange {
  field: string;
  before: unknown;
  after: unknown;
}

export interface AuditEntry {
  id: string;
  /** ISO 8601 instant */
  at: string;
  action: string;
  actor: {
    kind: "key" | "person" | "agent" | "operator";
    id: string | null;
    name: string | null;
  };
  object: string | null;
  name: string | null;
  changes: AuditChange[];
  requestId: string;
}

export type AutoReplyReason = "null_sender" | "program_address" | "auto_submitted" | "precedence" | "mailing_list" | "loop" | "too_many";

export interface Automation {
  id: string;
  name: string;
  description: string | null;
  triggerType: "contact.created" | "tag.added" | "tag.removed" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "replied" | "event" | "date";
  status: "DRAFT" | "ACTIVE" | "PAUSED";
  totalEntered: number;
  totalCompleted: number;
  revenueGenerated: number;
  goalType: "contact.created" | "tag.added" | "tag.removed" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "replied" | "event" | null;
  goalConversions: number;
  goalConversionRate: number;
  goalRevenue: number;
  allowReEntry: boolean;
  reEntryDelayHours: number | null;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface AutomationConnection {
  /** The id of a step, or "trigger" */
  from: string;
  /** The id of a step */
  to: string;
  /** Of a step with branches: which one */
  branch?: string | undefined;
}

/** The graph of an automation. */
export interface AutomationDefinition {
  readonly steps: readonly AutomationStep[];
  readonly connections: readonly AutomationConnection[];
}

export interface AutomationDetail {
  id: string;
  name: string;
  description: string | null;
  triggerType: "contact.created" | "tag.added" | "tag.removed" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "replied" | "event" | "date";
  status: "DRAFT" | "ACTIVE" | "PAUSED";
  totalEntered: number;
  totalCompleted: number;
  revenueGenerated: number;
  goalType: "contact.created" | "tag.added" | "tag.removed" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "replied" | "event" | null;
  goalConversions: number;
  goalConversionRate: number;
  goalRevenue: number;
  allowReEntry: boolean;
  reEntryDelayHours: number | null;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  trigger: AutomationTrigger;
  goal: AutomationOccurrence | null;
  currency: string;
  version: number;
  shownVersion: number;
  revision: number;
  archivedAt: string | null;
  steps: AutomationStep[];
  connections: AutomationConnection[];
}

export interface AutomationEntry {
  id: string;
  contactId: string;
  version: number;
  status: "ACTIVE" | "COMPLETED" | "EXITED" | "FAILED";
  reason: string | null;
  stepId: string | null;
  dueAt: string | null;
  /** ISO 8601 instant */
  enteredAt: string;
  endedAt: string | null;
  goalReachedAt: string | null;
  revenue: number;
  goalRevenue: number;
  path: EntryStep[];
}

export interface AutomationGraph {
  /** The steps, each with an id */
  steps: AutomationStep[];
  /** What follows what: { from, to, branch }. The first one begins at trigger */
  connections: AutomationConnection[];
}

export type AutomationOccurrence = {
  type: "contact.created";
} | {
  type: "tag.added";
  /** Tag, up to 100 characters; VIP and vip are the same tag */
  tag: string;
} | {
  type: "tag.removed";
  /** Tag, up to 100 characters; VIP and vip are the same tag */
  tag: string;
} | {
  type: "list.joined";
  listId: string;
} | {
  type: "list.left";
  listId: string;
} | {
  type: "segment.entered";
  segmentId: string;
} | {
  type: "segment.left";
  segmentId: string;
} | {
  type: "replied";
} | {
  type: "event";
  /** email.opened, email.clicked, or an event of yours */
  name: "email.opened" | "email.clicked" | string;
  /** Only events that match; all when absent */
  filter?: EventFilter | undefined;
};

export interface AutomationPatch {
  /** Name */
  name?: string | undefined;
  /** What it is for */
  description?: string | null | undefined;
  /** What makes a contact enter: { "type": "contact.created" } */
  trigger?: AutomationTrigger | undefined;
  /** The steps, each with an id */
  steps?: AutomationStep[] | undefined;
  /** What follows what: { from, to, branch }. The first one begins at trigger */
  connections?: AutomationConnection[] | undefined;
  /** What counts as success, while a contact is inside */
  goal?: AutomationOccurrence | null | undefined;
  /** Currency of its revenue; USD when absent */
  currency?: string | undefined;
  /** Let a contact enter again once it is out; false when absent */
  allowReEntry?: boolean | undefined;
  /** Hours from one entry of a contact to its next one, at least; 24 when absent */
  reEntryDelayHours?: number | undefined;
  /** Refuse the change unless this is the automation's current revision */
  revision?: number | undefined;
}

export interface AutomationStart {
  id: string;
  name: string;
  contacts: number;
}

export interface AutomationStats {
  automationId: string;
  entered: number;
  inside: number;
  completed: number;
  exited: number;
  failed: number;
  goalConversions: number;
  steps: StepStats[];
}

export type AutomationStatus = "DRAFT" | "ACTIVE" | "PAUSED";

export type AutomationStep = {
  /** The name of the step, for connections */
  id: string;
  type: "send_email";
  /** A published template; its version is pinned on activation */
  templateId: string;
  /** The sender; that of the template when absent */
  from?: string | undefined;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "delay";
  /** A duration such as 30m, 12h or 3d */
  for: string;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "wait_until";
  /** That date; entries that come later do not wait */
  date?: string | undefined;
  /** The next of these days */
  weekdays?: Array<"monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday"> | undefined;
  /** The time of day; without it, any time of that day will do */
  time?: string | undefined;
  /** "contact" for the one in the custom field timeZone of the contact, or a time zone; that of the workspace's brand when absent */
  timeZone?: "contact" | string | undefined;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "wait_for_event";
  /** What to wait for, from then on */
  event: AutomationOccurrence;
  /** How long at most, such as 3d */
  timeout: string;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "condition";
  rule: SegmentRule;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "split";
  branches: Array<{
    /** The name of the step, for connections */
    name: string;
    weight: number;
  }>;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "update_contact";
  set: {
    /** First name, up to 100 characters */
    firstName?: string | null | undefined;
    /** Last name, up to 100 characters */
    lastName?: string | null | undefined;
    /** Phone number, up to 30 characters */
    phone?: string | null | undefined;
    /** Language of the pages and mail that this server writes to the contact, such as de or pt-BR; docs/languages.md */
    language?: string | null | undefined;
    /** Fields to set, one by one; null removes a field, others stay */
    customFields?: Record<string, CustomValue> | undefined;
  };
} | {
  /** The name of the step, for connections */
  id: string;
  type: "add_tag";
  /** Tag, up to 100 characters; VIP and vip are the same tag */
  tag: string;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "remove_tag";
  /** Tag, up to 100 characters; VIP and vip are the same tag */
  tag: string;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "add_to_list";
  listId: string;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "remove_from_list";
  listId: string;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "webhook";
  /** A webhook of the workspace, which gets the event automation.webhook */
  webhookId: string;
  /** What else to send, the same for each contact */
  data?: Record<string, string | number | boolean | null> | undefined;
} | {
  /** The name of the step, for connections */
  id: string;
  type: "goal";
} | {
  /** The name of the step, for connections */
  id: string;
  type: "exit";
  reason?: string | undefined;
};

export type AutomationTrigger = {
  type: "contact.created";
} | {
  type: "tag.added";
  /** Tag, up to 100 characters; VIP and vip are the same tag */
  tag: string;
} | {
  type: "tag.removed";
  /** Tag, up to 100 characters; VIP and vip are the same tag */
  tag: string;
} | {
  type: "list.joined";
  listId: string;
} | {
  type: "list.left";
  listId: string;
} | {
  type: "segment.entered";
  segmentId: string;
} | {
  type: "segment.left";
  segmentId: string;
} | {
  type: "replied";
} | {
  type: "event";
  /** email.opened, email.clicked, or an event of yours */
  name: "email.opened" | "email.clicked" | string;
  /** Only events that match; all when absent */
  filter?: EventFilter | undefined;
} | {
  type: "date";
  /** A custom field with a date such as 2026-01-31 */
  field: string;
  /** Days after the date, or before it if negative; 0 when absent */
  days?: number | undefined;
  /** Every year, whatever the year of the date: for birthdays */
  yearly?: boolean | undefined;
  /** When on that day; 00:00 when absent */
  time?: string | undefined;
  /** Of the time; that of the workspace's brand when absent */
  timeZone?: string | undefined;
};

export interface AutomationVersion {
  version: number;
  current: boolean;
  steps: number;
  templates: Record<string, number> | null;
  /** ISO 8601 instant */
  createdAt: string;
}

export interface BatchEmail {
  /** An address, Name <address>, or an array of up to 50; each recipient gets a separate message, unless the mail has together, cc or bcc. A repeated address counts once */
  to: string | string[];
  /** Recipients of the same mail, named in its Cc header */
  cc?: string | string[] | undefined;
  /** Recipients of the same mail whom no other recipient sees */
  bcc?: string | string[] | undefined;
  /** Send one mail to all recipients, who see each other in its To and Cc headers; also done when cc or bcc is given */
  together?: boolean | undefined;
  /** Sender; may be left out if the template has one */
  from?: string | undefined;
  /** Subject line; with a template, replaces the template's */
  subject?: string | undefined;
  /** HTML body */
  html?: string | undefined;
  /** Plain-text body */
  text?: string | undefined;
  /** Slug of a published template, instead of html and text */
  template?: string | undefined;
  /** Values of the template's variables, by name */
  variables?: Record<string, unknown> | undefined;
  /** Values per recipient, by address; they override variables */
  recipientVariables?: Record<string, Record<string, unknown>> | undefined;
  /** Reply-To address, or up to ten; auto to receive the replies here */
  replyTo?: string | string[] | undefined;
  /** Custom headers, name to value */
  headers?: Record<string, string> | undefined;
  /** Your own tracking tags, name to value; not sent to the recipient */
  tags?: Record<string, string> | undefined;
  /** Files, up to 20 and 20 MiB in all */
  attachments?: Attachment[] | undefined;
  icalEvent?: IcalEvent | undefined;
  /** Send later, at this instant (ISO 8601), at most 365 days ahead */
  scheduledAt?: string | Date | undefined;
  /** Send to people who unsubscribed too; for receipts, password resets and other mail they need. Bounces and complaints still block */
  bypassUnsubscribe?: boolean | undefined;
  tracking?: Tracking | undefined;
  /** Makes this email safe to repeat, in any batch of the same API key, for 24 hours */
  idempotencyKey?: string | undefined;
}

export interface BatchFailure {
  status: "failed";
  error: {
    code: "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable";
    message: string;
    details: Array<{
      /** Path of the invalid field, e.g. to[3]; empty for the request as a whole */
      path: string;
      code: string;
      message: string;
      /** Line of the error in the field's text, from 1, if it has lines */
      line?: number | undefined;
      /** Column of the error in its line, from 1 */
      column?: number | undefined;
    }>;
    hint: string;
  };
}

export interface BatchQueued {
  status: "queued";
  id?: string | undefined;
  ids?: string[] | undefined;
  count?: number | undefined;
  recipients?: AcceptedRecipient[] | undefined;
  failed?: FailedRecipient[] | undefined;
  template?: string | undefined;
  replayed?: true | undefined;
}

export interface BatchResponse {
  queued: number;
  failed: number;
  results: Array<BatchQueued | BatchFailure>;
}

export interface Brand {
  name: string;
  website: string | null;
  logo: {
    url: string;
    width: number;
    height: number;
  } | null;
  colors: {
    primary: string | null;
    secondary: string | null;
    accent: string | null;
    background: string | null;
    text: string | null;
  };
  fonts: {
    heading: string | null;
    body: string | null;
  };
  voice: {
    tone: string[];
    description: string;
    dos: string[];
    donts: string[];
  };
  locale: string | null;
  timezone: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface BrandColors {
  primary: string | null;
  secondary: string | null;
  accent: string | null;
  background: string | null;
  text: string | null;
}

export interface BrandFonts {
  heading: string | null;
  body: string | null;
}

export interface BrandSettings {
  name: string;
  website: string | null;
  logo: {
    url: string;
    width: number;
    height: number;
  } | null;
  colors: {
    primary: string | null;
    secondary: string | null;
    accent: string | null;
    background: string | null;
    text: string | null;
  };
  fonts: {
    heading: string | null;
    body: string | null;
  };
  voice: {
    tone: string[];
    description: string;
    dos: string[];
    donts: string[];
  };
  locale: string | null;
  timezone: string;
  /** ISO 8601 instant */
  updatedAt: string;
  logoAssetId: string | null;
  publishNeedsApproval: boolean;
  texts: Record<string, Record<string, unknown>>;
}

export interface BrandVoice {
  tone: string[];
  description: string;
  dos: string[];
  donts: string[];
}

export type CalendarMethod = "REQUEST" | "CANCEL" | "REPLY" | "PUBLISH" | "ADD" | "REFRESH" | "COUNTER" | "DECLINECOUNTER";

/** One property of a calendar, such as `SUMMARY:Review`, with the component that it belongs to. */
export interface CalendarProperty {
  /** Path of its components, such as `VCALENDAR/VEVENT`. */
  readonly of: string;
  /** Number of its component among all, from 0. */
  readonly component: number;
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
  /** Line in the text, from 1. */
  readonly line: number;
}

export interface Campaign {
  id: string;
  name: string;
  subjectLine: string;
  fromEmail: string;
  fromName: string | null;
  replyTo: string | string[] | null;
  previewText: string | null;
  templateId: string | null;
  recipientType: "all" | "segment" | "list" | "groups" | "resend";
  segmentId: string | null;
  listId: string | null;
  include: string[];
  exclude: string[];
  resendOf: ResendOf | null;
  status: "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "PAUSED" | "CANCELLED";
  statusReason: {
    code: "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable" | "late" | "bounce_rate" | "complaint_rate";
    message: string;
  } | null;
  scheduledAt: string | null;
  throttle: Throttle | null;
  relay: string | null;
  localTime: LocalTime | null;
  abTest: AbTest | null;
  winner: "A" | "B" | "C" | "D" | "E" | null;
  trackOpens: boolean;
  trackClicks: boolean;
  utm: Utm | null;
  proposedBy: ProposedBy | null;
  revision: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  startedAt: string | null;
  completedAt: string | null;
}

export interface CampaignAudience {
  contacts: number;
  subscribed: number;
  excluded: number;
  /** ISO 8601 instant */
  computedAt: string;
}

export interface CampaignDetail {
  id: string;
  name: string;
  subjectLine: string;
  fromEmail: string;
  fromName: string | null;
  replyTo: string | string[] | null;
  previewText: string | null;
  templateId: string | null;
  recipientType: "all" | "segment" | "list" | "groups" | "resend";
  segmentId: string | null;
  listId: string | null;
  include: string[];
  exclude: string[];
  resendOf: ResendOf | null;
  status: "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "PAUSED" | "CANCELLED";
  statusReason: {
    code: "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable" | "late" | "bounce_rate" | "complaint_rate";
    message: string;
  } | null;
  scheduledAt: string | null;
  throttle: Throttle | null;
  relay: string | null;
  localTime: LocalTime | null;
  abTest: AbTest | null;
  winner: "A" | "B" | "C" | "D" | "E" | null;
  trackOpens: boolean;
  trackClicks: boolean;
  utm: Utm | null;
  proposedBy: ProposedBy | null;
  revision: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  startedAt: string | null;
  completedAt: string | null;
  html: string | null;
  text: string | null;
  blocks: MailBlock[] | null;
  template: {
    id: string;
    slug: string;
    name: string;
    version: number | null;
  } | null;
  segment: {
    id: string;
    type: "list" | "segment";
    name: string;
    memberCount: number;
  } | null;
  list: {
    id: string;
    type: "list" | "segment";
    name: string;
    memberCount: number;
  } | null;
  included: Array<{
    id: string;
    type: "list" | "segment";
    name: string;
    memberCount: number;
  }>;
  excluded: Array<{
    id: string;
    type: "list" | "segment";
    name: string;
    memberCount: number;
  }>;
}

export interface CampaignPatch {
  /** Name, up to 200 characters */
  name?: string | undefined;
  /** Subject, up to 998 characters; may contain {{ variables }} */
  subjectLine?: string | undefined;
  /** Address of a verified sender */
  fromEmail?: string | undefined;
  templateId?: string | null | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
  /** Content as blocks, from which the HTML is rendered; null gives them up and keeps the HTML */
  blocks?: MailBlock[] | null | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | string[] | null | undefined;
  previewText?: string | null | undefined;
  /** Who gets it: all contacts, a segment, a list, several of both (groups), or recipients of an earlier campaign (resend) */
  recipientType?: "all" | "segment" | "list" | "groups" | "resend" | undefined;
  segmentId?: string | null | undefined;
  listId?: string | null | undefined;
  /** Ids of lists and segments, if recipientType is groups: each contact in any of them gets it once */
  include?: string[] | undefined;
  /** Ids of lists and segments that do not get it, whatever recipientType is */
  exclude?: string[] | undefined;
  resendOf?: ResendOf | null | undefined;
  /** When to send, at most 365 days ahead; null makes it a draft again */
  scheduledAt?: string | Date | null | undefined;
  throttle?: Throttle | null | undefined;
  localTime?: LocalTimeInput | null | undefined;
  abTest?: AbTestInput | null | undefined;
  relay?: string | null | undefined;
  /** Count opens */
  trackOpens?: boolean | undefined;
  /** Count clicks */
  trackClicks?: boolean | undefined;
  utm?: Utm | null | undefined;
  /** Refuse the change unless this is the campaign's current revision */
  revision?: number | undefined;
}

export interface CampaignPreview {
  variant: "A" | "B" | "C" | "D" | "E" | null;
  contactId: string | null;
  from: string;
  to: string | null;
  subject: string;
  html: string | null;
  text: string | null;
}

export interface CampaignRates {
  delivery: Rate;
  bounce: Rate;
  open: Rate;
  click: Rate;
  clickToOpen: Rate;
  unsubscribe: Rate;
  complaint: Rate;
}

export interface CampaignSeriesPoint {
  /** ISO 8601 instant */
  at: string;
  sent: number;
  delivered: number;
  deferred: number;
  bounced: number;
  complained: number;
  failed: number;
  opens: number;
  uniqueOpens: number;
  machineOpens: number;
  clicks: number;
  uniqueClicks: number;
  machineClicks: number;
  unsubscribes: number;
}

export interface CampaignStats {
  campaignId: string;
  status: "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "PAUSED" | "CANCELLED";
  audience: number | null;
  quiet: {
    /** ISO 8601 instant */
    since: string;
    reason: string;
  } | null;
  recipients: RecipientCounts;
  opens: Reactions;
  clicks: Reactions;
  unsubscribes: number;
  rates: CampaignRates;
  skipped: {
    unsubscribed: number;
    bounced: number;
    complained: number;
    suppressed: number;
    invalid: number;
    deleted: number;
    duplicate: number;
    left_list: number;
    missing_variables: number;
    replied: number;
  };
  links: Array<{
    url: string;
    clicks: number;
    uniqueClicks: number;
    machineClicks: number;
  }>;
  series: CampaignSeriesPoint[];
  variants: Array<{
    name: "A" | "B" | "C" | "D" | "E";
    subjectLine: string;
    winner: boolean;
    recipients: RecipientCounts;
    opens: Reactions;
    clicks: Reactions;
    unsubscribes: number;
    rates: CampaignRates;
  }>;
  revenue: Array<{
    currency: string;
    amount: number;
    events: number;
  }>;
  /** ISO 8601 instant */
  computedAt: string;
}

export type CampaignStatus = "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "PAUSED" | "CANCELLED";

export interface CampaignVerification {
  correct: boolean;
  recipients: number;
  differences: Array<{
    what: string;
    counted: number;
    actual: number;
  }>;
}

export interface CapturedCalendar {
  /** METHOD, such as REQUEST */
  method: string;
  summary: string | null;
  location: string | null;
  start: string | null;
  end: string | null;
  /** Address of the organizer */
  organizer: string | null;
  /** Addresses of the people invited */
  attendees: string[];
  content: string;
}

export interface CapturedMail {
  id: string;
  emailId: string | null;
  workspaceId: string | null;
  to: string;
  from: string;
  subject: string;
  /** Bytes of the raw message */
  size: number;
  /** ISO 8601 instant */
  receivedAt: string;
}

export interface CapturedMailDetail {
  id: string;
  emailId: string | null;
  workspaceId: string | null;
  to: string;
  from: string;
  subject: string;
  /** Bytes of the raw message */
  size: number;
  /** ISO 8601 instant */
  receivedAt: string;
  headers: Array<{
    name: string;
    value: string;
  }>;
  html: string | null;
  text: string | null;
  /** Targets of its links, from the HTML and then from the text, each once */
  links: string[];
  /** Numbers of 4 to 8 digits outside of links, as sign-in mails have them */
  codes: string[];
  attachments: Array<{
    filename: string;
    contentType: string;
    contentId: string | null;
    size: number;
  }>;
  /** The invitation among its alternatives; null without one */
  icalEvent: CapturedCalendar | null;
  /** It is too large, or its parts are nested too deep, to be read whole; the raw source has all of it */
  truncated: boolean;
}

export interface CatalogAgent {
  slug: string;
  name: string;
  description: string;
  permissions: Array<{
    scope: "landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups";
    grants: string;
  }>;
  settingsSchema: SettingsSchema | null;
  installRedirects: string[];
  version: number;
  builder: {
    name: string;
  };
  price: {
    amount: number;
    currency: string;
    interval: "month";
  };
  /** ISO 8601 instant */
  listedAt: string;
  activationId: string | null;
}

export interface ClockState {
  /** ISO 8601 instant */
  now: string;
  mode: "running" | "frozen";
  next: {
    /** ISO 8601 instant */
    at: string;
    name: string;
  } | null;
  timers: number;
  fired: Array<{
    /** ISO 8601 instant */
    at: string;
    name: string;
  }>;
}

export type ColumnBlock = {
  type: "heading";
  text: string;
  /** 1 is the largest; 2 when absent */
  level?: number | undefined;
  /** Side at which it stands; the start when absent */
  align?: "start" | "center" | "end" | undefined;
} | {
  type: "text";
  /** Paragraphs; **bold**, *italic*, [words](https://…), lines that begin with - or 1. are lists */
  text: string;
  size?: "normal" | "small" | undefined;
  /** Side at which it stands; the start when absent */
  align?: "start" | "center" | "end" | undefined;
} | {
  type: "image";
  /** Address of the picture, such as the url of an asset */
  src: string;
  /** Words in its place; empty for decoration */
  alt: string;
  /** Width in pixels; as wide as its place when absent */
  width?: number | undefined;
  /** Address: https://, http://, mailto: or a variable */
  href?: string | undefined;
  /** Side at which it stands; the start when absent */
  align?: "start" | "center" | "end" | undefined;
} | {
  type: "button";
  label: string;
  /** Address: https://, http://, mailto: or a variable */
  href: string;
  /** Its color as #rrggbb; that of the brand when absent */
  color?: string | undefined;
  /** Side at which it stands; the start when absent */
  align?: "start" | "center" | "end" | undefined;
} | {
  type: "divider";
} | {
  type: "spacer";
  /** Pixels; 24 when absent */
  height?: number | undefined;
};

export interface Contact {
  id: string;
  email: string;
  externalId: string | null;
  firstName: string | null;
  lastName: string | null;
  phone: string | null;
  language: string | null;
  tags: string[];
  customFields: Record<string, unknown>;
  status: "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED";
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface ContactDetail {
  id: string;
  email: string;
  externalId: string | null;
  firstName: string | null;
  lastName: string | null;
  phone: string | null;
  language: string | null;
  tags: string[];
  customFields: Record<string, unknown>;
  status: "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED";
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  lists: ContactMembership[];
  segments: ContactMembership[];
}

export interface ContactImport {
  created: number;
  updated: number;
  unchanged: number;
  skipped: number;
  failed: number;
  suppressed: number;
  dryRun: boolean;
  joined: number;
  asked: number;
  automations: AutomationStart[];
  results: Array<"created" | "updated" | "unchanged" | "skipped" | "failed">;
  errors: Array<{
    index: number;
    path: string;
    code: string;
    message: string;
  }>;
}

export interface ContactImportRow {
  /** Email address */
  email: string;
  externalId?: string | null | undefined;
  /** First name, up to 100 characters */
  firstName?: string | null | undefined;
  /** Last name, up to 100 characters */
  lastName?: string | null | undefined;
  /** Phone number, up to 30 characters */
  phone?: string | null | undefined;
  /** Language of the pages and mail that this server writes to the contact, such as de or pt-BR; docs/languages.md */
  language?: string | null | undefined;
  /** Tags, up to 50 */
  tags?: string[] | undefined;
  /** Free data, name to value: texts, numbers, booleans, objects and arrays, nested up to 5 levels; a field set to null is removed */
  customFields?: Record<string, CustomValue> | undefined;
  /** UNSUBSCRIBED unsubscribes the contact; SUBSCRIBED never resubscribes one that unsubscribed, bounced, complained or is suppressed */
  status?: "SUBSCRIBED" | "UNSUBSCRIBED" | undefined;
  /** Status of a contact that this row creates, if it has no status; a contact that exists keeps its own */
  initialStatus?: "SUBSCRIBED" | "UNSUBSCRIBED" | undefined;
}

export type ContactImportState = "OPEN" | "UNDOING" | "UNDONE";

export interface ContactImportSummary {
  id: string;
  name: string;
  tag: string | null;
  file: string | null;
  state: "OPEN" | "UNDOING" | "UNDONE";
  rows: {
    created: number;
    updated: number;
    unchanged: number;
    skipped: number;
    failed: number;
  };
  created: number;
  existing: number;
  memberships: number;
  kept: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  undoableUntil: string;
  undoneAt: string | null;
}

export interface ContactMembership {
  id: string;
  name: string;
}

export interface ContactPatch {
  /** Another address of the same person: history, memberships and consent stay with the contact */
  email?: string | undefined;
  externalId?: string | null | undefined;
  /** First name, up to 100 characters */
  firstName?: string | null | undefined;
  /** Last name, up to 100 characters */
  lastName?: string | null | undefined;
  /** Phone number, up to 30 characters */
  phone?: string | null | undefined;
  /** Language of the pages and mail that this server writes to the contact, such as de or pt-BR; docs/languages.md */
  language?: string | null | undefined;
  /** Replaces all tags */
  tags?: string[] | undefined;
  /** Fields to set, one by one; null removes a field, others stay */
  customFields?: Record<string, CustomValue> | undefined;
  /** UNSUBSCRIBED suppresses the address for marketing; SUBSCRIBED lifts that suppression */
  status?: "SUBSCRIBED" | "UNSUBSCRIBED" | undefined;
}

/** The kinds of texts that name a contact. */
export type ContactRefKind = "email" | "id" | "externalId";

export type ContactStatus = "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED";

export interface ContactTagging {
  updated: number;
  unchanged: number;
  failed: Array<{
    index: number;
    contact: string;
    code: string;
    message: string;
  }>;
}

export type ContactTextField = "firstName" | "lastName" | "phone" | "language";

export interface ContactUpsert {
  /** Email address */
  email: string;
  externalId?: string | null | undefined;
  /** First name, up to 100 characters */
  firstName?: string | null | undefined;
  /** Last name, up to 100 characters */
  lastName?: string | null | undefined;
  /** Phone number, up to 30 characters */
  phone?: string | null | undefined;
  /** Language of the pages and mail that this server writes to the contact, such as de or pt-BR; docs/languages.md */
  language?: string | null | undefined;
  /** Tags, up to 50 */
  tags?: string[] | undefined;
  /** Free data, name to value: texts, numbers, booleans, objects and arrays, nested up to 5 levels; a field set to null is removed */
  customFields?: Record<string, CustomValue> | undefined;
  /** UNSUBSCRIBED unsubscribes the contact; SUBSCRIBED never resubscribes one that unsubscribed, bounced, complained or is suppressed */
  status?: "SUBSCRIBED" | "UNSUBSCRIBED" | undefined;
}

export interface CreditEntry {
  id: string;
  kind: "grant" | "consume" | "refund";
  amount: number;
  balanceAfter: number;
  activationId: string | null;
  runId: string | null;
  action: string | null;
  description: string | null;
  refundOf: string | null;
  /** ISO 8601 instant */
  createdAt: string;
}

export type CreditKind = "grant" | "consume" | "refund";

export interface CreditTransaction {
  transactionId: string;
  kind: "consume" | "refund";
  amount: number;
  action: string | null;
  runId: string | null;
  description: string | null;
  units: unknown;
  refundOf: string | null;
  balanceAfter: number;
  /** ISO 8601 instant */
  createdAt: string;
}

/** A value of a custom field. Dates are ISO 8601 texts. */
export type CustomValue = string | number | boolean | null | CustomValue[] | { [key: string]: CustomValue };

export interface DashboardSession {
  id: string;
  role: "owner" | "marketer" | "viewer" | "support";
  keyId: string;
  way: "link" | "key" | "mail" | "proxy" | "provider";
  memberId: string | null;
  name: string | null;
  email: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  lastSeenAt: string;
  /** When it ends at the latest */
  expiresAt: string;
}

export type DeactivationReason = "user_deactivated" | "plan_downgrade" | "admin_revoke";

/** A fault of a definition: where it is, and a message that names the step. */
export interface DefinitionFault {
  readonly path: (string | number)[];
  readonly code: string;
  readonly message: string;
}

export interface Delivery {
  id: string;
  type: "agent.activated" | "approval_response" | "message.posted" | "agent.paused" | "agent.resumed" | "agent.deactivated" | "agent.scopes_changed" | "agent.settings_changed" | "run_force_failed" | "test.ping" | "agent.wakeup";
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  state: "pending" | "queued" | "delivered" | "dead" | "superseded" | "cancelled";
  attempts: number;
  nextAttemptAt: string | null;
  waitsFor: string | null;
  settledAt: string | null;
  lastAttempt: DeliveryAttempt | null;
}

export interface DeliveryAttempt {
  attempt: number;
  /** ISO 8601 instant */
  at: string;
  ms: number;
  class: "ok" | "signature_rejected" | "http_status" | "redirect" | "timeout" | "dns" | "tls" | "connection" | "blocked_address" | "bad_response";
  httpStatus: number | null;
  message: string | null;
  hint: string;
  answer: string | null;
}

export interface DeliveryDetail {
  id: string;
  type: "agent.activated" | "approval_response" | "message.posted" | "agent.paused" | "agent.resumed" | "agent.deactivated" | "agent.scopes_changed" | "agent.settings_changed" | "run_force_failed" | "test.ping" | "agent.wakeup";
  activationId: string;
  runId: string | null;
  sequence: number;
  /** ISO 8601 instant */
  timestamp: string;
  state: "pending" | "queued" | "delivered" | "dead" | "superseded" | "cancelled";
  attempts: number;
  nextAttemptAt: string | null;
  waitsFor: string | null;
  settledAt: string | null;
  lastAttempt: DeliveryAttempt | null;
  body: string;
  log: DeliveryAttempt[];
}

export interface DeliveryError {
  message: string;
  smtpCode: number | null;
  enhancedCode: string | null;
}

export interface DomainCheck {
  domain: string;
  ok: boolean;
  relay: string | null;
  returnPathDomain: string;
  /** ISO 8601 instant */
  checkedAt: string;
  findings: DomainFinding[];
}

export type DomainCheckName = "sender" | "spf" | "dkim" | "dmarc" | "alignment" | "ptr" | "mx";

export interface DomainFinding {
  check: "sender" | "spf" | "dkim" | "dmarc" | "alignment" | "ptr" | "mx";
  status: "ok" | "warn" | "fail" | "skipped";
  message: string;
  record: {
    type: "TXT" | "MX" | "PTR";
    name: string;
    value: string;
  } | null;
  hint: string | null;
}

export interface DryRun {
  contactId: string;
  version: number | null;
  mayEnter: boolean;
  entryReason: string | null;
  status: "COMPLETED" | "EXITED" | "FAILED";
  reason: string | null;
  /** ISO 8601 instant */
  enteredAt: string;
  /** ISO 8601 instant */
  endedAt: string;
  path: DryRunStep[];
}

export interface DryRunStep {
  stepId: string;
  type: "send_email" | "delay" | "wait_until" | "wait_for_event" | "condition" | "split" | "update_contact" | "add_tag" | "remove_tag" | "add_to_list" | "remove_from_list" | "webhook" | "goal" | "exit";
  /** ISO 8601 instant */
  at: string;
  outcome: "done" | "skipped";
  reason: string | null;
  branch: string | null;
  assumed: boolean;
  until: string | null;
  email: {
    from: string;
    subject: string;
  } | null;
}

export interface Email {
  id: string;
  status: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled";
  to: string;
  recipients: EmailRecipient[];
  from: string;
  subject: string;
  test: boolean;
  tags: Record<string, string>;
  template: {
    slug: string;
    version: number;
  } | null;
  campaignId: string | null;
  contactId: string | null;
  messageId: string;
  attempts: number;
  inDoubt: boolean;
  relay: string | null;
  lastError: DeliveryError | null;
  /** ISO 8601 instant */
  createdAt: string;
  scheduledAt: string | null;
  nextAttemptAt: string | null;
  sentAt: string | null;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface EmailDetail {
  id: string;
  status: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled";
  to: string;
  recipients: EmailRecipient[];
  from: string;
  subject: string;
  test: boolean;
  tags: Record<string, string>;
  template: {
    slug: string;
    version: number;
  } | null;
  campaignId: string | null;
  contactId: string | null;
  messageId: string;
  attempts: number;
  inDoubt: boolean;
  relay: string | null;
  lastError: DeliveryError | null;
  /** ISO 8601 instant */
  createdAt: string;
  scheduledAt: string | null;
  nextAttemptAt: string | null;
  sentAt: string | null;
  /** ISO 8601 instant */
  updatedAt: string;
  replyTo: string | string[] | null;
  threadId: string;
  html: string | null;
  text: string | null;
  /** It was submitted over SMTP and is too large, or its parts are nested too deep, for html and text to be read whole */
  truncated: boolean;
  headers: Record<string, string>;
  attachments: Array<{
    filename: string;
    contentType: string;
    contentId: string | null;
    size: number;
  }>;
  events: Array<{
    id: string;
    type: "email.queued" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.failed" | "email.suppressed" | "email.cancelled" | "email.rescheduled" | "email.received";
    /** ISO 8601 instant */
    at: string;
    recipient: EventRecipient;
    data: Record<string, unknown>;
  }>;
}

export type EmailFilterStatus = "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled" | "scheduled";

export type EmailReaction = "opened" | "clicked";

export interface EmailRecipient {
  id: string;
  email: string;
  name: string | null;
  kind: "to" | "cc" | "bcc";
  status: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled";
  attempts: number;
  inDoubt: boolean;
  relay: string | null;
  lastError: DeliveryError | null;
  nextAttemptAt: string | null;
  sentAt: string | null;
  /** ISO 8601 instant */
  updatedAt: string;
}

export type EmailStatus = "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled";

export type EntryStatus = "ACTIVE" | "COMPLETED" | "EXITED" | "FAILED";

export interface EntryStep {
  stepId: string;
  /** ISO 8601 instant */
  at: string;
  outcome: "done" | "skipped";
  reason: string | null;
  branch: string | null;
  emailId: string | null;
}

export interface Erasure {
  contacts: number;
  emails: number;
  received: number;
  captured: number;
  events: number;
  answers: number;
  staysSuppressed: boolean;
}

export interface ErrorBody {
  error: {
    code: "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable";
    message: string;
    status: number;
    requestId: string;
    details: Array<{
      /** Path of the invalid field, e.g. to[3]; empty for the request as a whole */
      path: string;
      code: string;
      message: string;
      /** Line of the error in the field's text, from 1, if it has lines */
      line?: number | undefined;
      /** Column of the error in its line, from 1 */
      column?: number | undefined;
    }>;
    hint: string;
  };
}

export type ErrorCode = "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable";

export interface ErrorDetail {
  /** Path of the invalid field, e.g. to[3]; empty for the request as a whole */
  path: string;
  code: string;
  message: string;
  /** Line of the error in the field's text, from 1, if it has lines */
  line?: number | undefined;
  /** Column of the error in its line, from 1 */
  column?: number | undefined;
}

/** An event: `event.type` tells what `event.data` holds. */
export type Event = { [Type in EventType]: EventOf<Type> }[EventType];

/** One condition on an event. */
export interface EventCondition {
  field: ("value" | "currency" | "url" | "campaignId") | `properties.${string}`;
  operator: RuleOperator;
  value?: string | number | boolean | (string | number)[] | undefined;
}

export interface EventData {
  /** An email was accepted. */
  "email.queued": Record<never, never>;
  /** The mail server took an email. */
  "email.sent": {
    /** Its answer */
    response: string;
    attempt: number;
    /** Relay that had the attempt; absent for captured mail, and in reports that came back later */
    relay?: string | undefined;
  };
  /** An email was delivered. */
  "email.delivered": {
    /** The report that said so, such as dsn, arf, ses, postmark, mailgun or sendgrid */
    source?: string | undefined;
  };
  /** A mail server did not take an email yet; it is tried again. */
  "email.deferred": {
    type: "PERMANENT" | "TRANSIENT" | "UNDETERMINED";
    smtpCode: number | null;
    enhancedCode: string | null;
    /** The answer of the receiving server */
    diagnostic: string;
    /** Relay that had the attempt; absent for captured mail, and in reports that came back later */
    relay?: string | undefined;
    /** Absent in reports that came back later */
    attempt?: number | undefined;
    /** True if it may have arrived */
    inDoubt?: boolean | undefined;
    /** The report that said so, such as dsn, arf, ses, postmark, mailgun or sendgrid */
    source?: string | undefined;
  };
  /** An email was opened. */
  "email.opened": {
    /** True if a machine did it */
    machine?: boolean | undefined;
    /** Reason for which it counts as a machine's */
    machineReason?: "head-request" | "prefetch" | "apple-mail-privacy" | "scanner" | "too-soon" | "burst" | undefined;
    /** The mail program */
    client?: string | undefined;
    /** True for the first one of the email, of people and machines each */
    unique?: boolean | undefined;
    /** True for the reaction of a simulated recipient */
    simulated?: boolean | undefined;
  };
  /** A link of an email was clicked. */
  "email.clicked": {
    /** True if a machine did it */
    machine?: boolean | undefined;
    /** Reason for which it counts as a machine's */
    machineReason?: "head-request" | "prefetch" | "apple-mail-privacy" | "scanner" | "too-soon" | "burst" | undefined;
    /** The mail program */
    client?: string | undefined;
    /** True for the first one of the email, of people and machines each */
    unique?: boolean | undefined;
    /** True for the reaction of a simulated recipient */
    simulated?: boolean | undefined;
    url?: string | undefined;
    linkId?: string | undefined;
    /** True for the first click on this link */
    uniqueLink?: boolean | undefined;
  };
  /** A mail server refused an email for good. */
  "email.bounced": {
    type: "PERMANENT" | "TRANSIENT" | "UNDETERMINED";
    smtpCode: number | null;
    enhancedCode: string | null;
    /** The answer of the receiving server */
    diagnostic: string;
    /** Relay that had the attempt; absent for captured mail, and in reports that came back later */
    relay?: string | undefined;
    /** The report that said so, such as dsn, arf, ses, postmark, mailgun or sendgrid */
    source?: string | undefined;
  };
  /** The recipient reported an email as spam. */
  "email.complained": {
    /** abuse, fraud, virus or other */
    feedbackType?: string | undefined;
    /** The report that said so, such as dsn, arf, ses, postmark, mailgun or sendgrid */
    source?: string | undefined;
    /** True for the reaction of a simulated recipient */
    simulated?: boolean | undefined;
  };
  /** The recipient unsubscribed by an email. */
  "email.unsubscribed": {
    method: "page" | "one-click" | "mailto" | "provider";
    /** Marketing mail of all kinds, or that of some lists */
    scope: "all" | "lists";
    /** Ids of the lists that the person left */
    lists?: string[] | undefined;
  };
  /** An email was given up. */
  "email.failed": {
    type: "PERMANENT" | "TRANSIENT" | "UNDETERMINED";
    smtpCode: number | null;
    enhancedCode: string | null;
    /** The answer of the receiving server */
    diagnostic: string;
    /** Relay that had the attempt; absent for captured mail, and in reports that came back later */
    relay?: string | undefined;
    attempts: number;
  };
  /** An email was not sent, because its address is suppressed. */
  "email.suppressed": Record<never, never>;
  /** An email was cancelled. */
  "email.cancelled": Record<never, never>;
  /** An email was moved to another time. */
  "email.rescheduled": {
    /** ISO 8601 instant */
    scheduledAt: string;
  };
  /** A mail came in: the answer to an email, or one to a domain of yours. */
  "email.received": {
    receivedId: string;
    threadId: string;
    autoReply: "null_sender" | "program_address" | "auto_submitted" | "precedence" | "mailing_list" | "loop" | "too_many" | null;
    /** Address of the sender; null once the mail was deleted, and if it names none */
    from: string | null;
    fromName: string | null;
    subject: string | null;
    /** Address that it came to */
    mailbox: string | null;
    attachmentCount: number;
    attachments: ReceivedAttachment[];
  };
  /** A contact was created. */
  "contact.created": {
    source: string;
    tagsAdded?: string[] | undefined;
  };
  /** Fields of a contact changed. */
  "contact.updated": {
    source: string;
    /** Names of the fields */
    changed: string[];
    tagsAdded?: string[] | undefined;
    tagsRemoved?: string[] | undefined;
  };
  /** A contact was deleted. */
  "contact.deleted": Record<never, never>;
  /** A contact subscribed. */
  "contact.subscribed": {
    /** api, import, preferences, or the report that caused it */
    source: string;
    before: "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED";
  };
  /** A contact unsubscribed. */
  "contact.unsubscribed": {
    /** api, import, preferences, or the report that caused it */
    source: string;
    before: "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED";
  };
  /** A contact's address bounced. */
  "contact.bounced": {
    /** api, import, preferences, or the report that caused it */
    source: string;
    before: "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED";
  };
  /** A contact reported mail as spam. */
  "contact.complained": {
    /** api, import, preferences, or the report that caused it */
    source: string;
    before: "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED";
  };
  /** An event of yours was reported by events.track. */
  "contact.tracked": {
    name: string;
    value?: number | undefined;
    currency?: string | undefined;
    properties?: Record<string, unknown> | undefined;
  };
  /** A contact joined a list. */
  "list.joined": {
    listId: string;
  };
  /** A contact left a list. */
  "list.left": {
    listId: string;
    /** Present if the person left by themselves */
    source?: "preferences" | undefined;
  };
  /** A contact entered a segment. */
  "segment.entered": {
    segmentId: string;
    cause: "contact" | "rules" | "time";
  };
  /** A contact left a segment. */
  "segment.left": {
    segmentId: string;
    cause: "contact" | "rules" | "time";
  };
  /** An address was suppressed. */
  "suppression.added": {
    suppressionId: string;
    reason: "bounce" | "complaint" | "unsubscribe" | "manual";
    scope: "all" | "marketing";
    source: "api" | "import" | "bounce" | "complaint" | "unsubscribe";
  };
  /** An address is no longer suppressed. */
  "suppression.removed": {
    suppressionId: string;
    reason: "bounce" | "complaint" | "unsubscribe" | "manual";
    scope: "all" | "marketing";
    source: "api" | "import" | "bounce" | "complaint" | "unsubscribe";
  };
  /** A campaign was scheduled. */
  "campaign.scheduled": Record<never, never>;
  /** A campaign began to send. */
  "campaign.started": Record<never, never>;
  /** A campaign was paused, by you or by the service, which says why. */
  "campaign.paused": {
    code?: string | undefined;
    message?: string | undefined;
  };
  /** A campaign goes on. */
  "campaign.resumed": Record<never, never>;
  /** A campaign was sent. */
  "campaign.completed": Record<never, never>;
  /** A campaign was cancelled. */
  "campaign.cancelled": Record<never, never>;
  /** A scheduled campaign could not start. */
  "campaign.failed": {
    /** Code of the error */
    code: string;
    message: string;
  };
  /** A contact entered an automation. */
  "automation.entered": {
    entryId: string;
    version: number;
  };
  /** A contact took the last step of an automation. */
  "automation.completed": {
    entryId: string;
    /** Reason, such as replied, contact_deleted or that of an exit step */
    reason?: string | undefined;
  };
  /** A contact left an automation before its end. */
  "automation.exited": {
    entryId: string;
    /** Reason, such as replied, contact_deleted or that of an exit step */
    reason?: string | undefined;
  };
  /** An automation failed for a contact. */
  "automation.failed": {
    entryId: string;
    /** Reason, such as replied, contact_deleted or that of an exit step */
    reason?: string | undefined;
  };
  /** A contact reached the goal of an automation. */
  "automation.goal_reached": {
    entryId: string;
  };
  /** A webhook step of an automation ran. It goes to the webhook that the step names, and to no other one. */
  "automation.webhook": {
    webhookId: string;
    entryId: string;
    stepId: string;
    data?: Record<string, unknown> | undefined;
  };
  /** A DNS record of a verified domain has been missing for a day. */
  "domain.record_missing": {
    /** Id of the sender; absent for inbound domains */
    senderId?: string | undefined;
    /** Id of the inbound domain; absent for senders */
    inboundDomainId?: string | undefined;
    domain: string;
    /** Instant since which it fails, or did */
    failingSince: string;
    /** Names the record */
    reason: string | null;
  };
  /** A missing DNS record is back. */
  "domain.record_restored": {
    /** Id of the sender; absent for inbound domains */
    senderId?: string | undefined;
    /** Id of the inbound domain; absent for senders */
    inboundDomainId?: string | undefined;
    domain: string;
    /** Instant since which it fails, or did */
    failingSince: string;
  };
  /** Too much mail bounces or is reported as spam; campaigns pause at the second limit. */
  "mail.rate_high": {
    kind: "bounce" | "complaint";
    state: "WARNED" | "PAUSED";
    /** Share of the mails */
    rate: number;
    mails: number;
    /** The same in words */
    message: string;
  };
  /** A test of a webhook was asked for. */
  "webhook.test": {
    webhookId: string;
  };
  /** A webhook was disabled, because it failed for days. */
  "webhook.disabled": {
    webhookId: string;
    /** Instant since which it fails, or did */
    failingSince: string;
  };
}

/** A rule tree about an event, as segments have about contacts. */
export type EventFilter = { all: EventFilter[] } | { any: EventFilter[] } | { not: EventFilter } | EventCondition;

/** An event of one type, as lists, the stream and developer webhooks show it. */
export type EventOf<Type extends EventType> = Omit<{
  id: string;
  sequence: number;
  type: "email.queued" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.failed" | "email.suppressed" | "email.cancelled" | "email.rescheduled" | "email.received" | "contact.created" | "contact.updated" | "contact.deleted" | "contact.subscribed" | "contact.unsubscribed" | "contact.bounced" | "contact.complained" | "contact.tracked" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "suppression.added" | "suppression.removed" | "campaign.scheduled" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.cancelled" | "campaign.failed" | "automation.entered" | "automation.completed" | "automation.exited" | "automation.failed" | "automation.goal_reached" | "automation.webhook" | "domain.record_missing" | "domain.record_restored" | "mail.rate_high" | "webhook.test" | "webhook.disabled";
  /** ISO 8601 instant */
  at: string;
  emailId: string | null;
  to: string | null;
  recipient: EventRecipient | null;
  contactId: string | null;
  externalId: string | null;
  campaignId: string | null;
  automationId: string | null;
  test: boolean;
  machine: boolean | null;
  tags: Record<string, string>;
  data: Record<string, unknown>;
}, "type" | "data"> & { type: Type; data: EventData[Type] };

/** All types, or those of one noun, or one type. */
export type EventPattern = "*" | `${string}.*` | EventType;

export interface EventReader {
  name: "metrics" | "engagement" | "campaigns" | "automations" | "soft_bounces";
  /** Null for a reader that acts, such as that of automations */
  keeps: string | null;
  /** Events that it still has to read, in all workspaces */
  unread: number;
  /** Workspaces in which it cannot go on; it is tried again once a minute */
  failing: Array<{
    workspaceId: string;
    /** ISO 8601 instant */
    since: string;
    error: string;
  }>;
}

export interface EventRecipient {
  id: string;
  email: string;
  kind: "to" | "cc" | "bcc";
}

/** A type of event, in the stream of a workspace and in developer webhooks. */
export type EventType = keyof EventData;

export interface ExplainedCall {
  label: string;
  operation: string;
  permission: string;
  path: string[];
  body?: Record<string, string> | undefined;
}

export type ExplainedKind = "email" | "received" | "contact" | "campaign" | "automation_entry" | "webhook" | "webhook_delivery" | "activation" | "run" | "agent_event";

export type ExplainedPrefix = "em" | "mail" | "rcv" | "evt" | "con" | "cmp" | "ent" | "whk" | "whd" | "act" | "run";

export interface Explanation {
  id: string;
  kind: "email" | "received" | "contact" | "campaign" | "automation_entry" | "webhook" | "webhook_delivery" | "activation" | "run" | "agent_event";
  title: string;
  status: string;
  summary: string;
  timeline: Array<{
    /** ISO 8601 instant */
    at: string;
    what: string;
    why: string | null;
  }>;
  next: {
    at: string | null;
    what: string;
  } | null;
  actions: Array<{
    what: string;
    command: string | null;
    call?: ExplainedCall | undefined;
  }>;
  related: string[];
  /** ISO 8601 instant */
  explainedAt: string;
}

export interface FailedRecipient {
  to: string;
  code: "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable";
  message: string;
}

export interface Fault {
  /** Fail this step of SMTP conversations instead of requests */
  smtp?: "connect" | "ehlo" | "auth" | "mail" | "rcpt" | "data" | "end-of-data" | undefined;
  /** With smtp: mail that programs submit to this server over SMTP (the default), or mail that it hands over for delivery */
  on?: "submission" | "delivery" | undefined;
  /** With smtp: only this recipient, sender (mail) or user name (auth); * matches anything, e.g. *@example.com */
  address?: string | undefined;
  /** Only this method */
  method?: "GET" | "POST" | "PATCH" | "DELETE" | undefined;
  /** Path; * matches anything, e.g. /api/v1/emails/* */
  path: string;
  /** Answer with this error; with smtp, a reply code such as 452 */
  code?: "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable" | number | undefined;
  /** With smtp: enhanced status code of the reply, e.g. 4.2.2 (default: the usual one of the code) */
  enhancedCode?: string | undefined;
  /** With smtp: text of the reply */
  text?: string | undefined;
  /** Close the connection instead of responding */
  drop: boolean;
  /** Fail before the work, or after it is done */
  when: "before" | "after";
  /** Wait this long (real time) first */
  delayMs: number;
  /** Let this many matching requests through first */
  skip: number;
  /** Apply to this many requests, then stop */
  count?: number | undefined;
  /** Share of matching requests to apply to, 0 to 1 */
  rate: number;
  /** Seed of the random numbers behind rate */
  seed: number;
  id: string;
  matched: number;
  hits: number;
}

/** The kind of a field, which decides its operators. A count is of what a contact did; a fact is of one such event. */
export type FieldKind = "text" | "status" | "instant" | "set" | "custom" | "count" | "fact";

export type FindingStatus = "ok" | "warn" | "fail" | "skipped";

/** The fields that sign-up forms may ask for besides the address. */
export type FormField = Exclude<ContactTextField, "language">;

export interface HandOver {
  averageMs: number;
  within1s: number;
  within10s: number;
  within1m: number;
  within10m: number;
  within1h: number;
}

export interface Heartbeat {
  runId: string;
  status: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED";
  /** ISO 8601 instant */
  lastHeartbeatAt: string;
  /** ISO 8601 instant */
  deadlineAt: string;
  heartbeatIntervalSeconds: number;
  accepted: number;
  cancelRequested: boolean;
}

/** An invitation: {method, content}. Mail programs show it with buttons, and as the file invite.ics */
export interface IcalEvent {
  /** Purpose, as METHOD of the content says it; taken from there when absent */
  method?: "REQUEST" | "CANCEL" | "REPLY" | "PUBLISH" | "ADD" | "REFRESH" | "COUNTER" | "DECLINECOUNTER" | undefined;
  /** The calendar, from BEGIN:VCALENDAR to END:VCALENDAR, up to 1 MiB */
  content: string;
  /** Name of the file; invite.ics when absent */
  filename?: string | undefined;
}

export type ImportResult = "created" | "updated" | "unchanged" | "skipped" | "failed";

export interface InboundDomain {
  id: string;
  domain: string;
  status: "PENDING" | "VERIFIED";
  dnsRecords: Array<{
    type: "TXT" | "MX";
    name: string;
    value: string;
    priority: number | null;
  }>;
  lastError: string | null;
  failingSince: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  verifiedAt: string | null;
}

export interface Job {
  id: string;
  kind: string;
  state: "ready" | "running" | "dead" | "unhandled";
  payload: Record<string, unknown>;
  attempts: number;
  maxAttempts: number;
  /** ISO 8601 instant */
  runAt: string;
  lastError: string | null;
  /** ISO 8601 instant */
  createdAt: string;
}

export interface Key {
  id: string;
  name: string;
  permissions: Array<"contacts:read" | "contacts:write" | "campaigns:read" | "campaigns:write" | "templates:read" | "templates:write" | "automations:read" | "automations:write" | "transactional:send" | "transactional:read" | "mail_states:read" | "received:read" | "received:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "providers:read" | "providers:write" | "people:read" | "people:write" | "lists:read" | "lists:write" | "segments:read" | "segments:write" | "events:read" | "events:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "audit:read" | "jobs:read" | "jobs:write" | "listings:read" | "listings:write" | "marketplace:read" | "marketplace:write" | "brand:read" | "brand:write" | "billing:read" | "billing:write">;
  owner: boolean;
  test: boolean;
  preview: string;
  state: "active" | "expired" | "revoked";
  /** ISO 8601 instant */
  createdAt: string;
  revokedAt: string | null;
  lastUsedAt: string | null;
  expiresAt: string | null;
  senders: string[] | null;
  networks: string[] | null;
}

export interface LandingPage {
  id: string;
  slug: string;
  url: string;
  title: string;
  status: "DRAFT" | "PUBLISHED";
  version: number;
  hasForm: boolean;
  leadMagnetId: string | null;
  listId: string | null;
  runId: string | null;
  createdBy: {
    agent: boolean;
    activationId: string | null;
  };
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  publishedAt: string | null;
  html: string | null;
  blocks: Array<{
    type: "heading";
    text: string;
    level: number;
  } | {
    type: "text";
    text: string;
  } | {
    type: "image";
    /** Id of an asset */
    assetId: string;
    alt: string;
    caption?: string | undefined;
  } | {
    type: "list";
    items: string[];
    ordered: boolean;
  } | {
    type: "quote";
    text: string;
    by?: string | undefined;
  } | {
    type: "button";
    label: string;
    href: string;
  } | {
    type: "divider";
  } | {
    type: "form";
  }> | null;
  seo: {
    title?: string | undefined;
    description?: string | undefined;
    /** Id of an asset */
    ogAssetId?: string | undefined;
  };
  form: {
    /** Heading of the form */
    title?: string | undefined;
    /** Fields besides the email address */
    fields?: Array<"firstName" | "lastName" | "phone"> | undefined;
    /** Names of the fields, by field */
    labels?: {
      email?: string | undefined;
      firstName?: string | undefined;
      lastName?: string | undefined;
      phone?: string | undefined;
    } | undefined;
    /** Text of the button */
    button?: string | undefined;
    /** Text that visitors agree to by submitting the form; stored with each sign-up */
    consentText?: string | undefined;
    /** Visitors must tick a box next to the consent text */
    consentCheckbox?: boolean | undefined;
    /** Heading of the page that follows */
    thanksTitle?: string | undefined;
    /** Text of the page that follows */
    thanksText?: string | undefined;
  } | null;
  previewUrl: string;
}

export interface LandingPageStats {
  from: string;
  to: string;
  views: number;
  uniqueVisitors: number;
  submissions: number;
  conversionRate: number;
  byDay: Array<{
    date: string;
    views: number;
    uniqueVisitors: number;
    submissions: number;
  }>;
  topReferrers: Array<{
    host: string;
    views: number;
  }>;
}

export type LandingPageStatus = "DRAFT" | "PUBLISHED";

export interface LandingPageSubmission {
  id: string;
  contactId: string | null;
  consentText: string;
  listId: string | null;
  /** ISO 8601 instant */
  createdAt: string;
}

export interface LandingPageSummary {
  id: string;
  slug: string;
  url: string;
  title: string;
  status: "DRAFT" | "PUBLISHED";
  version: number;
  hasForm: boolean;
  leadMagnetId: string | null;
  listId: string | null;
  runId: string | null;
  createdBy: {
    agent: boolean;
    activationId: string | null;
  };
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  publishedAt: string | null;
}

export interface LeadMagnet {
  id: string;
  title: string;
  description: string | null;
  fileName: string;
  contentType: "application/pdf" | "application/epub+zip" | "application/zip" | "application/vnd.openxmlformats-officedocument.wordprocessingml.document" | "image/png" | "image/jpeg" | "audio/mpeg" | "video/mp4";
  size: number;
  sha256: string;
  downloadUrl: string;
  /** ISO 8601 instant */
  createdAt: string;
}

export interface LintFinding {
  rule: "link-no-target" | "url-relative" | "url-unsafe" | "url-local" | "url-insecure" | "link-no-text" | "image-no-source" | "image-no-alt" | "image-no-size" | "image-data" | "gmail-clipping" | "script" | "embedded-content" | "form" | "external-stylesheet" | "style-too-long" | "client-support" | "dark-mode" | "dark-mode-colors" | "contrast" | "language-missing" | "viewport-missing" | "table-no-role" | "tag-unclosed" | "preheader-missing" | "text-missing" | "unsubscribe-missing" | "subject-long" | "subject-shouting" | "spam-words" | "template-syntax" | "variable-undeclared" | "variable-unused" | "placeholder-left" | "calendar-invalid" | "calendar-incomplete";
  severity: "error" | "warning";
  part: "subject" | "html" | "text" | "calendar";
  line: number | null;
  column: number | null;
  message: string;
  fix: string;
}

export interface LintReport {
  findings: LintFinding[];
  errors: number;
  warnings: number;
  omitted: number;
  bytes: number;
  rendered: boolean;
}

export interface LintRule {
  id: "link-no-target" | "url-relative" | "url-unsafe" | "url-local" | "url-insecure" | "link-no-text" | "image-no-source" | "image-no-alt" | "image-no-size" | "image-data" | "gmail-clipping" | "script" | "embedded-content" | "form" | "external-stylesheet" | "style-too-long" | "client-support" | "dark-mode" | "dark-mode-colors" | "contrast" | "language-missing" | "viewport-missing" | "table-no-role" | "tag-unclosed" | "preheader-missing" | "text-missing" | "unsubscribe-missing" | "subject-long" | "subject-shouting" | "spam-words" | "template-syntax" | "variable-undeclared" | "variable-unused" | "placeholder-left" | "calendar-invalid" | "calendar-incomplete";
  severity: "error" | "warning";
  about: string;
  fix: string;
}

export type LintRuleId = "link-no-target" | "url-relative" | "url-unsafe" | "url-local" | "url-insecure" | "link-no-text" | "image-no-source" | "image-no-alt" | "image-no-size" | "image-data" | "gmail-clipping" | "script" | "embedded-content" | "form" | "external-stylesheet" | "style-too-long" | "client-support" | "dark-mode" | "dark-mode-colors" | "contrast" | "language-missing" | "viewport-missing" | "table-no-role" | "tag-unclosed" | "preheader-missing" | "text-missing" | "unsubscribe-missing" | "subject-long" | "subject-shouting" | "spam-words" | "template-syntax" | "variable-undeclared" | "variable-unused" | "placeholder-left" | "calendar-invalid" | "calendar-incomplete";

export type LintSeverity = "error" | "warning";

export interface List {
  id: string;
  name: string;
  description: string | null;
  doubleOptIn: boolean;
  confirmationFrom: string | null;
  confirmationSubject: string | null;
  public: boolean;
  language: string | null;
  memberCount: number;
  pendingCount: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface ListAddition {
  added: number;
  pending: number;
  unchanged: number;
  failed: Array<{
    index: number;
    contact: string;
    code: string;
    message: string;
  }>;
}

export interface ListMember {
  contact: Contact;
  status: "MEMBER" | "PENDING";
  /** ISO 8601 instant */
  addedAt: string;
  joinedAt: string | null;
  expiresAt: string | null;
}

export type ListMemberStatus = "MEMBER" | "PENDING";

export interface ListMetadata {
  id: string;
  name: string;
  description: string | null;
  contactCount: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface ListRemoval {
  removed: number;
  failed: Array<{
    index: number;
    contact: string;
    code: string;
    message: string;
  }>;
}

export interface Listing {
  id: string;
  slug: string;
  name: string;
  description: string;
  webhookUrl: string;
  permissions: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  settingsSchema: SettingsSchema | null;
  installRedirects: string[];
  version: number;
  state: "DRAFT" | "LISTED" | "CANCELLED" | "EXPIRED";
  price: {
    amount: number;
    currency: string;
    interval: "month";
  };
  listedAt: string | null;
  expiresAt: string | null;
  endedAt: string | null;
  secretRotatesAt: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface ListingActivation {
  id: string;
  organizationName: string;
  status: "active" | "paused" | "deactivated";
  pauseReasons: Array<"user_paused" | "plan_downgrade" | "webhook_failure">;
  scopes: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  keyPreview: string;
  keyDeliveredAt: string | null;
  webhookLastError: WebhookError | null;
  /** ISO 8601 instant */
  createdAt: string;
  deactivatedAt: string | null;
}

export type ListingState = "DRAFT" | "LISTED" | "CANCELLED" | "EXPIRED";

export interface LocalTime {
  /** Date and time on the reader's clock, such as 2030-03-01T09:00 */
  at: string;
  /** The custom field of contacts with their time zone, such as Europe/Berlin */
  field: string;
  /** The time zone of contacts without a valid one */
  fallback: string;
}

export interface LocalTimeInput {
  /** Date and time on the reader's clock, such as 2030-03-01T09:00 */
  at: string;
  /** The custom field of contacts with their time zone, such as Europe/Berlin */
  field?: string | undefined;
  /** The time zone of contacts without a valid one */
  fallback?: string | undefined;
}

export interface MailAuthentication {
  spf: "pass" | "fail" | "softfail" | "neutral" | "none" | "policy" | "temperror" | "permerror" | null;
  dkim: "pass" | "fail" | "softfail" | "neutral" | "none" | "policy" | "temperror" | "permerror";
  dmarc: "pass" | "fail" | "softfail" | "neutral" | "none" | "policy" | "temperror" | "permerror" | null;
  signers: string[];
  policy: "none" | "quarantine" | "reject" | null;
  reason: string | null;
}

export type MailBlock = ColumnBlock | {
  type: "columns";
  /** Two or three columns of the same width; on phones one below the other */
  columns: Array<{
    blocks: ColumnBlock[];
  }>;
};

export type MailBlocks = MailBlock[];

export type MailClient = "gmail-web" | "gmail-ios" | "gmail-android" | "outlook-windows" | "outlook-macos" | "outlook-web" | "outlook-ios" | "outlook-android" | "apple-mail-macos" | "apple-mail-ios" | "yahoo-web" | "yahoo-ios" | "yahoo-android" | "samsung-android" | "thunderbird" | "proton-web" | "fastmail-web" | "gmx-web";

export interface MailCounts {
  accepted: number;
  sent: number;
  delivered: number;
  deferred: number;
  bounced: number;
  hardBounced: number;
  softBounced: number;
  complained: number;
  failed: number;
  suppressed: number;
  cancelled: number;
  opened: number;
  clicked: number;
  opens: number;
  clicks: number;
  machineOpens: number;
  machineClicks: number;
  unsubscribed: number;
  handOver: HandOver | null;
  rates: MailRates;
}

export interface MailLimits {
  leastMails: number;
  bounce: RateAlarm;
  complaint: RateAlarm;
}

export interface MailRates {
  bounce: number | null;
  complaint: number | null;
  open: number | null;
  click: number | null;
  unsubscribe: number | null;
}

export interface MailState {
  id: string;
  status: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled";
  to: string;
  recipients: RecipientState[];
  from: string;
  template: string | null;
  campaignId: string | null;
  attempts: number;
  inDoubt: boolean;
  lastError: DeliveryError | null;
  /** ISO 8601 instant */
  createdAt: string;
  scheduledAt: string | null;
  nextAttemptAt: string | null;
}

export interface MailStateDetail {
  id: string;
  status: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled";
  to: string;
  recipients: RecipientState[];
  from: string;
  template: string | null;
  campaignId: string | null;
  attempts: number;
  inDoubt: boolean;
  lastError: DeliveryError | null;
  /** ISO 8601 instant */
  createdAt: string;
  scheduledAt: string | null;
  nextAttemptAt: string | null;
  events: Array<{
    id: string;
    type: "email.queued" | "email.sent" | "email.delivered" | "email.deferred" | "email.bounced" | "email.failed" | "email.suppressed" | "email.cancelled" | "email.rescheduled";
    /** ISO 8601 instant */
    at: string;
    email: string;
  }>;
}

/** A mailbox: the address to deliver to, and the name people see. */
export interface Mailbox {
  /** Display name, decoded; empty if there is none. */
  readonly name: string;
  /**
   * `local@domain` in its one canonical spelling: the local part in Unicode form C and without needless quotes and backslashes,
   * the domain in lower-case ASCII (IDNA). Upper case in the local part is kept.
   */
  readonly address: string;
  readonly local: string;
  readonly domain: string;
  /** Result of `addressKey`: equal for all spellings of one mailbox. */
  readonly key: string;
}

export interface Member {
  id: string;
  email: string;
  name: string | null;
  role: "owner" | "marketer" | "viewer" | "support";
  invitedBy: string;
  /** ISO 8601 instant */
  createdAt: string;
  joinedAt: string | null;
  lastSignInAt: string | null;
  sessions: number;
}

export interface Message {
  id: string;
  sequence: number;
  activationId: string;
  runId: string | null;
  type: "TEXT" | "APPROVAL_REQUEST" | "APPROVAL_RESPONSE";
  direction: "inbound" | "outbound";
  author: {
    role: "agent" | "brand" | "system";
  };
  text: string;
  format: "plain" | "markdown";
  externalId: string | null;
  inReplyTo: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  readAt: string | null;
  approval: Approval | null;
}

export type MessageDirection = "inbound" | "outbound";

export type MessageType = "TEXT" | "APPROVAL_REQUEST" | "APPROVAL_RESPONSE";

export type MetricsDimension = "tag" | "sender" | "domain" | "relay" | "campaign" | "template";

export type MetricsInterval = "hour" | "day" | "all";

export interface MetricsReport {
  /** ISO 8601 instant */
  from: string;
  /** ISO 8601 instant */
  to: string;
  zone: string;
  interval: "hour" | "day" | "all";
  by: "tag" | "sender" | "domain" | "relay" | "campaign" | "template" | null;
  total: MailCounts;
  data: MetricsRow[];
}

export interface MetricsRow {
  /** ISO 8601 instant */
  from: string;
  /** ISO 8601 instant */
  to: string;
  value: string | null;
  accepted: number;
  sent: number;
  delivered: number;
  deferred: number;
  bounced: number;
  hardBounced: number;
  softBounced: number;
  complained: number;
  failed: number;
  suppressed: number;
  cancelled: number;
  opened: number;
  clicked: number;
  opens: number;
  clicks: number;
  machineOpens: number;
  machineClicks: number;
  unsubscribed: number;
  handOver: HandOver | null;
  rates: MailRates;
}

export interface MetricsVerification {
  correct: boolean;
  /** ISO 8601 instant */
  from: string;
  /** ISO 8601 instant */
  to: string;
  events: number;
  daysWithoutMail: number;
  differences: Array<{
    what: string;
    counted: number;
    actual: number;
  }>;
}

/** A recipient of a send, and the place in the request that names it first, such as `cc[3]`. */
export interface NamedRecipient {
  readonly kind: RecipientKind;
  readonly path: string;
  readonly box: Mailbox;
}

export interface NewAutomation {
  /** Name */
  name: string;
  /** What it is for */
  description?: string | null | undefined;
  /** What makes a contact enter: { "type": "contact.created" } */
  trigger: AutomationTrigger;
  /** The steps, each with an id */
  steps: AutomationStep[];
  /** What follows what: { from, to, branch }. The first one begins at trigger */
  connections: AutomationConnection[];
  /** What counts as success, while a contact is inside */
  goal?: AutomationOccurrence | null | undefined;
  /** Currency of its revenue; USD when absent */
  currency?: string | undefined;
  /** Let a contact enter again once it is out; false when absent */
  allowReEntry?: boolean | undefined;
  /** Hours from one entry of a contact to its next one, at least; 24 when absent */
  reEntryDelayHours?: number | undefined;
}

export interface NewCampaign {
  /** Name, up to 200 characters */
  name: string;
  /** Subject, up to 998 characters; may contain {{ variables }} */
  subjectLine: string;
  /** Address of a verified sender */
  fromEmail: string;
  /** Published template to send */
  templateId?: string | undefined;
  /** HTML body, may contain {{ variables }} */
  html?: string | undefined;
  /** Plain-text body, may contain {{ variables }} */
  text?: string | undefined;
  /** Content as blocks: heading, text, image, button, columns, divider, spacer; the HTML is rendered from them */
  blocks?: MailBlock[] | undefined;
  /** Name of the sender */
  fromName?: string | undefined;
  /** Reply-To address, or up to ten; auto to receive the replies here; that of the template when absent */
  replyTo?: string | string[] | undefined;
  /** Text that mail programs show next to the subject, up to 200 characters */
  previewText?: string | undefined;
  /** Who gets it: all contacts, a segment, a list, several of both (groups), or recipients of an earlier campaign (resend) */
  recipientType?: "all" | "segment" | "list" | "groups" | "resend" | undefined;
  /** The segment, if recipientType is segment */
  segmentId?: string | undefined;
  /** The list, if recipientType is list */
  listId?: string | undefined;
  /** Ids of lists and segments, if recipientType is groups: each contact in any of them gets it once */
  include?: string[] | undefined;
  /** Ids of lists and segments that do not get it, whatever recipientType is */
  exclude?: string[] | undefined;
  /** The earlier campaign, if recipientType is resend: {campaignId, to} */
  resendOf?: ResendOf | undefined;
  /** When to send (ISO 8601), in the future, at most 365 days ahead */
  scheduledAt?: string | Date | undefined;
  /** How fast, and at which hours: {perSecond, window} */
  throttle?: Throttle | undefined;
  /** When each reader gets it, by their own clock: {at, field, fallback} */
  localTime?: LocalTimeInput | undefined;
  /** Variants to try on a sample, and how the winner is decided: {variants, samplePercent, winner, decideAfterMinutes} */
  abTest?: AbTestInput | undefined;
  /** Relay that takes its mail; your operator knows the names */
  relay?: string | undefined;
  /** Count opens */
  trackOpens?: boolean | undefined;
  /** Count clicks */
  trackClicks?: boolean | undefined;
  utm?: Utm | undefined;
}

export interface NewContact {
  /** Email address */
  email: string;
  externalId?: string | null | undefined;
  /** First name, up to 100 characters */
  firstName?: string | null | undefined;
  /** Last name, up to 100 characters */
  lastName?: string | null | undefined;
  /** Phone number, up to 30 characters */
  phone?: string | null | undefined;
  /** Language of the pages and mail that this server writes to the contact, such as de or pt-BR; docs/languages.md */
  language?: string | null | undefined;
  /** Tags, up to 50 */
  tags?: string[] | undefined;
  /** Free data, name to value: texts, numbers, booleans, objects and arrays, nested up to 5 levels; a field set to null is removed */
  customFields?: Record<string, CustomValue> | undefined;
}

export type NewProposal = {
  kind: "campaign";
  name: string;
  /** Subject line, up to 998 characters */
  subject: string;
  /** HTML body */
  html?: string | undefined;
  /** Plain-text body */
  text?: string | undefined;
  previewText?: string | undefined;
  /** Ids of the lists to suggest */
  lists: string[];
} | {
  kind: "template";
  name: string;
  /** Subject line, up to 998 characters */
  subject: string;
  /** HTML body */
  html?: string | undefined;
  /** Plain-text body */
  text?: string | undefined;
  type: "marketing" | "transactional";
};

export interface NewRelay {
  /** Name of the relay: lower-case letters, digits and dashes */
  name: string;
  /** Host name or address of the mail server */
  host: string;
  /** Port; 587 unless said, with implicit TLS 465 */
  port?: number | undefined;
  /** Encryption: from the first byte (implicit), STARTTLS always or when offered, or off. A login needs it by default */
  tls?: "implicit" | "required" | "opportunistic" | "off" | undefined;
  /** Whether the certificate must be valid for the host; by default on all but this machine */
  verify?: boolean | undefined;
  /** User to log in as; with OAuth2 the mailbox */
  user?: string | null | undefined;
  /** Password of the user */
  password?: string | null | undefined;
  /** Log in with an access token of this service instead of a password */
  oauth?: "microsoft" | "google" | "custom" | null | undefined;
  /** Microsoft: the directory (tenant) id */
  tenant?: string | null | undefined;
  /** OAuth2: the id of the application */
  clientId?: string | null | undefined;
  /** OAuth2: the secret of the application */
  clientSecret?: string | null | undefined;
  /** OAuth2: for the refresh token grant; without it the client credentials grant is used */
  refreshToken?: string | null | undefined;
  /** OAuth2: what to ask for; known for Microsoft and Google */
  scope?: string | null | undefined;
  /** OAuth2: the token server; known for Microsoft and Google */
  tokenUrl?: string | null | undefined;
  /** Keys to sign with; null for those of --dkim, an empty list to sign nothing */
  dkim?: Array<{
    /** Domain name */
    domain: string;
    /** The name under _domainkey */
    selector: string;
    /** PEM */
    privateKey: string;
    /** The workspaces whose mail it signs, by id, or all; the workspace of the relay unless said, else the first one */
    workspaces?: "all" | string[] | undefined;
  }> | null | undefined;
  /** Mails per second at most, of all processes of the server together; null for no limit */
  ratePerSecond?: number | null | undefined;
  /** Connections at the same time; 5 unless said */
  connections?: number | undefined;
  /** Relays that take over while this one is out of service, in this order */
  fallback?: string[] | undefined;
  /** The only workspace whose mail may name it; null for every workspace */
  workspaceId?: string | null | undefined;
}

export type OAuthProvider = "microsoft" | "google" | "custom";

export interface Page<T> {
  data: T[];
  pagination: Pagination;
}

export type PageBlock = {
  type: "heading";
  text: string;
  level: number;
} | {
  type: "text";
  text: string;
} | {
  type: "image";
  /** Id of an asset */
  assetId: string;
  alt: string;
  caption?: string | undefined;
} | {
  type: "list";
  items: string[];
  ordered: boolean;
} | {
  type: "quote";
  text: string;
  by?: string | undefined;
} | {
  type: "button";
  label: string;
  href: string;
} | {
  type: "divider";
} | {
  type: "form";
};

export interface PageForm {
  /** Heading of the form */
  title?: string | undefined;
  /** Fields besides the email address */
  fields?: Array<"firstName" | "lastName" | "phone"> | undefined;
  /** Names of the fields, by field */
  labels?: {
    email?: string | undefined;
    firstName?: string | undefined;
    lastName?: string | undefined;
    phone?: string | undefined;
  } | undefined;
  /** Text of the button */
  button?: string | undefined;
  /** Text that visitors agree to by submitting the form; stored with each sign-up */
  consentText?: string | undefined;
  /** Visitors must tick a box next to the consent text */
  consentCheckbox?: boolean | undefined;
  /** Heading of the page that follows */
  thanksTitle?: string | undefined;
  /** Text of the page that follows */
  thanksText?: string | undefined;
}

export interface PageSeo {
  title?: string | undefined;
  description?: string | undefined;
  /** Id of an asset */
  ogAssetId?: string | undefined;
}

export interface Pagination {
  page: number;
  limit: number;
  total: number;
  totalIsMinimum?: true | undefined;
  examined?: number | undefined;
  totalPages: number;
  hasMore: boolean;
  nextCursor: string | null;
}

export type PauseReason = "user_paused" | "plan_downgrade" | "webhook_failure";

export interface Payment {
  id: string;
  listingSlug: string;
  provider: "local" | "stripe";
  sessionId: string;
  state: "PENDING" | "PAID" | "FAILED" | "EXPIRED";
  amount: number;
  currency: string;
  checkoutUrl: string;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  expiresAt: string;
  paidAt: string | null;
}

export type PaymentState = "PENDING" | "PAID" | "FAILED" | "EXPIRED";

export type Permission = "contacts:read" | "contacts:write" | "campaigns:read" | "campaigns:write" | "templates:read" | "templates:write" | "automations:read" | "automations:write" | "transactional:send" | "transactional:read" | "mail_states:read" | "received:read" | "received:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "providers:read" | "providers:write" | "people:read" | "people:write" | "lists:read" | "lists:write" | "segments:read" | "segments:write" | "events:read" | "events:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "audit:read" | "jobs:read" | "jobs:write" | "listings:read" | "listings:write" | "marketplace:read" | "marketplace:write" | "brand:read" | "brand:write" | "billing:read" | "billing:write";

export interface Person {
  email: string;
  contact: ContactDetail | null;
  lists: PersonList[];
  signUps: PersonSignUp[];
  formerValues: Array<Record<string, unknown>>;
  automationEntries: PersonEntry[];
  events: Array<{
    id: string;
    type: string;
    /** ISO 8601 instant */
    at: string;
    data: Record<string, unknown>;
  }>;
  suppression: Suppression | null;
  received: ReceivedMailDetail[];
  emails: EmailDetail[];
  nextCursor: string | null;
}

export interface PersonEntry {
  id: string;
  version: number;
  status: "ACTIVE" | "COMPLETED" | "EXITED" | "FAILED";
  reason: string | null;
  stepId: string | null;
  dueAt: string | null;
  /** ISO 8601 instant */
  enteredAt: string;
  endedAt: string | null;
  goalReachedAt: string | null;
  revenue: number;
  goalRevenue: number;
  path: EntryStep[];
  automationId: string;
  automationName: string;
  event: {
    name: string;
    value?: number | undefined;
    currency?: string | undefined;
    properties?: Record<string, unknown> | undefined;
  } | null;
}

export interface PersonList {
  id: string;
  name: string;
  status: "MEMBER" | "PENDING";
  /** ISO 8601 instant */
  addedAt: string;
  joinedAt: string | null;
}

export interface PersonSignUp {
  id: string;
  consentText: string;
  listId: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  landingPageId: string;
}

export interface Plan {
  plan: "none" | "free" | "starter" | "growth" | "scale";
  covers: number | null;
  used: number;
  changedAt: string | null;
}

export interface PlanChange {
  paused: string[];
  resumed: string[];
  deactivated: string[];
}

export type PlanName = "none" | "free" | "starter" | "growth" | "scale";

/** Forms of a text with a number, by the plural categories of its language. */
export type PluralForms = { readonly [Category in Intl.LDMLPluralRule]?: string } & { readonly other: string };

export interface Proposal {
  kind: "campaign" | "template";
  name: string;
  subject: string;
  previewText: string | null;
  lists: string[];
  hash: string;
}

export interface ProposalDetail {
  kind: "campaign" | "template";
  name: string;
  subject: string;
  previewText: string | null;
  lists: string[];
  hash: string;
  html: string | null;
  text: string | null;
  rendered: {
    subject: string;
    html: string | null;
    text: string | null;
  } | null;
  renderError: string | null;
  linksTo: string[];
  loadsFrom: string[];
  suggestedLists: Array<{
    id: string;
    name: string;
    memberCount: number;
  }> | null;
  reach: number | null;
  suggestedSender: {
    fromEmail: string;
    fromName: string | null;
  } | null;
  created: {
    kind: "campaign" | "template";
    id: string;
    sent: boolean;
  } | null;
}

export type ProposalEnd = "draft" | "send";

export interface ProposedBy {
  agentSlug: string;
  agentName: string;
  activationId: string;
  approvalId: string;
}

export type Provider = "ses" | "postmark" | "sendgrid" | "mailgun";

export interface ProviderConnection {
  id: string;
  provider: "ses" | "postmark" | "sendgrid" | "mailgun";
  url: string;
  description: string | null;
  /** ISO 8601 instant */
  createdAt: string;
}

export interface QueueHold {
  domain: string;
  /** ISO 8601 instant */
  heldAt: string;
  /** As given */
  reason: string | null;
  /** Emails that wait for the release, counted up to 10,000 */
  emails: number;
}

export interface QueueStatus {
  /** True while no email is sent */
  paused: boolean;
  pausedAt: string | null;
  /** Why it was paused, as given */
  reason: string | null;
  /** Jobs by state, each counted up to 10,000, with the emails that wait (ready) and are being delivered (running) */
  jobs: {
    ready: number;
    running: number;
    dead: number;
    unhandled: number;
  };
  /** Jobs that wait because this version does not know their kind, by kind */
  unhandledKinds: Record<string, number>;
  /** Time at which the job or email that has waited longest was due; null while none is due */
  oldestDueAt: string | null;
  /** Domains to which no email is sent */
  holds: QueueHold[];
}

export interface Rate {
  rate: number | null;
  count: number;
  of: "accepted" | "attempted" | "uniqueOpens";
  total: number;
}

export interface RateAlarm {
  warn: number | null;
  pause: number | null;
  rate: number | null;
  mails: number;
  state: "OK" | "WARNED" | "PAUSED";
  since: string | null;
}

export type RateDenominator = "accepted" | "attempted" | "uniqueOpens";

export type RateKind = "bounce" | "complaint";

export interface Reactions {
  total: number;
  unique: number;
  machine: number;
}

export type ReaderName = "metrics" | "engagement" | "campaigns" | "automations" | "soft_bounces";

export interface ReaderRebuild {
  name: "metrics" | "engagement" | "campaigns" | "automations" | "soft_bounces";
  /** Workspaces in which it is rebuilt */
  workspaces: number;
  /** Time of the first event that is read again; results of earlier ones stay as they are. Null for the whole log */
  from: string | null;
}

export interface ReceivedAttachment {
  number: number;
  filename: string;
  contentType: string;
  contentId: string | null;
  size: number;
}

export interface ReceivedMail {
  id: string;
  threadId: string;
  emailId: string | null;
  contactId: string | null;
  campaignId: string | null;
  to: string;
  from: string | null;
  fromName: string | null;
  subject: string;
  messageId: string | null;
  autoReply: "null_sender" | "program_address" | "auto_submitted" | "precedence" | "mailing_list" | "loop" | "too_many" | null;
  attachmentCount: number;
  authentication: MailAuthentication | null;
  /** Bytes of the raw message */
  size: number;
  test: boolean;
  /** ISO 8601 instant */
  receivedAt: string;
}

export interface ReceivedMailDetail {
  id: string;
  threadId: string;
  emailId: string | null;
  contactId: string | null;
  campaignId: string | null;
  to: string;
  from: string | null;
  fromName: string | null;
  subject: string;
  messageId: string | null;
  autoReply: "null_sender" | "program_address" | "auto_submitted" | "precedence" | "mailing_list" | "loop" | "too_many" | null;
  attachmentCount: number;
  authentication: MailAuthentication | null;
  /** Bytes of the raw message */
  size: number;
  test: boolean;
  /** ISO 8601 instant */
  receivedAt: string;
  text: string;
  html: string | null;
  reply: string;
  replyTo: string[];
  references: string[];
  headers: Array<{
    name: string;
    value: string;
  }>;
  attachments: ReceivedAttachment[];
  truncated: boolean;
}

export interface ReceivedReplyRequest {
  /** Plain-text body */
  text?: string | undefined;
  /** HTML body */
  html?: string | undefined;
  /** Sender; without it the one of the email that was answered, else the address the mail came to */
  from?: string | undefined;
  /** Without it, the mail's subject after Re: */
  subject?: string | undefined;
  /** Files, up to 20 and 20 MiB in all */
  attachments?: Attachment[] | undefined;
}

export interface Recipient {
  emailId: string;
  contactId: string | null;
  to: string;
  status: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled";
  skipReason: "unsubscribed" | "bounced" | "complained" | "suppressed" | "invalid" | "deleted" | "duplicate" | "left_list" | "missing_variables" | "replied" | null;
  variant: "A" | "B" | "C" | "D" | "E" | null;
  attempts: number;
  inDoubt: boolean;
  lastError: DeliveryError | null;
  sentAt: string | null;
  openedAt: string | null;
  clickedAt: string | null;
  unsubscribedAt: string | null;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface RecipientCounts {
  total: number;
  queued: number;
  sending: number;
  sent: number;
  delivered: number;
  deferred: number;
  bounced: number;
  complained: number;
  failed: number;
  suppressed: number;
  skipped: number;
  cancelled: number;
}

/** The recipients of a send, as its request names them. */
export interface RecipientFields {
  readonly to: string | readonly string[];
  readonly cc?: string | readonly string[] | undefined;
  readonly bcc?: string | readonly string[] | undefined;
  readonly together?: boolean | undefined;
}

export type RecipientKind = "to" | "cc" | "bcc";

export type RecipientLanguage = "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "pl" | "tr" | "ar" | "ja" | "zh";

export interface RecipientState {
  id: string;
  email: string;
  kind: "to" | "cc" | "bcc";
  status: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled";
  lastError: DeliveryError | null;
  /** ISO 8601 instant */
  updatedAt: string;
}

export type RecipientType = "all" | "segment" | "list" | "groups" | "resend";

export interface Recovery {
  count: number;
  resumed: number;
}

export type ReferenceField = "templateId" | "listId" | "segmentId" | "webhookId";

export interface Relay {
  name: string;
  source: "api" | "file" | "smtp-url";
  host: string;
  port: number;
  tls: "implicit" | "required" | "opportunistic" | "off";
  verify: boolean;
  auth: "none" | "password" | "client_credentials" | "refresh_token";
  user: string | null;
  oauth: "microsoft" | "google" | "custom" | null;
  tenant: string | null;
  clientId: string | null;
  scope: string | null;
  tokenUrl: string | null;
  dkim: Array<{
    domain: string;
    selector: string;
    workspaces: "all" | string[] | null;
  }> | null;
  ratePerSecond: number | null;
  connections: number;
  fallback: string[];
  workspaceId: string | null;
  /** Of the server process that answers */
  state: "up" | "down" | "paused";
  reason: string | null;
  /** ISO 8601 instant */
  since: string;
  /** Its last mail or check since the server started */
  answeredAt: string | null;
}

export interface RelayCheck {
  name: string;
  ok: boolean;
  reason: string | null;
  /** How long it took */
  ms: number;
}

export type RelayState = "up" | "down" | "paused";

export interface RelayStep {
  step: "resolve" | "connect" | "greet" | "token" | "login" | "send";
  ok: boolean;
  /** How long it took */
  ms: number;
  detail: string;
  hint: string | null;
}

export type RelayTls = "implicit" | "required" | "opportunistic" | "off";

export interface ReleasedMail {
  released: Array<{
    to: string;
    /** What the mail server said */
    response: string;
  }>;
  failed: Array<{
    to: string;
    message: string;
  }>;
}

export interface Removal {
  kind: "element" | "attribute" | "address" | "style" | "depth";
  name: string;
  count: number;
}

export interface RequestRecord {
  /** The id in the response header X-Request-Id */
  id: string;
  sequence: number;
  /** ISO 8601 instant */
  at: string;
  method: string;
  path: string;
  route: string | null;
  status: number;
  error: "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable" | null;
  ms: number;
  key: {
    id: string | null;
    name: string | null;
    preview: string | null;
  } | null;
}

export interface ResendOf {
  /** The earlier campaign, which has started */
  campaignId: string;
  /** Recipients who did not open it (not_opened) or did not click in it (not_clicked), or recipients it did not reach (failed) */
  to: "not_opened" | "not_clicked" | "failed";
}

export type ResendTarget = "not_opened" | "not_clicked" | "failed";

export type Role = "owner" | "marketer" | "viewer" | "support";

export type RuleDetail = "within" | "campaign" | "template" | "where";

export type RuleField = "email" | "externalId" | "firstName" | "lastName" | "phone" | "language" | "status" | "createdAt" | "updatedAt" | "lastSentAt" | "lastDeliveredAt" | "lastOpenedAt" | "lastClickedAt" | "tags" | "lists" | "received" | "opened" | "clicked" | "replied";

export type RuleOperator = "equals" | "notEquals" | "contains" | "notContains" | "startsWith" | "endsWith" | "in" | "notIn" | "exists" | "before" | "after" | "withinLast" | "notWithinLast" | "gt" | "gte" | "lt" | "lte" | "withinNext";

/** The value that a condition has. `same` and `part` are compared with the contact's; `several` are values of `same`. */
export type RuleValueKind = "same" | "part" | "several" | "flag" | "instant" | "duration" | "number";

export interface Run {
  runId: string;
  activationId: string;
  status: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED";
  title: string | null;
  trigger: {
    type: "manual" | "activation" | "approval" | "wakeup" | "schedule" | "message";
    /** Its trigger, e.g. the id of a message */
    ref?: string | undefined;
  } | null;
  parentRunId: string | null;
  /** ISO 8601 instant */
  startedAt: string;
  /** ISO 8601 instant */
  lastHeartbeatAt: string;
  deadlineAt: string | null;
  finishedAt: string | null;
  waitingFor: "approval" | "wakeup" | null;
  progress: {
    percent: number;
    label?: string | undefined;
  } | null;
  summary: string | null;
  output: unknown;
  error: {
    code: string;
    message: string;
  } | null;
  failureReason: "heartbeat_timeout" | "reported" | null;
  metrics: Record<string, number> | null;
  metadata: Record<string, unknown> | null;
  creditsConsumed: number;
  cancelRequested: boolean;
}

export interface RunDetail {
  runId: string;
  activationId: string;
  status: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED";
  title: string | null;
  trigger: {
    type: "manual" | "activation" | "approval" | "wakeup" | "schedule" | "message";
    /** Its trigger, e.g. the id of a message */
    ref?: string | undefined;
  } | null;
  parentRunId: string | null;
  /** ISO 8601 instant */
  startedAt: string;
  /** ISO 8601 instant */
  lastHeartbeatAt: string;
  deadlineAt: string | null;
  finishedAt: string | null;
  waitingFor: "approval" | "wakeup" | null;
  progress: {
    percent: number;
    label?: string | undefined;
  } | null;
  summary: string | null;
  output: unknown;
  error: {
    code: string;
    message: string;
  } | null;
  failureReason: "heartbeat_timeout" | "reported" | null;
  metrics: Record<string, number> | null;
  metadata: Record<string, unknown> | null;
  creditsConsumed: number;
  cancelRequested: boolean;
  checkpoint: unknown;
}

export type RunFailure = "heartbeat_timeout" | "reported";

export interface RunLogEntry {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  data: unknown;
  /** ISO 8601 instant */
  at: string;
  agentAt: string | null;
}

export type RunStatus = "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED";

export interface Segment {
  id: string;
  name: string;
  description: string | null;
  rules: SegmentRule;
  state: "BUILDING" | "READY";
  memberCount: number;
  revision: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

/** One condition on a contact. */
export interface SegmentCondition {
  field: RuleField | `customFields.${string}` | `did.${string}`;
  operator: RuleOperator;
  value?: string | number | boolean | (string | number)[] | undefined;
  /** For what people did: only within this duration before now, such as `30d`. */
  within?: string | undefined;
  /** For what people did with mail: only that of the campaign with this id. */
  campaign?: string | undefined;
  /** Likewise, of the template with this slug. */
  template?: string | undefined;
  /** For events of your own and clicks: only those with these facts. */
  where?: EventFilter | undefined;
}

export interface SegmentPreview {
  count: number;
  countIsMinimum?: true | undefined;
  contacts: Contact[];
}

/** A rule tree: `all` and `any` combine rules, `not` negates one, everything else is a condition. */
export type SegmentRule = { all: SegmentRule[] } | { any: SegmentRule[] } | { not: SegmentRule } | SegmentCondition;

export type SegmentState = "BUILDING" | "READY";

/** With html, text or both, as in the methods of the SDK. */
export type SendRequest = {
  /** An address, Name <address>, or an array of up to 50; each recipient gets a separate message, unless the mail has together, cc or bcc. A repeated address counts once */
  to: string | string[];
  /** Recipients of the same mail, named in its Cc header */
  cc?: string | string[] | undefined;
  /** Recipients of the same mail whom no other recipient sees */
  bcc?: string | string[] | undefined;
  /** Send one mail to all recipients, who see each other in its To and Cc headers; also done when cc or bcc is given */
  together?: boolean | undefined;
  /** A bare address or: Name <address> */
  from: string;
  /** Subject line, up to 998 characters */
  subject: string;
  /** HTML body */
  html?: string | undefined;
  /** Plain-text body */
  text?: string | undefined;
  /** Reply-To address, or up to ten; auto to receive the replies here */
  replyTo?: string | string[] | undefined;
  /** Custom headers, name to value */
  headers?: Record<string, string> | undefined;
  /** Your own tracking tags, name to value; not sent to the recipient */
  tags?: Record<string, string> | undefined;
  /** Files, up to 20 and 20 MiB in all */
  attachments?: Attachment[] | undefined;
  icalEvent?: IcalEvent | undefined;
  /** Send later, at this instant (ISO 8601), at most 365 days ahead */
  scheduledAt?: string | Date | undefined;
  /** Send to people who unsubscribed too; for receipts, password resets and other mail they need. Bounces and complaints still block */
  bypassUnsubscribe?: boolean | undefined;
  tracking?: Tracking | undefined;
} & ({ html: string } | { text: string });

export type SendResponse = {
  id: string;
  status: "queued";
  recipients: AcceptedRecipient[];
  failed?: FailedRecipient[] | undefined;
} | {
  id: string;
  status: "queued";
} | {
  ids: string[];
  status: "queued";
  count: number;
  failed?: FailedRecipient[] | undefined;
};

export interface Sender {
  id: string;
  kind: "address" | "domain";
  value: string;
  status: "PENDING" | "VERIFIED";
  dnsRecord: {
    type: "TXT";
    name: string;
    value: string;
  } | null;
  lastError: string | null;
  failingSince: string | null;
  relay: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  verifiedAt: string | null;
}

export type SettingValue = string | number | boolean;

/** The values of an activation, by the names of the settings. */
export type Settings = Readonly<Record<string, SettingValue>>;

export interface SettingsSchema {
  type: "object";
  properties: Record<string, {
    type: "string";
    /** The label in forms; the name of the setting without it */
    title?: string | undefined;
    /** Explanation for the person who fills it in */
    description?: string | undefined;
    /** The values to choose from */
    enum?: string[] | undefined;
    minLength?: number | undefined;
    maxLength?: number | undefined;
    default?: string | undefined;
  } | {
    type: "integer";
    /** The label in forms; the name of the setting without it */
    title?: string | undefined;
    /** Explanation for the person who fills it in */
    description?: string | undefined;
    minimum?: number | undefined;
    maximum?: number | undefined;
    default?: number | undefined;
  } | {
    type: "number";
    /** The label in forms; the name of the setting without it */
    title?: string | undefined;
    /** Explanation for the person who fills it in */
    description?: string | undefined;
    minimum?: number | undefined;
    maximum?: number | undefined;
    default?: number | undefined;
  } | {
    type: "boolean";
    /** The label in forms; the name of the setting without it */
    title?: string | undefined;
    /** Explanation for the person who fills it in */
    description?: string | undefined;
    default?: boolean | undefined;
  }>;
  required?: string[] | undefined;
}

export type SignInWay = "link" | "key" | "mail" | "proxy" | "provider";

export interface SignUpForm {
  id: string;
  name: string;
  slug: string;
  status: "DRAFT" | "PUBLISHED";
  url: string;
  snippet: string;
  listId: string | null;
  doubleOptIn: boolean;
  redirectUrl: string | null;
  fields: Array<"firstName" | "lastName" | "phone">;
  labels: {
    email?: string | undefined;
    firstName?: string | undefined;
    lastName?: string | undefined;
    phone?: string | undefined;
  } | null;
  button: string | null;
  consentText: string | null;
  consentCheckbox: boolean;
  thanksTitle: string | null;
  thanksText: string | null;
  version: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export type SkipReason = "unsubscribed" | "bounced" | "complained" | "suppressed" | "invalid" | "deleted" | "duplicate" | "left_list" | "missing_variables" | "replied";

export interface SlugSendRequest {
  /** Slug of the template */
  slug?: string | undefined;
  /** Alias of slug, as responses name it */
  template?: string | undefined;
  /** An address, Name <address>, or an array of up to 50; each recipient gets a separate message, unless the mail has together, cc or bcc. A repeated address counts once */
  to: string | string[];
  /** Recipients of the same mail, named in its Cc header */
  cc?: string | string[] | undefined;
  /** Recipients of the same mail whom no other recipient sees */
  bcc?: string | string[] | undefined;
  /** Send one mail to all recipients, who see each other in its To and Cc headers; also done when cc or bcc is given */
  together?: boolean | undefined;
  /** Values of the template's variables, by name */
  variables?: Record<string, unknown> | undefined;
  /** Values per recipient, by address; they override variables */
  recipientVariables?: Record<string, Record<string, unknown>> | undefined;
  /** Overrides the template's sender */
  from?: string | undefined;
  /** Overrides the template's subject; may contain {{ variables }} */
  subject?: string | undefined;
  /** Overrides the template's Reply-To address, or addresses; auto to receive the replies here */
  replyTo?: string | string[] | undefined;
  /** Custom headers, name to value */
  headers?: Record<string, string> | undefined;
  /** Your own tracking tags, name to value; not sent to the recipient */
  tags?: Record<string, string> | undefined;
  /** Files, up to 20 and 20 MiB in all */
  attachments?: Attachment[] | undefined;
  icalEvent?: IcalEvent | undefined;
  /** Send later, at this instant (ISO 8601), at most 365 days ahead */
  scheduledAt?: string | Date | undefined;
  /** Send to people who unsubscribed too; for receipts, password resets and other mail they need. Bounces and complaints still block */
  bypassUnsubscribe?: boolean | undefined;
  tracking?: Tracking | undefined;
}

export interface SmtpPort {
  port: number;
  /** starttls offers TLS, implicit begins with it */
  tls: "none" | "starttls" | "implicit";
  /** True while further connections are refused with 421 */
  full: boolean;
}

export type SmtpStep = "connect" | "ehlo" | "auth" | "mail" | "rcpt" | "data" | "end-of-data";

export interface Snapshot {
  name: string;
  /** ISO 8601 instant */
  takenAt: string;
  size: number;
}

/** A piece of a text: words, a variable as it is written, words in bold or italics, or a link. */
export type Span =
  | { readonly kind: "words"; readonly text: string }

export interface StartedRun {
  runId: string;
  activationId: string;
  status: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED";
  title: string | null;
  trigger: {
    type: "manual" | "activation" | "approval" | "wakeup" | "schedule" | "message";
    /** Its trigger, e.g. the id of a message */
    ref?: string | undefined;
  } | null;
  parentRunId: string | null;
  /** ISO 8601 instant */
  startedAt: string;
  /** ISO 8601 instant */
  lastHeartbeatAt: string;
  deadlineAt: string | null;
  finishedAt: string | null;
  waitingFor: "approval" | "wakeup" | null;
  progress: {
    percent: number;
    label?: string | undefined;
  } | null;
  summary: string | null;
  output: unknown;
  error: {
    code: string;
    message: string;
  } | null;
  failureReason: "heartbeat_timeout" | "reported" | null;
  metrics: Record<string, number> | null;
  metadata: Record<string, unknown> | null;
  creditsConsumed: number;
  cancelRequested: boolean;
  logSequence: number;
}

export interface StepStats {
  stepId: string;
  type: "send_email" | "delay" | "wait_until" | "wait_for_event" | "condition" | "split" | "update_contact" | "add_tag" | "remove_tag" | "add_to_list" | "remove_from_list" | "webhook" | "goal" | "exit" | null;
  entered: number;
  waiting: number;
  completed: number;
  skipped: number;
  branches: Record<string, number> | null;
}

export interface Suppression {
  id: string;
  email: string;
  reason: "bounce" | "complaint" | "unsubscribe" | "manual";
  scope: "all" | "marketing";
  source: "api" | "import" | "bounce" | "complaint" | "unsubscribe";
  emailId: string | null;
  note: string | null;
  unsubscribedAt: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface SuppressionImport {
  created: number;
  widened: number;
  unchanged: number;
  failed: Array<{
    index: number;
    email: string;
    code: string;
    message: string;
  }>;
  dryRun: boolean;
}

export interface SuppressionRow {
  /** Email address */
  email: string;
  /** all, or marketing only; marketing by default for reason unsubscribe, else all */
  scope?: "all" | "marketing" | undefined;
  /** Why the address is suppressed */
  reason?: "bounce" | "complaint" | "unsubscribe" | "manual" | undefined;
  /** For your own use, up to 500 characters */
  note?: string | undefined;
}

export interface Template {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  category: string | null;
  type: "transactional" | "marketing" | "layout" | "partial";
  kind: "HTML" | "BLOCKS" | "JSON_BLOCKS";
  status: "ACTIVE" | "INACTIVE";
  version: number | null;
  hasUnpublishedChanges: boolean;
  uses: string[];
  proposedBy: ProposedBy | null;
  revision: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  publishedAt: string | null;
}

export interface TemplateBySlug {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  category: string | null;
  type: "transactional" | "marketing" | "layout" | "partial";
  kind: "HTML" | "BLOCKS" | "JSON_BLOCKS";
  version: number;
  subject: string | null;
  from: string | null;
  variables: TemplateVariable[];
  /** ISO 8601 instant */
  publishedAt: string;
}

export interface TemplateDetail {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  category: string | null;
  type: "transactional" | "marketing" | "layout" | "partial";
  kind: "HTML" | "BLOCKS" | "JSON_BLOCKS";
  status: "ACTIVE" | "INACTIVE";
  version: number | null;
  hasUnpublishedChanges: boolean;
  uses: string[];
  proposedBy: ProposedBy | null;
  revision: number;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  publishedAt: string | null;
  shownVersion: number | null;
  from: string | null;
  replyTo: string | string[] | null;
  layout: string | null;
  renderedFrom: TemplateOrigin | null;
  subject: string | null;
  html: string | null;
  text: string | null;
  renderError: string | null;
  variables: TemplateVariable[];
  usedBy: {
    templates: Array<{
      id: string;
      slug: string;
      name: string;
    }>;
    campaigns: Array<{
      id: string;
      name: string;
      status: "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "PAUSED" | "CANCELLED";
      startedAt: string | null;
    }>;
    automations: Array<{
      id: string;
      name: string;
      status: "DRAFT" | "ACTIVE" | "PAUSED";
    }>;
  };
  source: {
    subject: string | null;
    html: string | null;
    text: string | null;
    blocks: Array<Record<string, unknown>> | null;
    variables: VariableDeclaration[];
  };
}

export interface TemplateInput {
  /** Display name */
  name: string;
  /** Identifier used in sends and in {{> …}}: lower-case letters, digits, - and _ */
  slug?: string | undefined;
  /** Description */
  description?: string | null | undefined;
  /** Category to sort it under */
  category?: string | null | undefined;
  /** Purpose of the template: transactional, marketing, layout or partial */
  type?: "transactional" | "marketing" | "layout" | "partial" | undefined;
  /** HTML; BLOCKS, of which the HTML is rendered; or JSON_BLOCKS, which are only kept */
  kind?: "HTML" | "BLOCKS" | "JSON_BLOCKS" | undefined;
  /** Subject; may contain {{ variables }} */
  subject?: string | null | undefined;
  /** Default sender; a send may override it */
  from?: string | null | undefined;
  /** Reply-To address, or up to ten; auto to receive the replies here */
  replyTo?: string | string[] | null | undefined;
  /** HTML with Handlebars */
  html?: string | null | undefined;
  /** Plain text with Handlebars; generated from the HTML when absent */
  text?: string | null | undefined;
  /** Content of a template of kind BLOCKS, as MailBlocks, or of kind JSON_BLOCKS, as you like */
  blocks?: Array<Record<string, unknown>> | null | undefined;
  /** Files that the HTML was rendered from, kept beside it; a change of html or text without them removes them */
  renderedFrom?: TemplateOrigin | null | undefined;
  /** Slug of the layout around it */
  layout?: string | null | undefined;
  /** Declared variables: type, required, default, description */
  variables?: VariableDeclaration[] | undefined;
  /** Publish it at once */
  publish?: boolean | undefined;
}

export interface TemplateOrigin {
  kind: "mjml" | "react-email";
  /** Texts by path */
  files: Record<string, string>;
}

export interface TemplatePreview {
  subject: string | null;
  html: string | null;
  text: string | null;
  missingVariables: string[];
}

export interface TemplateRendering {
  subject: string | null;
  html: string | null;
  text: string | null;
  missingVariables: string[];
  variables: TemplateVariable[];
}

export interface TemplateSendRequest {
  /** An address, Name <address>, or an array of up to 50; each recipient gets a separate message, unless the mail has together, cc or bcc. A repeated address counts once */
  to: string | string[];
  /** Recipients of the same mail, named in its Cc header */
  cc?: string | string[] | undefined;
  /** Recipients of the same mail whom no other recipient sees */
  bcc?: string | string[] | undefined;
  /** Send one mail to all recipients, who see each other in its To and Cc headers; also done when cc or bcc is given */
  together?: boolean | undefined;
  /** Values of the template's variables, by name */
  variables?: Record<string, unknown> | undefined;
  /** Values per recipient, by address; they override variables */
  recipientVariables?: Record<string, Record<string, unknown>> | undefined;
  /** Overrides the template's sender */
  from?: string | undefined;
  /** Overrides the template's subject; may contain {{ variables }} */
  subject?: string | undefined;
  /** Overrides the template's Reply-To address, or addresses; auto to receive the replies here */
  replyTo?: string | string[] | undefined;
  /** Custom headers, name to value */
  headers?: Record<string, string> | undefined;
  /** Your own tracking tags, name to value; not sent to the recipient */
  tags?: Record<string, string> | undefined;
  /** Files, up to 20 and 20 MiB in all */
  attachments?: Attachment[] | undefined;
  icalEvent?: IcalEvent | undefined;
  /** Send later, at this instant (ISO 8601), at most 365 days ahead */
  scheduledAt?: string | Date | undefined;
  /** Send to people who unsubscribed too; for receipts, password resets and other mail they need. Bounces and complaints still block */
  bypassUnsubscribe?: boolean | undefined;
  tracking?: Tracking | undefined;
}

export type TemplateSendResponse = {
  id: string;
  status: "queued";
  recipients: AcceptedRecipient[];
  failed?: FailedRecipient[] | undefined;
  template: string;
} | {
  id: string;
  status: "queued";
  template: string;
} | {
  ids: string[];
  status: "queued";
  count: number;
  failed?: FailedRecipient[] | undefined;
  template: string;
};

export interface TemplateVariable {
  name: string;
  type: "string" | "number" | "boolean" | "date" | "array" | "object" | "html";
  required: boolean;
  default: unknown;
  description: string | null;
}

export interface TemplateVersion {
  id: string;
  version: number;
  current: boolean;
  subject: string | null;
  restoredFrom: number | null;
  /** ISO 8601 instant */
  createdAt: string;
}

export type TextKey = "unnamedSender" | "language" | "emailAddress" | "firstName" | "lastName" | "phone" | "unsubscribe" | "stopQuestion" | "enterAddress" | "unsubscribedTitle" | "unsubscribedText" | "mistake" | "subscribeAgain" | "resubscribedTitle" | "resubscribedText" | "preferencesTitle" | "preferencesQuestion" | "lists" | "savePreferences" | "stopAll" | "unsubscribeAll" | "savedTitle" | "savedNone" | "savedSome" | "changeMore" | "confirmSubject" | "confirmTitle" | "confirmText" | "confirmButton" | "confirmQuestion" | "ignoreEmail" | "closePage" | "subscribedTitle" | "subscribedText" | "expiresInDays" | "senderSubject" | "senderTitle" | "senderText" | "senderButton" | "senderNote" | "senderQuestion" | "senderConfirmedTitle" | "senderConfirmedText" | "somebodyAt" | "signUp" | "leaveEmpty" | "consent" | "thanksTitle" | "thanksDone" | "thanksAlmost" | "thanksConfirm" | "download" | "wrongEmail" | "wrongTooLong" | "wrongLine" | "wrongTwice" | "wrongConsent" | "linkTitle" | "linkIncomplete" | "linkConfirm" | "linkDownload" | "linkSender" | "mailTitle" | "mailText" | "notFoundTitle" | "notFoundText" | "tooLargeTitle" | "tooLargeText" | "waitTitle" | "waitText" | "unavailableTitle" | "unavailableText" | "errorTitle" | "errorText" | "reference";

export interface Throttle {
  /** Emails per second, at most */
  perSecond?: number | undefined;
  /** Hours of the day in which emails go out, e.g. 09:00 to 17:00 Europe/Berlin */
  window?: {
    start: string;
    end: string;
    timeZone: string;
  } | undefined;
}

/** Meanings of states for people: success, in progress, needs attention, failure; `plain` for those that are none of it. */
export type Tone = "good" | "busy" | "warn" | "bad" | "plain";

export interface TrackBatch {
  tracked: number;
  repeated: number;
  failed: number;
  created: number;
  results: Array<"tracked" | "repeated" | "failed">;
  errors: Array<{
    index: number;
    path: string;
    code: string;
    message: string;
  }>;
}

export interface TrackedEvent {
  /** Name of an event of yours, such as purchase */
  name: string;
  /** Id, address or externalId of the contact */
  contact: string;
  /** Its value in whole units of the currency, such as the total of an order */
  value?: number | undefined;
  /** Currency, such as USD or EUR */
  currency?: string | undefined;
  /** Further facts: filters and templates of automations can use it, as properties.<name> and {{ event.properties.<name> }} */
  properties?: Record<string, CustomValue> | undefined;
  /** Your id of the event, unique in the workspace: an event with an id that was tracked is not tracked again */
  id?: string | undefined;
  /** Instant of the event, now by default. One of more than 5 minutes ago triggers nothing */
  at?: string | Date | undefined;
}

/** Open and click tracking; off unless asked for */
export interface Tracking {
  /** Record when the mail is opened, by an image of one pixel at its end */
  opens?: boolean | undefined;
  /** Record clicks: links lead over this server; those with data-no-track do not */
  clicks?: boolean | undefined;
  utm?: Utm | undefined;
}

export type TriggerType = "contact.created" | "tag.added" | "tag.removed" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "replied" | "event" | "date";

/** UTM parameters added to links that have none of that name, tracked or not */
export interface Utm {
  source?: string | undefined;
  medium?: string | undefined;
  campaign?: string | undefined;
  term?: string | undefined;
  content?: string | undefined;
}

export interface VariableDeclaration {
  name: string;
  type?: "string" | "number" | "boolean" | "date" | "array" | "object" | "html" | undefined;
  required?: boolean | undefined;
  default?: unknown;
  description?: string | undefined;
}

export interface Variant {
  /** Subject, up to 998 characters; may contain {{ variables }} */
  subjectLine?: string | undefined;
  /** Text that mail programs show next to the subject, up to 200 characters */
  previewText?: string | undefined;
  templateId?: string | undefined;
  /** HTML body, may contain {{ variables }} */
  html?: string | undefined;
  /** Plain-text body, may contain {{ variables }} */
  text?: string | undefined;
  /** Content as blocks: heading, text, image, button, columns, divider, spacer; the HTML is rendered from them */
  blocks?: MailBlock[] | undefined;
}

export type VariantName = "A" | "B" | "C" | "D" | "E";

export interface Wakeup {
  wakeupId: string;
  status: "SCHEDULED" | "FIRED" | "CANCELLED" | "SKIPPED";
  /** ISO 8601 instant */
  fireAt: string;
  reason: string;
  payload: unknown;
  runId: string | null;
  dedupeKey: string | null;
  suspendRun: boolean;
  /** ISO 8601 instant */
  createdAt: string;
  firedAt: string | null;
}

export type WakeupStatus = "SCHEDULED" | "FIRED" | "CANCELLED" | "SKIPPED";

export interface Webhook {
  id: string;
  url: string;
  description: string | null;
  events: string[];
  format: "mailsvc" | "resend";
  status: "enabled" | "paused" | "disabled";
  alertEmail: string | null;
  failingSince: string | null;
  lastError: {
    /** ISO 8601 instant */
    at: string;
    class: "ok" | "signature_rejected" | "http_status" | "redirect" | "timeout" | "dns" | "tls" | "connection" | "blocked_address" | "bad_response";
    httpStatus: number | null;
    message: string | null;
  } | null;
  secretRotatesAt: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
}

export interface WebhookDelivery {
  id: string;
  eventId: string;
  type: "email.queued" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.failed" | "email.suppressed" | "email.cancelled" | "email.rescheduled" | "email.received" | "contact.created" | "contact.updated" | "contact.deleted" | "contact.subscribed" | "contact.unsubscribed" | "contact.bounced" | "contact.complained" | "contact.tracked" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "suppression.added" | "suppression.removed" | "campaign.scheduled" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.cancelled" | "campaign.failed" | "automation.entered" | "automation.completed" | "automation.exited" | "automation.failed" | "automation.goal_reached" | "automation.webhook" | "domain.record_missing" | "domain.record_restored" | "mail.rate_high" | "webhook.test" | "webhook.disabled";
  /** ISO 8601 instant */
  at: string;
  state: "pending" | "queued" | "delivered" | "dead" | "superseded" | "cancelled";
  attempts: number;
  nextAttemptAt: string | null;
  waitsFor: string | null;
  settledAt: string | null;
  lastAttempt: DeliveryAttempt | null;
}

export interface WebhookDeliveryDetail {
  id: string;
  eventId: string;
  type: "email.queued" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.failed" | "email.suppressed" | "email.cancelled" | "email.rescheduled" | "email.received" | "contact.created" | "contact.updated" | "contact.deleted" | "contact.subscribed" | "contact.unsubscribed" | "contact.bounced" | "contact.complained" | "contact.tracked" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "suppression.added" | "suppression.removed" | "campaign.scheduled" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.cancelled" | "campaign.failed" | "automation.entered" | "automation.completed" | "automation.exited" | "automation.failed" | "automation.goal_reached" | "automation.webhook" | "domain.record_missing" | "domain.record_restored" | "mail.rate_high" | "webhook.test" | "webhook.disabled";
  /** ISO 8601 instant */
  at: string;
  state: "pending" | "queued" | "delivered" | "dead" | "superseded" | "cancelled";
  attempts: number;
  nextAttemptAt: string | null;
  waitsFor: string | null;
  settledAt: string | null;
  lastAttempt: DeliveryAttempt | null;
  body: string | null;
  log: DeliveryAttempt[];
}

export interface WebhookError {
  eventId: string;
  type: string;
  /** ISO 8601 instant */
  at: string;
  attempts: number;
  class: "ok" | "signature_rejected" | "http_status" | "redirect" | "timeout" | "dns" | "tls" | "connection" | "blocked_address" | "bad_response";
  httpStatus: number | null;
  message: string;
  /** Its answer; null for brands */
  answer: string | null;
  clearedAt: string | null;
}

export type WebhookFormat = "mailsvc" | "resend";

export interface WebhookRedelivery {
  id: string;
  url: string;
  description: string | null;
  events: string[];
  format: "mailsvc" | "resend";
  status: "enabled" | "paused" | "disabled";
  alertEmail: string | null;
  failingSince: string | null;
  lastError: {
    /** ISO 8601 instant */
    at: string;
    class: "ok" | "signature_rejected" | "http_status" | "redirect" | "timeout" | "dns" | "tls" | "connection" | "blocked_address" | "bad_response";
    httpStatus: number | null;
    message: string | null;
  } | null;
  secretRotatesAt: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  count: number;
  countIsMinimum?: true | undefined;
}

export type WebhookStatus = "enabled" | "paused" | "disabled";

export interface WebhookTest {
  ok: boolean;
  eventId: string;
  ms: number;
  class: "ok" | "signature_rejected" | "http_status" | "redirect" | "timeout" | "dns" | "tls" | "connection" | "blocked_address" | "bad_response";
  httpStatus: number | null;
  message: string | null;
  hint: string;
  answer: string | null;
}

export interface WebhookWithSecret {
  id: string;
  url: string;
  description: string | null;
  events: string[];
  format: "mailsvc" | "resend";
  status: "enabled" | "paused" | "disabled";
  alertEmail: string | null;
  failingSince: string | null;
  lastError: {
    /** ISO 8601 instant */
    at: string;
    class: "ok" | "signature_rejected" | "http_status" | "redirect" | "timeout" | "dns" | "tls" | "connection" | "blocked_address" | "bad_response";
    httpStatus: number | null;
    message: string | null;
  } | null;
  secretRotatesAt: string | null;
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  /** Signs every delivery; shown only once */
  secret: string;
}

export type Weekday = "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";

export interface Workspace {
  id: string;
  name: string;
  relay: string | null;
  replies: boolean;
  /** ISO 8601 instant */
  createdAt: string;
}

export interface WorkspaceRow {
  table: string;
  row: Record<string, unknown>;
}

export interface WrittenLandingPage {
  id: string;
  slug: string;
  url: string;
  title: string;
  status: "DRAFT" | "PUBLISHED";
  version: number;
  hasForm: boolean;
  leadMagnetId: string | null;
  listId: string | null;
  runId: string | null;
  createdBy: {
    agent: boolean;
    activationId: string | null;
  };
  /** ISO 8601 instant */
  createdAt: string;
  /** ISO 8601 instant */
  updatedAt: string;
  publishedAt: string | null;
  html: string | null;
  blocks: Array<{
    type: "heading";
    text: string;
    level: number;
  } | {
    type: "text";
    text: string;
  } | {
    type: "image";
    /** Id of an asset */
    assetId: string;
    alt: string;
    caption?: string | undefined;
  } | {
    type: "list";
    items: string[];
    ordered: boolean;
  } | {
    type: "quote";
    text: string;
    by?: string | undefined;
  } | {
    type: "button";
    label: string;
    href: string;
  } | {
    type: "divider";
  } | {
    type: "form";
  }> | null;
  seo: {
    title?: string | undefined;
    description?: string | undefined;
    /** Id of an asset */
    ogAssetId?: string | undefined;
  };
  form: {
    /** Heading of the form */
    title?: string | undefined;
    /** Fields besides the email address */
    fields?: Array<"firstName" | "lastName" | "phone"> | undefined;
    /** Names of the fields, by field */
    labels?: {
      email?: string | undefined;
      firstName?: string | undefined;
      lastName?: string | undefined;
      phone?: string | undefined;
    } | undefined;
    /** Text of the button */
    button?: string | undefined;
    /** Text that visitors agree to by submitting the form; stored with each sign-up */
    consentText?: string | undefined;
    /** Visitors must tick a box next to the consent text */
    consentCheckbox?: boolean | undefined;
    /** Heading of the page that follows */
    thanksTitle?: string | undefined;
    /** Text of the page that follows */
    thanksText?: string | undefined;
  } | null;
  previewUrl: string;
  removed: Removal[];
}
