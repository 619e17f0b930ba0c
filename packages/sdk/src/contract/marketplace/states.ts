/** States of the marketplace (docs/marketplace.md). */

/** A cancelled or expired listing can be paid for again; its earlier activations stay deactivated. */
export const LISTING_STATES = ["DRAFT", "LISTED", "CANCELLED", "EXPIRED"] as const;
export type ListingState = (typeof LISTING_STATES)[number];

export const PAYMENT_STATES = ["PENDING", "PAID", "FAILED", "EXPIRED"] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];

export const ACTIVATION_STATUSES = ["active", "paused", "deactivated"] as const;
export type ActivationStatus = (typeof ACTIVATION_STATUSES)[number];

/** Reasons an activation is paused. They form a set; the activation is active when it is empty. */
export const PAUSE_REASONS = ["user_paused", "plan_downgrade", "webhook_failure"] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

export const DEACTIVATION_REASONS = ["user_deactivated", "plan_downgrade", "admin_revoke"] as const;
export type DeactivationReason = (typeof DEACTIVATION_REASONS)[number];

/**
 * An event on its way to a webhook: `pending` until its direct attempts are used up, then `queued`, then `delivered` or
 * `dead`. `superseded`: an agent.paused or agent.resumed that a newer one replaced. `cancelled`: an agent.activated that had not
 * arrived when its activation ended.
 */
export const AGENT_EVENT_STATES = ["pending", "queued", "delivered", "dead", "superseded", "cancelled"] as const;
export type AgentEventState = (typeof AGENT_EVENT_STATES)[number];

export const RUN_STATUSES = ["RUNNING", "WAITING", "COMPLETED", "FAILED", "CANCELLED"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_FAILURES = ["heartbeat_timeout", "reported"] as const;
export type RunFailure = (typeof RUN_FAILURES)[number];

export const MESSAGE_TYPES = ["TEXT", "APPROVAL_REQUEST", "APPROVAL_RESPONSE"] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Directions in the agent's view: `outbound` messages are from the agent, `inbound` ones are for it. */
export const MESSAGE_DIRECTIONS = ["inbound", "outbound"] as const;
export type MessageDirection = (typeof MESSAGE_DIRECTIONS)[number];

export const APPROVAL_STATUSES = ["PENDING", "APPROVED", "REJECTED", "ANSWERED", "EXPIRED", "CANCELLED"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export const WAKEUP_STATUSES = ["SCHEDULED", "FIRED", "CANCELLED", "SKIPPED"] as const;
export type WakeupStatus = (typeof WAKEUP_STATUSES)[number];

export const LANDING_PAGE_STATUSES = ["DRAFT", "PUBLISHED"] as const;
export type LandingPageStatus = (typeof LANDING_PAGE_STATUSES)[number];

export const CREDIT_KINDS = ["grant", "consume", "refund"] as const;
export type CreditKind = (typeof CREDIT_KINDS)[number];
