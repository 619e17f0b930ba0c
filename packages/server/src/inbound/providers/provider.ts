import { createHash, timingSafeEqual } from "node:crypto";
import type { z } from "zod";
import type { HeaderReader } from "../../http/headers.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import type { DeliveryError } from "../../mail/mailer.ts";
import { peerText } from "../../mail/smtp-reply.ts";
import type { InboundDeps } from "../deps.ts";
import type { Report } from "../report.ts";

/** A webhook as it was received. */
interface WebhookRequest {
  readonly bytes: Uint8Array;
  readonly headers: HeaderReader;
}

/**
 * Verifies a webhook of a provider by its key and returns the reports in it; events that say nothing about a delivery are
 * left out. Throws ApiError invalid_signature or validation_error; from SES also not_ready.
 */
export type ReadWebhook = (deps: InboundDeps, request: WebhookRequest, key: string) => Promise<readonly Report[]>;

export function badSignature(message: string): ApiError {
  return new ApiError("invalid_signature", message);
}

/** The body as JSON in the expected form. Throws ApiError validation_error. */
export function parseBody<S extends z.ZodType>(schema: S, bytes: Uint8Array): z.output<S> {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    throw invalid("body", "invalid_json", "The body is not JSON.");
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(issue?.path.join(".") || "body", "invalid_format", `The body is not an event of this provider: ${issue?.message ?? ""}`);
}

/** Compares in constant time, whatever the lengths. */
export function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** The email of one of our Message-IDs, with or without angle brackets; null for another one. */
export function toEmailId(messageId: string | undefined): string | null {
  return /^<?(em_[0-9a-hjkmnp-tv-z]{26})@/.exec(messageId ?? "")?.[1] ?? null;
}

/** An error of a provider, with the codes of SMTP as far as they are in what it says. */
export function toError(text: string | undefined, smtpCode?: unknown, enhancedCode?: unknown): DeliveryError {
  const message = peerText(text ?? "") || "The provider gives no reason.";
  const [, code, enhanced] = /\b([45]\d\d)(?:[ -]#?([45]\.\d{1,3}\.\d{1,3}))?/.exec(message) ?? [];
  const given = /^[45]\.\d{1,3}\.\d{1,3}$/.exec(String(enhancedCode ?? ""))?.[0];
  const number = Number(smtpCode);
  return {
    message,
    smtpCode: number >= 400 && number < 600 ? number : code === undefined ? null : Number(code),
    enhancedCode: given ?? enhanced ?? /(?:^|[^\d.])([45]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(message)?.[1] ?? null,
  };
}
