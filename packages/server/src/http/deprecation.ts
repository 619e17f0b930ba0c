import type { Endpoint } from "@mailsvc/sdk/contract";
import type { HeaderList } from "./headers.ts";

/** The headers that announce the end of an operation: Deprecation (RFC 9745) and Sunset (RFC 8594). None for all others. */
export function listDeprecationHeaders({ deprecated }: Endpoint): HeaderList {
  if (deprecated === undefined) return [];
  const { since, sunset } = deprecated;
  return [
    ["deprecation", `@${Date.parse(`${since}T00:00:00Z`) / 1000}`],
    ["sunset", new Date(`${sunset}T00:00:00Z`).toUTCString()],
  ];
}
