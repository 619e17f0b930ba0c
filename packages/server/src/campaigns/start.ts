import { type CampaignDetail, type CampaignStatus, type contract, type HandlerInput, parseMailbox } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { assertReceives, insertContents } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { assertRevision } from "../lib/revision.ts";
import { HOUR, MINUTE } from "../lib/units.ts";
import { endRateStop, findRateStop } from "../metrics/metrics.ts";
import type { JobHandler } from "../queue/queue.ts";
import { assertVerified } from "../senders/senders.ts";
import { loadParser, type Parse } from "../templates/templates.ts";
import { assertWithinYear, writeAudience } from "./audience.ts";
import {
  buildFrom,
  type CampaignDeps,
  type CampaignRow,
  findCampaignRow,
  getCampaign,
  getCampaignRow,
  parseSchedule,
  showDetail,
  toRevision,
} from "./campaigns.ts";
import { checkScheduled, pinFinished } from "./content.ts";
import { collideWithErasures } from "./forget.ts";
import { assertRenders, compileVariants } from "./preview.ts";
import { hashSource } from "./render.ts";
import { isSelectedBy, type Selection, selectAudience } from "./selection.ts";
import { changeStatus, EDITABLE, invalidState } from "./states.ts";

type Endpoints = typeof contract.campaigns;

/** Job kind: starts a scheduled campaign. */
export const START_JOB = "campaigns.start";
/** Job kind: makes contacts recipients and releases them for delivery, a chunk at a time. */
export const SEND_JOB = "campaigns.send";

/** Maximum delay (ms) of a scheduled start; with a longer one the campaign was missed while the server was down. */
const MAX_LATENESS_MS = HOUR;

/** Payload of a start job. */
interface StartPayload {
  workspaceId: string;
  campaignId: string;
  at: number;
}

/**
 * Starts a draft or scheduled campaign now. Throws ApiError not_found, conflict if it was changed since `revision`, invalid_state, and what
 * keeps it from starting.
 */
export async function sendCampaign(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  { id, revision }: HandlerInput<Endpoints["send"]>,
  prepared: PreparedStart,
): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  assertRevision("campaign", toRevision(row), revision);
  assertWithinYear(row.localTime, deps.clock.now());
  const started = await start(tx, deps, row, ["DRAFT", "SCHEDULED"], prepared);
  await endRateStop(tx, deps, workspaceId);
  return showDetail(tx, started);
}

/** Work done before the transaction of a start, which may await nothing but its queries. */
export interface PreparedStart {
  readonly parse: Parse;
  /** The recipients, or the error that kept them from being selected or written to; null for a campaign that cannot be started. */
  readonly audience: Selection | ApiError | null;
}

/**
 * Prepares the start of a campaign: selects its audience, which may take seconds, without keeping other writers waiting, and renders the
 * campaign for some of it.
 */
export async function prepareStart(read: Reader, deps: CampaignDeps, workspaceId: string, id: string): Promise<PreparedStart> {
  const parse = await loadParser();
  const row = await findCampaignRow(read, workspaceId, id);
  if (row === null || row.startedAt !== null || !EDITABLE.includes(row.status)) return { parse, audience: null };
  try {
    const audience = await selectAudience(read, deps, row);
    const variants = await compileVariants(read, row);
    await assertRenders(
      read,
      workspaceId,
      variants.map(({ template }) => template),
      audience,
    );
    return { parse, audience };
  } catch (error) {
    if (error instanceof ApiError) return { parse, audience: error };
    throw error;
  }
}

/**
 * Schedules a campaign that has not started, or moves its date. Throws ApiError not_found, conflict if it was changed since `revision`,
 * invalid_state or what would keep it from starting.
 */
export async function scheduleCampaign(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  { id, scheduledAt, revision }: HandlerInput<Endpoints["schedule"]>,
  parse: Parse,
): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  assertRevision("campaign", toRevision(row), revision);
  const at = parseSchedule(scheduledAt, deps.clock.now()) as number;
  assertWithinYear(row.localTime, at);
  const scheduled = await changeStatus(
    tx,
    deps,
    row,
    row.startedAt === null ? EDITABLE : ["DRAFT", "SCHEDULED"],
    { status: "SCHEDULED", scheduledAt: at },
    { type: "campaign.scheduled" },
  );
  await checkScheduled(tx, parse, scheduled);
  await enqueueStart(tx, deps, scheduled);
  return getCampaign(tx, workspaceId, id);
}

/** Enqueues the start of a scheduled campaign. A job of an earlier date finds that the date has changed, and ends. */
export async function enqueueStart(tx: Tx, deps: CampaignDeps, { workspaceId, id, scheduledAt }: CampaignRow): Promise<void> {
  const at = scheduledAt as number;
  await deps.queue.enqueue(tx, {
    kind: START_JOB,
    payload: { workspaceId, campaignId: id, at } satisfies StartPayload,
    runAt: at,
    dedupeKey: `${START_JOB}:${id}:${at}`,
  });
}

