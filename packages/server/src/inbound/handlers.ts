import type { inboundNouns } from "@mailsvc/sdk/contract";
import type { Handlers, PublicContext, RawBody } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { applyReports } from "./apply.ts";
import { readMailgun } from "./providers/mailgun.ts";
import { readPostmark } from "./providers/postmark.ts";
import type { ReadWebhook } from "./providers/provider.ts";
import { readSendgrid } from "./providers/sendgrid.ts";
import { readSes } from "./providers/ses.ts";

type Endpoints = (typeof inboundNouns)["inbound"];

// Reports applied in one transaction; SendGrid sends a thousand at a time.
const CHUNK = 100;

/** The endpoints that sending providers call. */
export const inboundHandlers: Handlers<Endpoints> = {
  ses: take(readSes),
  postmark: take(readPostmark),
  sendgrid: take(readSendgrid),
  mailgun: take(readMailgun),
};

/** Throws ApiError not_ready when a report came before the email was settled: providers send it again after a 5xx. */
function take(read: ReadWebhook) {
  return async (_input: unknown, { deps, bytes, headers }: PublicContext & RawBody): Promise<{ received: true; applied: number }> => {
    const reports = await read(deps, { bytes, headers });
    let applied = 0;
    let early = 0;
    for (const chunk of splitIntoChunks(reports, CHUNK)) {
      const results = await deps.db.tx((tx) => applyReports(tx, deps, chunk));
      applied += results.filter((result) => result === "applied").length;
      early += results.filter((result) => result === "too-early").length;
    }
    if (early > 0) throw new ApiError("not_ready", "An email this is about is still being sent.");
    return { received: true, applied };
  };
}
