// Generated from the contract by `npm run generate`.

/** The event `agent.activated`: a brand turned the agent on. */
export interface ActivatedEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "agent.activated";
  apiKey: string;
  agentSlug: string;
  organizationName: string;
  scopes: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  settings: Record<string, string | number | boolean>;
}

/** The event `approval_response`: an approval request was answered or expired. */
export interface ApprovalResponseEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "approval_response";
  messageId: string;
  decision: string;
  comment: string | null;
  answeredAt: string;
}

/** The event `message.posted`: the brand sent the agent a text; needs `agent:read_messages`. */
export interface MessagePostedEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "message.posted";
  messageId: string;
  messageSequence: number;
  text: string;
  format: "plain" | "markdown";
  inReplyTo: string | null;
}

/** The event `agent.paused`: stop calling until `agent.resumed`. */
export interface PausedEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "agent.paused";
  reason: "user_paused" | "plan_downgrade" | "webhook_failure";
}

/** The event `agent.resumed`: the same key works again. */
export interface ResumedEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "agent.resumed";
}

/** The event `agent.deactivated`: the key never works again. */
export interface DeactivatedEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "agent.deactivated";
  reason: "user_deactivated" | "plan_downgrade" | "admin_revoke";
}

/** The event `agent.scopes_changed`: the brand accepted more scopes. */
export interface ScopesChangedEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "agent.scopes_changed";
  scopes: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  added: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
}

/** The event `agent.settings_changed`: the brand changed the settings. */
export interface SettingsChangedEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "agent.settings_changed";
  settings: Record<string, string | number | boolean>;
}

/** The event `run_force_failed`: a run went 15 minutes without a heartbeat. */
export interface RunForceFailedEvent {
  id: string;
  activationId: string;
  runId: string;
  sequence: number;
  timestamp: string;
  type: "run_force_failed";
  lastHeartbeatAt: string;
}

/** The event `test.ping`: the builder tests the webhook. */
export interface TestPingEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "test.ping";
  test: true;
}

/** The event `agent.wakeup`: a wakeup fired. */
export interface WakeupEvent {
  id: string;
  activationId: string;
  runId: string | null;
  sequence: number;
  timestamp: string;
  type: "agent.wakeup";
  wakeupId: string;
  reason: string;
  payload: unknown;
  scheduledFor: string;
}

/** An event that the service sends to the webhook of an agent. */
export type AgentEvent = ActivatedEvent | ApprovalResponseEvent | MessagePostedEvent | PausedEvent | ResumedEvent | DeactivatedEvent | ScopesChangedEvent | SettingsChangedEvent | RunForceFailedEvent | TestPingEvent | WakeupEvent;

/** The events by their types. */
export interface AgentEvents {
  "agent.activated": ActivatedEvent;
  "approval_response": ApprovalResponseEvent;
  "message.posted": MessagePostedEvent;
  "agent.paused": PausedEvent;
  "agent.resumed": ResumedEvent;
  "agent.deactivated": DeactivatedEvent;
  "agent.scopes_changed": ScopesChangedEvent;
  "agent.settings_changed": SettingsChangedEvent;
  "run_force_failed": RunForceFailedEvent;
  "test.ping": TestPingEvent;
  "agent.wakeup": WakeupEvent;
}

/** The fields by which a repeat of an event is recognized. */
export const EVENT_KEYS: Readonly<Record<AgentEvent["type"], readonly string[]>> = {
  "agent.activated": [
    "type",
    "activationId"
  ],
  "approval_response": [
    "id"
  ],
  "message.posted": [
    "id"
  ],
  "agent.paused": [
    "id"
  ],
  "agent.resumed": [
    "id"
  ],
  "agent.deactivated": [
    "type",
    "activationId"
  ],
  "agent.scopes_changed": [
    "id"
  ],
  "agent.settings_changed": [
    "id"
  ],
  "run_force_failed": [
    "type",
    "activationId",
    "runId"
  ],
  "test.ping": [
    "id"
  ],
  "agent.wakeup": [
    "id"
  ]
};

export interface AgentCredits {
  balance: number;
  periodLimit: number | null;
  periodUsed: number;
  resetsAt: string;
}

export interface AgentSelf {
  activationId: string;
  agentSlug: string;
  organizationName: string;
  status: "active" | "paused" | "deactivated";
  pauseReasons: Array<"user_paused" | "plan_downgrade" | "webhook_failure">;
  scopes: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
  settings: Record<string, string | number | boolean>;
  keyPreview: string;
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
  expiresAt: string;
  suspendRun: boolean;
}

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
  createdAt: string;
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
  updatedAt: string;
}

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
  createdAt: string;
}