/**
 * Starts a scheduled campaign when it is due. One that is late, or that cannot start, is held: PAUSED with the reason, which is in
 * its event, too.
 */
export function startScheduled(deps: CampaignDeps): JobHandler {
  return async ({ payload }) => {
    const { workspaceId, campaignId, at } = payload as unknown as StartPayload;
    const prepared = await prepareStart(deps.db.read, deps, workspaceId, campaignId);
    return {
      commit: async (tx) => {
        const row = await findCampaignRow(tx, workspaceId, campaignId);
        if (row?.status !== "SCHEDULED" || row.scheduledAt !== at) return;
        const late = deps.clock.now() - at;
        if (late > MAX_LATENESS_MS && deps.config.lateCampaigns === "hold") {
          const message = `It was due at ${new Date(at).toISOString()} and the server was not running: it is ${Math.round(late / MINUTE)} minutes late. Resume it to send it now, or schedule it again.`;
          await changeStatus(
            tx,
            deps,
            row,
            ["SCHEDULED"],
            { status: "PAUSED" },
            { type: "campaign.paused", reason: { code: "late", message } },
          );
          return;
        }
        const stop = await findRateStop(tx, workspaceId, deps.clock.now());
        if (stop !== null) {
          await changeStatus(tx, deps, row, ["SCHEDULED"], { status: "PAUSED" }, { type: "campaign.paused", reason: stop });
          return;
        }
        try {
          await start(tx, deps, row, ["SCHEDULED"], prepared);
        } catch (error) {
          // `start` writes nothing before its checks are done.
          // Changed while its audience was selected, it is in order: the job is tried again.
          if (!(error instanceof ApiError) || error.code === "conflict") throw error;
          const reason = { code: error.code, message: error.message };
          await changeStatus(tx, deps, row, ["SCHEDULED"], { status: "PAUSED" }, { type: "campaign.failed", reason });
        }
      },
    };
  };
}

/**
 * Starts a campaign: checks it once more, fixes its content and its audience, and enqueues the first job of its sending. Throws
 * ApiError before it writes anything.
 */
export async function start(
  tx: Tx,
  deps: CampaignDeps,
  row: CampaignRow,
  from: readonly CampaignStatus[],
  { parse, audience }: PreparedStart,
): Promise<CampaignRow> {
  const { workspaceId, id } = row;
  if (!from.includes(row.status)) throw invalidState(row, from);
  const fromText = buildFrom(row);
  await assertVerified(tx, deps, workspaceId, parseMailbox(row.fromEmail), "fromEmail");
  const contents = await pinFinished(tx, parse, row);
  for (const { replyTo } of contents) assertReceives(deps, replyTo);
  const { contacts } = getSelection(audience, row);
  const started = await changeStatus(
    tx,
    deps,
    row,
    from,
    { status: "SENDING", startedAt: deps.clock.now(), audience: contacts.size, run: row.run + 1 },
    { type: "campaign.started" },
  );
  await collideWithErasures(tx, workspaceId);
  await writeAudience(tx, id, contacts);
  for (const { variant, source, template, replyTo } of contents) {
    const { previewText } = variant;
    const [contentsId = 0] = await insertContents(tx, [
      {
        workspaceId,
        from: fromText,
        replyTo,
        subject: source.subject ?? "",
        html: source.html,
        text: source.text,
        template,
        // No traceparent: a trace with the mails of a whole campaign could not be read, so each of them begins its own.
        tracking: { opens: row.trackOpens, clicks: row.trackClicks, ...(row.utm !== null && { utm: row.utm }) },
      },
    ]);
    await tx
      .insert(tx.t.campaignContents)
      .values({ campaignId: id, variant: variant.name ?? "", contentsId, previewText, source, hash: hashSource(source, previewText) });
  }
  await enqueueSending(tx, deps, started);
  return started;
}

/**
 * Returns the audience that was selected for a campaign. Throws the ApiError that kept it from being selected or written to, or conflict if
 * the campaign has changed since.
 */
function getSelection(audience: PreparedStart["audience"], row: CampaignRow): Selection {
  if (audience instanceof ApiError) throw audience;
  if (audience === null || !isSelectedBy(audience, row))
    throw new ApiError("conflict", "The campaign was changed while it was being started. Nothing was sent; start it again.");
  return audience;
}

/** Enqueues the next job of a campaign's sending, behind the mail that is due before; nothing if it waits already. */
export async function enqueueSending(tx: Tx, deps: CampaignDeps, { workspaceId, id, run }: CampaignRow, runAt?: number): Promise<void> {
  await deps.queue.enqueue(tx, {
    kind: SEND_JOB,
    payload: { workspaceId, campaignId: id, run },
    lane: "background",
    dedupeKey: `${SEND_JOB}:${id}:${run}`,
    // It fails only when the database does; a campaign must not stop for that.
    maxAttempts: 1000,
    ...(runAt !== undefined && { runAt }),
  });
}
