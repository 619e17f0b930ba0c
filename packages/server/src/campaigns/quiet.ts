import type { CampaignStats } from "@mailsvc/sdk/contract";
import { and, desc, eq } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { OF_CAMPAIGN } from "../emails/emails.ts";
import { iso } from "../lib/clock.ts";
import { sayInstant } from "../lib/explanation.ts";
import { MINUTE } from "../lib/units.ts";
import type { CampaignRow } from "./campaigns.ts";
import type { CampaignDeps } from "./deps.ts";
import { isUndecided } from "./release.ts";
import { findOpening } from "./throttle.ts";

// Shorter pauses are those of a pace, or of a server with other mail.
const QUIET_MS = 2 * MINUTE;

type QuietDeps = Pick<CampaignDeps, "clock" | "queue">;

/** Tells for what a campaign that is being sent waits, if no mail of it left for two minutes; else null. */
export async function findQuiet(read: Reader, deps: QuietDeps, campaign: CampaignRow): Promise<CampaignStats["quiet"]> {
  if (campaign.status !== "SENDING") return null;
  const { events: e } = read.t;
  const [last] = await read
    .select({ at: e.at })
    .from(e)
    .where(and(eq(e.workspaceId, campaign.workspaceId), eq(e.campaignId, campaign.id), eq(e.type, "email.sent")))
    .orderBy(desc(e.at))
    .limit(1);
  // Its last change: the start, a resumption, the winner.
  const since = Math.max(last?.at ?? 0, campaign.updatedAt);
  if (deps.clock.now() - since < QUIET_MS) return null;
  return { since: iso(since), reason: await explainQuiet(read, deps, campaign) };
}

async function explainQuiet(read: Reader, { clock, queue }: QuietDeps, campaign: CampaignRow): Promise<string> {
  const { throttle, localTime, decideAt, abTest } = campaign;
  const pause = await queue.readPause(read);
  if (pause !== null) return `Sending is paused on this server${pause.reason === null ? "." : `: ${pause.reason}`}`;
  const opensAt = findOpening(throttle?.window, clock.now());
  if (opensAt > clock.now()) return `It is sent at certain hours only, which begin ${sayInstant(opensAt)}.`;
  const refusal = await findRefusal(read, campaign.id);
  if (refusal !== null) return `Mail servers asked to wait, and are tried again: ${refusal}`;
  if (isUndecided(campaign) && decideAt !== null)
    return abTest?.winner === "manual"
      ? "Its sample is out. The others get it once you pick the winner."
      : `Its sample is out. The winner is decided ${sayInstant(decideAt)}.`;
  if (localTime !== null) return `Each reader gets it when their own clock shows ${localTime.at.replace("T", " ")}.`;
  if (throttle?.perSecond !== undefined && campaign.nextReleaseAt !== null && campaign.nextReleaseAt > clock.now())
    return `Its pace releases the next email ${sayInstant(campaign.nextReleaseAt)}.`;
  return "Its mail waits behind other mail of this server.";
}

/** Answer of a mail server for which a recipient is tried again; null without such recipients. */
async function findRefusal(read: Reader, campaignId: string): Promise<string | null> {
  const { emails: t } = read.t;
  const [one] = await read
    .select({ lastError: t.lastError })
    .from(t)
    .where(and(OF_CAMPAIGN, eq(t.campaignId, campaignId), eq(t.status, "deferred")))
    .limit(1);
  return one?.lastError?.message ?? null;
}
