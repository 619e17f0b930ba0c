import { type CampaignDetail, VARIANT_NAMES, type VariantName } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { nextChange } from "../lib/revision.ts";
import { type CampaignDeps, type CampaignRow, getCampaignRow, showDetail } from "./campaigns.ts";
import { type Metric, readCounts } from "./counts.ts";
import { enqueueSending } from "./start.ts";

/**
 * The variant that the recipient at a place gets, counted from 0; null outside the sample. The sample is spread evenly over the
 * audience, and so are its variants.
 */
export function pickVariant({ abTest }: Pick<CampaignRow, "abTest">, place: number): VariantName | null {
  if (abTest === null) return null;
  const before = countSample({ abTest }, place);
  return countSample({ abTest }, place + 1) === before ? null : (VARIANT_NAMES[before % abTest.variants.length] as VariantName);
}

/** Size of the sample of an A/B test among a number of recipients. */
export function countSample({ abTest }: Pick<CampaignRow, "abTest">, recipients: number): number {
  return Math.floor((recipients * (abTest?.samplePercent ?? 0)) / 100);
}

/** The variant with the best rate of unique opens or clicks among the mails that were accepted; of equal ones the first. */
export async function pickWinner(q: Tx | Reader, { id, abTest }: CampaignRow): Promise<VariantName> {
  const { variants } = await readCounts(q, id);
  const by: Metric = abTest?.winner === "clicks" ? "uniqueClicks" : "uniqueOpens";
  const rate = (name: VariantName): number => {
    const of = variants.get(name);
    const accepted = (of?.get("status:sent") ?? 0) + (of?.get("status:delivered") ?? 0) + (of?.get("status:complained") ?? 0);
    return accepted === 0 ? 0 : (of?.get(by) ?? 0) / accepted;
  };
  const names = VARIANT_NAMES.slice(0, abTest?.variants.length);
  return names.reduce((best, name) => (rate(name) > rate(best) ? name : best));
}

/** Decides an A/B test by hand, before its time too. Throws ApiError not_found, invalid_state or validation_error. */
export async function decideWinner(
  tx: Tx,
  deps: CampaignDeps,
  workspaceId: string,
  { id, variant }: { id: string; variant: VariantName },
): Promise<CampaignDetail> {
  const row = await getCampaignRow(tx, workspaceId, id);
  const names = VARIANT_NAMES.slice(0, row.abTest?.variants.length ?? 0);
  if (!names.includes(variant))
    throw invalid(
      "variant",
      "unknown_variant",
      names.length === 0 ? "This campaign has no A/B test." : `This campaign has the variants ${names.join(", ")}.`,
    );
  if (row.winner === variant) return showDetail(tx, row);
  if (row.winner !== null)
    throw new ApiError("invalid_state", `The test is decided: ${row.winner} won, and goes to the rest of the recipients.`);
  if (row.startedAt === null || (row.status !== "SENDING" && row.status !== "PAUSED"))
    throw new ApiError("invalid_state", `This campaign is ${row.status}. A winner is picked while it is being sent.`);
  const { campaigns: t } = tx.t;
  const decided: CampaignRow = { ...row, winner: variant, run: row.run + 1, updatedAt: nextChange(deps.clock, row.updatedAt) };
  await tx
    .update(t)
    .set({ winner: variant, run: decided.run, updatedAt: decided.updatedAt })
    .where(and(eq(t.id, id), eq(t.run, row.run)));
  await enqueueSending(tx, deps, decided);
  return showDetail(tx, decided);
}
