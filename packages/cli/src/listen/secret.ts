import { createHmac } from "node:crypto";
import type { Flags } from "../runtime/action.ts";
import type { Session } from "../types.ts";

/** A secret that signs requests to a local webhook. */
export interface SigningSecret {
  readonly value: string;
  /** True if it was made from the API key, because none was given. */
  readonly derived: boolean;
}

/** The secret of --secret or MAILSVC_WEBHOOK_SECRET, else one that is made from the API key. Throws CliError. */
export function readSecret(session: Session, flags: Flags): SigningSecret {
  const given = flags["secret"] ?? session.host.env["MAILSVC_WEBHOOK_SECRET"];
  if (typeof given === "string" && given !== "") return { value: given, derived: false };
  return { value: deriveSecret(session.settings().apiKey ?? ""), derived: true };
}

/** A secret that stays the same for an API key, so that a receiver needs it once. It does not reveal the key. */
function deriveSecret(apiKey: string): string {
  return `whsec_${createHmac("sha256", apiKey).update("mailsvc listen").digest("base64")}`;
}
