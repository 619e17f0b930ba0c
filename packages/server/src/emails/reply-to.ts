import { AUTO_REPLY_TO } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import type { EmailDeps } from "./deps.ts";

/** Throws ApiError validation_error for a Reply-To of `auto` where this server receives no mail. */
export function assertReceives({ config }: Pick<EmailDeps, "config">, replyTo: string | readonly string[] | null | undefined): void {
  if (replyTo !== AUTO_REPLY_TO || config.replyDomain !== null) return;
  const message = "replyTo cannot be auto, because this server receives no mail.";
  throw new ApiError("validation_error", message, {
    details: [{ path: "replyTo", code: "no_inbound_domain", message }],
    hint: "Start the server with --inbound-domain and --inbound-smtp-port, or give an address.",
  });
}
