import {
  type ActivationStatus,
  type AttemptClass,
  type DeactivationReason,
  type Explanation,
  type PauseReason,
  UNCOVERED_DAYS,
} from "@mailsvc/sdk/contract";
import { and, desc, eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { notFound } from "../../lib/api-error.ts";
import { type Action, buildExplanation, type Findings, joinSentences, type Moment, type Present, quote } from "../../lib/explanation.ts";
import { DAY } from "../../lib/units.ts";
import { describeAttempts, type EventRow, explainAttempt, explainDelivery } from "../../webhooks/webhooks.ts";
import { getActivation, showActivation } from "../activations/activations.ts";
import type { AgentTables } from "../agent-access.ts";
import { listingById } from "../listings/listings.ts";
import { showDeliveryDetail } from "./deliveries.ts";

// The latest events of an activation that the timeline shows.
const EVENTS = 30;

/** Reader of an explanation. Each kind may see and do different things. */
type Viewer = "brand" | "builder" | "agent";

/** Explains an activation to its brand. Throws ApiError not_found. */
export async function explainActivation(read: Reader, present: Present, workspaceId: string, id: string): Promise<Explanation> {
  return explainFor(read, present, { workspaceId, id }, "brand");
}

/** Explains an activation to the builder of its agent. Throws ApiError not_found. */
export async function explainToBuilder(read: Reader, present: Present, workspaceId: string, id: string): Promise<Explanation> {
  const { activations: a, listings: l } = read.t;
  const [found] = await read
    .select({ brand: a.workspaceId })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .where(and(eq(a.id, id), eq(l.workspaceId, workspaceId)));
  if (!found) throw notFound("activation", id);
  return explainFor(read, present, { workspaceId: found.brand, id }, "builder");
}

/** Explains an activation to its agent. Throws ApiError not_found. */
export async function explainToAgent(read: Reader<AgentTables>, present: Present, workspaceId: string, id: string): Promise<Explanation> {
  return explainFor(read, present, { workspaceId, id }, "agent");
}

/** Explains an event for the webhook of an agent to its builder. Throws ApiError not_found. */
export async function explainAgentEvent(read: Reader, present: Present, workspaceId: string, id: string): Promise<Explanation> {
  const [row] = await findRows(read, read.t.webhookEvents, { id });
  const listing = row && (await listingById(read, row.endpointId));
  if (!row || listing?.workspaceId !== workspaceId) throw notFound("event", id);
  const delivery = await showDeliveryDetail(read, row);
  const again = delivery.state === "delivered" ? "Send it once more" : "Send it now";
  return buildExplanation(
    {
      id,
      kind: "agent_event",
      title: `${row.type} for the webhook of ${listing.name}`,
      status: delivery.state,
      moments: [{ at: row.at, what: `It happened: ${row.type}` }, ...describeAttempts(delivery.log)],
      ...explainDelivery(delivery, delivery.nextAttemptAt === null ? "Its activation is paused after an event was given up." : null),
      actions: [
        { what: again, command: `mailsvc deliveries redeliver ${listing.slug} ${id}` },
        { what: "Try the webhook", command: `mailsvc deliveries test ${listing.slug}` },
      ],
      related: [delivery.activationId, delivery.runId, delivery.waitsFor],
    },
    present,
  );
}

async function explainFor(
  read: Reader<AgentTables>,
  present: Present,
  { workspaceId, id }: { workspaceId: string; id: string },
  viewer: Viewer,
): Promise<Explanation> {
  const found = await getActivation(read, workspaceId, id);
  const { activation, listing } = found;
  const shown = showActivation(found, present.now);
  const { webhookEvents: e } = read.t;
  const latest = await read.select().from(e).where(eq(e.streamId, id)).orderBy(desc(e.sequence)).limit(EVENTS);
  const undelivered = latest.filter(({ state }) => state === "pending" || state === "queued" || state === "dead");
  return buildExplanation(
    {
      id,
      kind: "activation",
      title: `Activation of ${listing.name}`,
      status: shown.status,
      moments: [
        { at: activation.createdAt, what: "The brand turned the agent on" },
        ...latest.map((event) => describeEvent(event, viewer)),
        ...(activation.keyDeliveredAt === null
          ? []
          : [{ at: activation.keyDeliveredAt, what: "The agent's webhook acknowledged its key" }]),
      ],
      summary: joinSentences(
        ...summarize(shown.status, shown.pauseReasons, shown.deactivationReason),
        shown.keyDeliveredAt === null && shown.status !== "deactivated"
          ? "The agent's webhook has not acknowledged its key yet, so it cannot call."
          : null,
        describeLastError(shown.webhookLastError, viewer),
      ),
      next: findNext(shown.status, activation.uncoveredAt, undelivered),
      actions: listActions(viewer, { id, slug: listing.slug, status: shown.status, reasons: shown.pauseReasons }),
      related: viewer === "builder" ? undelivered.map((event) => event.id) : [],
    },
    present,
  );
}

const PAUSED: Readonly<Record<PauseReason, string>> = {
  user_paused: "The brand paused it.",
  plan_downgrade: "The plan of the brand does not cover it any more.",
  webhook_failure: "An event could not be delivered to the agent's webhook in any attempt.",
};

const ENDED: Readonly<Record<DeactivationReason, string>> = {
  user_deactivated: "The brand turned the agent off.",
  plan_downgrade: `The plan of the brand did not cover it for ${UNCOVERED_DAYS} days.`,
  admin_revoke: "The listing of the agent ended.",
};

function summarize(status: ActivationStatus, reasons: readonly PauseReason[], ended: DeactivationReason | null): (string | null)[] {
  switch (status) {
    case "active":
      return ["It is active: its key works and its webhook gets events."];
    case "paused":
      return ["It is paused, and its key is refused.", ...reasons.map((reason) => PAUSED[reason])];
    case "deactivated":
      return ["It has ended, and its key never works again.", ended && ENDED[ended]];
  }
}

function describeLastError(
  error: { class: AttemptClass; message: string; attempts: number; type: string; clearedAt: string | null } | null,
  viewer: Viewer,
): string | null {
  if (error === null || error.clearedAt !== null) return null;
  const hint = viewer === "brand" ? "The builder of the agent has to repair it." : explainAttempt({ class: error.class, answer: null });
  return `The last error, after ${error.attempts} attempts to deliver ${error.type}: ${error.message} ${hint}`;
}

function findNext(status: ActivationStatus, uncoveredAt: number | null, undelivered: readonly EventRow[]): Findings["next"] {
  if (status === "paused" && uncoveredAt !== null)
    return { at: uncoveredAt + UNCOVERED_DAYS * DAY, what: "It ends then, unless a plan covers it before." };
  const due = undelivered.filter(({ dueAt }) => dueAt !== null).sort((a, b) => a.sequence - b.sequence)[0];
  if (status !== "deactivated" && due !== undefined) return { at: due.dueAt, what: `The next attempt to deliver ${due.type}.` };
  return status === "paused" ? { at: null, what: "Nothing happens until it is resumed." } : null;
}

function listActions(
  viewer: Viewer,
  { id, slug, status, reasons }: { id: string; slug: string; status: ActivationStatus; reasons: readonly PauseReason[] },
): Action[] {
  const failing = reasons.includes("webhook_failure");
  if (viewer === "agent") return [];
  if (viewer === "builder")
    return [
      { what: "Try the webhook", command: `mailsvc deliveries test ${slug}` },
      { what: "See what did not arrive", command: `mailsvc deliveries list ${slug} --activation-id ${id}` },
      ...(failing ? [{ what: "Resume it, once the webhook works", command: `mailsvc listings resume ${slug} ${id}` }] : []),
    ];
  return [
    ...(status === "paused" && reasons.some((reason) => reason !== "plan_downgrade")
      ? [
          {
            what: failing ? "Resume it, once the builder has repaired the webhook" : "Resume it",
            command: `mailsvc activations resume ${id}`,
          },
        ]
      : []),
    ...(reasons.includes("plan_downgrade") ? [{ what: "Change to a plan that covers it", command: "mailsvc plans list" }] : []),
    ...(status === "deactivated" ? [{ what: "Turn the agent on again", command: `mailsvc activations create ${slug}` }] : []),
  ];
}

/** An event in words; its errors at the webhook are shown to the builder only. */
function describeEvent(row: EventRow, viewer: Viewer): Moment {
  const reason = readReason(row);
  const fate = row.state === "delivered" ? "it arrived" : row.state === "dead" ? "it was given up" : row.state;
  const failure =
    row.lastClass === null || row.lastClass === "ok"
      ? null
      : joinSentences(row.lastError, explainAttempt({ class: row.lastClass, answer: row.lastAnswer }));
  const why = joinSentences(reason && `Reason: ${quote(reason)}.`, viewer === "builder" ? failure : null);
  return { at: row.at, what: `Event ${row.type}: ${fate}`, why: why === "" ? null : why };
}

function readReason({ body }: EventRow): string | null {
  const { reason } = JSON.parse(body) as { reason?: unknown };
  return typeof reason === "string" ? reason : null;
}