export interface ExplainedCall {
  label: string;
  operation: string;
  permission: string;
  path: string[];
  body?: Record<string, string> | undefined;
}

export interface Explanation {
  id: string;
  kind: "email" | "received" | "contact" | "campaign" | "automation_entry" | "webhook" | "webhook_delivery" | "activation" | "run" | "agent_event";
  title: string;
  status: string;
  summary: string;
  timeline: Array<{
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
  explainedAt: string;
}

export interface Heartbeat {
  runId: string;
  status: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED";
  lastHeartbeatAt: string;
  deadlineAt: string;
  heartbeatIntervalSeconds: number;
  accepted: number;
  cancelRequested: boolean;
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
  createdAt: string;
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
  createdAt: string;
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
  createdAt: string;
}

export interface ListMetadata {
  id: string;
  name: string;
  description: string | null;
  contactCount: number;
  createdAt: string;
  updatedAt: string;
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
  createdAt: string;
  readAt: string | null;
  approval: Approval | null;
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

export interface Proposal {
  kind: "campaign" | "template";
  name: string;
  subject: string;
  previewText: string | null;
  lists: string[];
  hash: string;
}

export interface Removal {
  kind: "element" | "attribute" | "address" | "style" | "depth";
  name: string;
  count: number;
}

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
  startedAt: string;
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
  startedAt: string;
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

export interface RunLogEntry {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  data: unknown;
  at: string;
  agentAt: string | null;
}

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
  startedAt: string;
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

export interface Wakeup {
  wakeupId: string;
  status: "SCHEDULED" | "FIRED" | "CANCELLED" | "SKIPPED";
  fireAt: string;
  reason: string;
  payload: unknown;
  runId: string | null;
  dedupeKey: string | null;
  suspendRun: boolean;
  createdAt: string;
  firedAt: string | null;
}

export interface WebhookError {
  eventId: string;
  type: string;
  at: string;
  attempts: number;
  class: "ok" | "signature_rejected" | "http_status" | "redirect" | "timeout" | "dns" | "tls" | "connection" | "blocked_address" | "bad_response";
  httpStatus: number | null;
  message: string;
  /** Its answer; null for brands */
  answer: string | null;
  clearedAt: string | null;
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
  createdAt: string;
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

/** A page of a list. */
export interface Page<T> {
  data: T[];
  pagination: Pagination;
}

/** The endpoints of an agent's key, by noun and verb. `O` is what every call takes as its last argument. */
export interface AgentApi<O> {
  readonly self: {
    /** Show the activation the key belongs to. */
    get(options?: O): Promise<AgentSelf>;
  };
  readonly messages: {
    /** List the messages of the activation, newest first. */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only messages of this type */
      type?: "TEXT" | "APPROVAL_REQUEST" | "APPROVAL_RESPONSE" | undefined;
      /** inbound: to the agent; outbound: from it */
      direction?: "inbound" | "outbound" | undefined;
      /** Only approval requests in this state */
      status?: "PENDING" | "APPROVED" | "REJECTED" | "ANSWERED" | "EXPIRED" | "CANCELLED" | undefined;
      /** Only messages of this run */
      runId?: string | undefined;
      /** Only messages from this time on */
      since?: string | undefined;
      /** Only messages after this sequence, oldest first; use it to poll for new messages */
      afterSequence?: number | undefined;
    }, options?: O): Promise<Page<Message>>;
    /** Show one message. */
    get(messageId: string, options?: O): Promise<Message>;
    /** Post a message, or ask for an approval. */
    create(input: {
      /** A text, or a request for approval */
      type?: "TEXT" | "APPROVAL_REQUEST" | undefined;
      text: string;
      /** How the text is written */
      format?: "plain" | "markdown" | undefined;
      /** The run it belongs to */
      runId?: string | undefined;
      /** Your own id for the message, unique per activation */
      externalId?: string | undefined;
      /** The question of an APPROVAL_REQUEST */
      approval?: {
        title: string;
        /** The options of the brand; approve and reject by default, whose labels and styles are the service's */
        options?: Array<{
          id: string;
          /** The words on the button; those of approve and reject are the service's */
          label?: string | undefined;
          style?: "primary" | "danger" | undefined;
        }> | undefined;
        allowComment?: boolean | undefined;
        /** What the request is about */
        preview?: {
          kind: "landing_page" | "lead_magnet" | "asset";
          id: string;
        } | {
          kind: "text";
          text: string;
        } | undefined;
        /** A campaign or template to create when the brand approves; without preview and options of your own */
        proposal?: {
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
          lists?: string[] | undefined;
        } | {
          kind: "template";
          name: string;
          /** Subject line, up to 998 characters */
          subject: string;
          /** HTML body */
          html?: string | undefined;
          /** Plain-text body */
          text?: string | undefined;
          type?: "marketing" | "transactional" | undefined;
        } | undefined;
        /** Expires after this many seconds without an answer; a week by default */
        expiresInSeconds?: number | undefined;
        /** The run is WAITING until the answer and needs no heartbeat; with false it goes on and must log */
        suspendRun?: boolean | undefined;
      } | undefined;
    }, options?: O): Promise<Message>;
    /** Cancel an approval request. */
    cancel(messageId: string, input?: Record<never, never>, options?: O): Promise<Message>;
    /** Mark messages from the brand as read. */
    read(input: {
      /** This message and all before it */
      upToSequence: number;
    }, options?: O): Promise<{
      /** Number of unread messages left */
      unread: number;
    }>;
  };
  readonly runs: {
    /** Start a run. */
    start(input?: {
      /** Your own id for the run; generated by default */
      runId?: string | undefined;
      /** What the run does, up to 200 characters */
      title?: string | undefined;
      /** What started the run */
      trigger?: {
        type: "manual" | "activation" | "approval" | "wakeup" | "schedule" | "message";
        /** Its trigger, e.g. the id of a message */
        ref?: string | undefined;
      } | undefined;
      /** The parent run */
      parentRunId?: string | undefined;
      /** Your own data, up to 4 KiB of JSON */
      metadata?: Record<string, unknown> | undefined;
    }, options?: O): Promise<StartedRun>;
    /** Log to a run, and send its heartbeat. */
    log(input: {
      /** Id of the run */
      runId: string;
      /** Up to 50 of {message, level, data, at} */
      entries?: Array<{
        level?: "debug" | "info" | "warn" | "error" | undefined;
        message: string;
        data?: unknown;
        /** When it happened; shown, but never used to decide anything */
        at?: string | undefined;
      }> | undefined;
      /** Progress: {percent, label} */
      progress?: {
        percent: number;
        label?: string | undefined;
      } | undefined;
      /** What you need to continue after a crash, up to 16 KiB of JSON */
      checkpoint?: unknown;
      /** The run does nothing until what it asked for is answered: while that is open, it is WAITING afterwards */
      waiting?: boolean | undefined;
      /** Your counter of log calls of this run */
      seq?: number | undefined;
    }, options?: O): Promise<Heartbeat>;
    /** End a run. */
    complete(input: {
      /** Id of the run */
      runId: string;
      /** How it ended */
      status?: "COMPLETED" | "FAILED" | undefined;
      /** The result, for people */
      summary?: string | undefined;
      /** The result, up to 32 KiB of JSON */
      output?: unknown;
      /** Why it failed: {code, message} */
      error?: {
        code: string;
        message: string;
      } | undefined;
      /** Numbers by name */
      metrics?: Record<string, number> | undefined;
    }, options?: O): Promise<Run>;
    /** End a run as failed. */
    fail(input: {
      /** Id of the run */
      runId: string;
      /** Why it failed: {code, message} */
      error: {
        code: string;
        message: string;
      };
      /** The result, for people */
      summary?: string | undefined;
      /** The result, up to 32 KiB of JSON */
      output?: unknown;
      /** Numbers by name */
      metrics?: Record<string, number> | undefined;
    }, options?: O): Promise<Run>;
    /** Cancel a run. */
    cancel(input: {
      /** Id of the run */
      runId: string;
      /** The result, for people */
      summary?: string | undefined;
    }, options?: O): Promise<Run>;
    /** List the agent's runs, newest first. */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only runs in this state */
      status?: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED" | undefined;
      /** Only runs started from this time on */
      since?: string | undefined;
    }, options?: O): Promise<Page<Run>>;
    /** Show one run, with its checkpoint. */
    get(runId: string, options?: O): Promise<RunDetail>;
    /** List the log entries of a run, newest first. */
    logs(runId: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only entries of this level */
      level?: "debug" | "info" | "warn" | "error" | undefined;
    }, options?: O): Promise<Page<RunLogEntry>>;
  };
  readonly credits: {
    /** Show the balance and the monthly limit. */
    get(options?: O): Promise<AgentCredits>;
    /** List the agent's transactions, newest first. */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only transactions of this run */
      runId?: string | undefined;
    }, options?: O): Promise<Page<CreditTransaction>>;
    /** Spend credits on a billable action. */
    consume(input: {
      /** Number of credits */
      amount: number;
      /** What they are spent on */
      action: string;
      /** The run that spends them */
      runId?: string | undefined;
      /** What was done, up to 200 characters */
      description?: string | undefined;
      /** What was measured, e.g. {"words": 400} */
      units?: unknown;
    }, options?: O): Promise<CreditTransaction>;
    /** Refund a transaction. */
    refund(transactionId: string, input: {
      /** Number of credits; by default all that is left of the transaction */
      amount?: number | undefined;
      /** Reason for the refund */
      reason: string;
    }, options?: O): Promise<CreditTransaction>;
  };
  readonly wakeups: {
    /** Schedule a wakeup. */
    create(input: {
      /** Seconds from now: 10 to 2592000, which is 30 days */
      delaySeconds?: number | undefined;
      /** Instead of delaySeconds: a time 10 seconds to 30 days from now */
      runAt?: string | undefined;
      /** Why; included in the event */
      reason: string;
      /** Your own data, included in the event; up to 4 KiB of JSON */
      payload?: unknown;
      /** The run it belongs to */
      runId?: string | undefined;
      /** Your own id: one wakeup with it can be scheduled at a time */
      dedupeKey?: string | undefined;
      /** The run is WAITING until then and needs no heartbeat */
      suspendRun?: boolean | undefined;
    }, options?: O): Promise<Wakeup>;
    /** List wakeups, newest first. */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only wakeups in this state */
      status?: "SCHEDULED" | "FIRED" | "CANCELLED" | "SKIPPED" | undefined;
    }, options?: O): Promise<Page<Wakeup>>;
    /** Show one wakeup. */
    get(wakeupId: string, options?: O): Promise<Wakeup>;
    /** Cancel a wakeup. */
    cancel(wakeupId: string, options?: O): Promise<Wakeup>;
  };
  readonly landingPages: {
    /** List this agent's pages and all published pages of the brand, newest first. */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only pages in this state */
      status?: "DRAFT" | "PUBLISHED" | undefined;
    }, options?: O): Promise<Page<LandingPageSummary>>;
    /** Create a landing page. */
    create(input: {
      /** Title, up to 200 characters */
      title: string;
      /** Part of the address; unique in the workspace. Derived from the title by default */
      slug?: string | undefined;
      html?: string | null | undefined;
      blocks?: Array<{
        type: "heading";
        text: string;
        level?: number | undefined;
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
        ordered?: boolean | undefined;
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
      }> | null | undefined;
      /** What search engines and link previews show */
      seo?: {
        title?: string | undefined;
        description?: string | undefined;
        /** Id of an asset */
        ogAssetId?: string | undefined;
      } | null | undefined;
      /** The sign-up form; also added when leadMagnetId or listId is set */
      form?: {
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
      } | null | undefined;
      /** The lead magnet offered for signing up */
      leadMagnetId?: string | null | undefined;
      /** The brand's list that visitors join by signing up */
      listId?: string | null | undefined;
      /** State of the page */
      status?: "DRAFT" | "PUBLISHED" | undefined;
      /** The run that created it */
      runId?: string | undefined;
    }, options?: O): Promise<WrittenLandingPage>;
    /** Show one landing page. */
    get(id: string, options?: O): Promise<LandingPage>;
    /** Update the given fields of a landing page of this agent. */
    update(id: string, input?: {
      /** Title, up to 200 characters */
      title?: string | undefined;
      /** Part of the address; unique in the workspace. Derived from the title by default */
      slug?: string | undefined;
      html?: string | null | undefined;
      blocks?: Array<{
        type: "heading";
        text: string;
        level?: number | undefined;
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
        ordered?: boolean | undefined;
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
      }> | null | undefined;
      /** What search engines and link previews show */
      seo?: {
        title?: string | undefined;
        description?: string | undefined;
        /** Id of an asset */
        ogAssetId?: string | undefined;
      } | null | undefined;
      /** The sign-up form; also added when leadMagnetId or listId is set */
      form?: {
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
      } | null | undefined;
      /** The lead magnet offered for signing up */
      leadMagnetId?: string | null | undefined;
      /** The brand's list that visitors join by signing up */
      listId?: string | null | undefined;
      /** State of the page */
      status?: "DRAFT" | "PUBLISHED" | undefined;
      /** The run that changed it */
      runId?: string | undefined;
      /** The version you read; a newer one answers 412 */
      version?: number | undefined;
    }, options?: O): Promise<WrittenLandingPage>;
    /** Publish a landing page of this agent. */
    publish(id: string, options?: O): Promise<LandingPage>;
    /** Unpublish a landing page of this agent. */
    unpublish(id: string, options?: O): Promise<LandingPage>;
    /** Show the statistics of a landing page. */
    stats(id: string, input?: {
      /** First day, UTC; by default 29 days before `to` */
      from?: string | undefined;
      /** Last day, UTC; today by default */
      to?: string | undefined;
      /** Length of each period */
      granularity?: "day" | undefined;
    }, options?: O): Promise<LandingPageStats>;
  };
  readonly leadMagnets: {
    /** Upload a lead magnet. */
    create(input: {
      /** Name of the file; folders in it are removed */
      fileName: string;
      /** The file in base64 */
      contentBase64: string;
      /** Media type of the file; must match its content */
      contentType?: string | undefined;
      /** Title that visitors see, up to 200 characters */
      title: string;
      /** What it contains, up to 2,000 characters */
      description?: string | null | undefined;
      /** The run that created it */
      runId?: string | undefined;
    }, options?: O): Promise<LeadMagnet>;
    /** Update the title or description of a lead magnet this agent uploaded. */
    update(id: string, input?: {
      /** Title that visitors see, up to 200 characters */
      title?: string | undefined;
      /** What it contains, up to 2,000 characters */
      description?: string | null | undefined;
    }, options?: O): Promise<LeadMagnet>;
  };
  readonly assets: {
    /** Upload an image to the brand's asset library. */
    create(input: {
      /** Name of the file; folders in it are removed */
      fileName: string;
      /** The file in base64 */
      contentBase64: string;
      /** Media type of the file; must match its content */
      contentType?: string | undefined;
      /** Alternative text for the image */
      alt?: string | null | undefined;
      /** Words to find it by, up to 10 */
      tags?: string[] | undefined;
      /** Your own id for it */
      externalId?: string | null | undefined;
    }, options?: O): Promise<Asset>;
  };
  readonly brand: {
    /** Show the brand's colors, logo and voice. */
    get(options?: O): Promise<Brand>;
  };
  readonly lists: {
    /** List the names and sizes of the brand's lists, newest first. */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: O): Promise<Page<ListMetadata>>;
    /** Show the name and size of one list. */
    get(id: string, options?: O): Promise<ListMetadata>;
  };
  readonly explanations: {
    /** Explain your activation or one of its runs. */
    get(id: string, options?: O): Promise<Explanation>;
  };
}

