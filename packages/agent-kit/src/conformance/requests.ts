import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { signedRequest } from "../testing/signed-request.ts";
import type { CaseRequest } from "./case.ts";
import type { Samples } from "./samples.ts";

/** Input of cases. */
export interface CheckInput {
  readonly secret: string;
  /** Time of sending the requests, ms since 1970. */
  readonly now: number;
  readonly samples: Samples;
}

export const SIGNATURE = "x-service-signature";

/** The headers of the Standard Webhooks form. */
export const STANDARD = ["webhook-id", "webhook-timestamp", "webhook-signature"];

export function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

/** A signed request with this body. */
export function sign(text: string | Uint8Array, secret: string, now: number): CaseRequest {
  if (typeof text === "string" && text.startsWith("{")) {
    const parsed = readObject(text);
    const { headers } = signedRequest(parsed, { secret, now });
    const body = bytes(text);
    return { method: "POST", headers: resign(headers, body, secret), body };
  }
  const body = typeof text === "string" ? bytes(text) : text;
  return { method: "POST", headers: resign(signedRequest({}, { secret, now }).headers, body, secret), body };
}

/** Headers with the signatures of exactly these bytes. */
function resign(headers: Readonly<Record<string, string>>, body: Uint8Array, secret: string): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const standard = createHmac("sha256", key)
    .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`)
    .update(body)
    .digest("base64");
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return { ...texts, [SIGNATURE]: createHmac("sha256", secret).update(body).digest("hex"), "webhook-signature": `v1,${standard}` };
}

/** The fields of a JSON object; none when it is damaged on purpose. */
function readObject(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}

/** A request whose spec signature is this one, and which has no other. */
export function signedAs(request: CaseRequest, signature: string): CaseRequest {
  const bare = without(request, ...STANDARD);
  return { ...bare, headers: { ...bare.headers, [SIGNATURE]: signature } };
}

export function without(request: CaseRequest, ...names: readonly string[]): CaseRequest {
  return { ...request, headers: Object.fromEntries(Object.entries(request.headers).filter(([name]) => !names.includes(name))) };
}
