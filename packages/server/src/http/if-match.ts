import type { Endpoint } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import type { HeaderReader } from "./headers.ts";

/**
 * Returns the revision that an If-Match header names for a change; null if it names none. It acts as the field `revision` does. Throws
 * ApiError version_mismatch for a header that is no revision, and validation_error for an endpoint without revisions, because ignoring the
 * header would overwrite changes that the caller has not seen.
 */
export function readRevision(endpoint: Endpoint, headers: HeaderReader): number | null {
  const header = headers.get("if-match")?.trim();
  if (header === undefined || header === "*" || endpoint.errors?.includes("version_mismatch")) return null;
  if (!takesRevision(endpoint))
    throw new ApiError("validation_error", "This endpoint does not know If-Match, because what it changes has no revision.", {
      hint: "Leave the header out.",
    });
  const [, revision] = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header) ?? [];
  if (revision === undefined) throw mismatch("If-Match names no revision. It is the `revision` of the object, in quotes.");
  return Number(revision);
}

/** True if changes by an endpoint may name the revision that they are made for. */
export function takesRevision({ body, method }: Pick<Endpoint, "body" | "method">): boolean {
  return method !== "GET" && body !== undefined && "revision" in body.shape;
}

/** The error of a change whose revision If-Match named: HTTP has a status of its own for it. */
export function toMismatch(error: unknown): unknown {
  const isOutdated = error instanceof ApiError && error.details.some(({ path, code }) => path === "revision" && code === "outdated");
  return isOutdated ? mismatch(error.message) : error;
}

function mismatch(message: string): ApiError {
  return new ApiError("version_mismatch", message, { details: [{ path: "revision", code: "version_mismatch", message }] });
}