/** An endpoint: its method, its path after the address of the activation, and whether it takes input. */
export type AgentEndpoint = readonly [method: string, path: string, takesInput: boolean];

export const AGENT_ENDPOINTS: Readonly<Record<string, Readonly<Record<string, AgentEndpoint>>>> = {
  self: {
    get: ["GET","",false],
  },
  messages: {
    list: ["GET","/messages",true],
    get: ["GET","/messages/:messageId",false],
    create: ["POST","/messages",true],
    cancel: ["POST","/messages/:messageId/cancel",true],
    read: ["POST","/messages/read",true],
  },
  runs: {
    start: ["POST","/runs/start",true],
    log: ["POST","/runs/log",true],
    complete: ["POST","/runs/complete",true],
    fail: ["POST","/runs/fail",true],
    cancel: ["POST","/runs/cancel",true],
    list: ["GET","/runs",true],
    get: ["GET","/runs/:runId",false],
    logs: ["GET","/runs/:runId/logs",true],
  },
  credits: {
    get: ["GET","/credits",false],
    list: ["GET","/credits/transactions",true],
    consume: ["POST","/credits/consume",true],
    refund: ["POST","/credits/:transactionId/refund",true],
  },
  wakeups: {
    create: ["POST","/wakeups",true],
    list: ["GET","/wakeups",true],
    get: ["GET","/wakeups/:wakeupId",false],
    cancel: ["DELETE","/wakeups/:wakeupId",false],
  },
  landingPages: {
    list: ["GET","/landing-pages",true],
    create: ["POST","/landing-pages",true],
    get: ["GET","/landing-pages/:id",false],
    update: ["PATCH","/landing-pages/:id",true],
    publish: ["POST","/landing-pages/:id/publish",false],
    unpublish: ["POST","/landing-pages/:id/unpublish",false],
    stats: ["GET","/landing-pages/:id/stats",true],
  },
  leadMagnets: {
    create: ["POST","/lead-magnets",true],
    update: ["PATCH","/lead-magnets/:id",true],
  },
  assets: {
    create: ["POST","/assets",true],
  },
  brand: {
    get: ["GET","/brand",false],
  },
  lists: {
    list: ["GET","/lists",true],
    get: ["GET","/lists/:id",false],
  },
  explanations: {
    get: ["GET","/explain/:id",false],
  },
};
