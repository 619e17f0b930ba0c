import type { RequestError } from "../api/request-error.ts";

/** True if a path such as `permissions[2]` belongs to a field. */
export function isAbout(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}[`) || path.startsWith(`${name}.`);
}

/** Joins the server's messages about a field; empty when it is fine. */
export function findMessages(error: RequestError | null, name: string): string {
  return (error?.details ?? [])
    .filter(({ path }) => isAbout(path, name))
    .map(({ path, message }) => (message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message))
    .join(" ");
}

/** True if every message is shown at one of these fields. */
export function isShownAtFields({ details }: RequestError, names: readonly string[]): boolean {
  return details.length > 0 && details.every(({ path }) => names.some((name) => isAbout(path, name)));
}
