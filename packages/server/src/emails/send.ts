import type { SendResponse } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { acceptSend, type NewSend } from "./accept.ts";
import type { EmailDeps } from "./deps.ts";
import { storeSends } from "./store-sends.ts";

/**
 * Queues one message for each recipient, or one mail to all of them, with their first events and the jobs that will deliver it: all rows
 * of one transaction (docs/emails.md#sending). Throws ApiError sender_not_verified, recipient_suppressed or validation_error.
 */
export async function send(tx: Tx, deps: EmailDeps, send: NewSend): Promise<SendResponse> {
  const [response] = await storeSends(tx, deps, [await acceptSend(tx, deps, send)]);
  return response as SendResponse;
}
