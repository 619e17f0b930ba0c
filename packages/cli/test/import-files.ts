import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Contact } from "@mailsvc/sdk/contract";
import { folder } from "./harness.ts";
import type { Beside } from "./world.ts";

const COUNTS = ["rows", "created", "updated", "unchanged", "skipped", "failed"] as const;
/** The numbers of a summary that are not 0. */
export const counts = (summary: Record<string, number>) =>
  Object.fromEntries(COUNTS.flatMap((name) => (summary[name] ? [[name, summary[name]]] : [])));

export const contacts = async ({ mailsvc }: Beside): Promise<Contact[]> => (await mailsvc(["contacts", "list", "--all"])).lines.reverse();

export const write = (name: string, content: string | Uint8Array): { cwd: string; path: string } => {
  const cwd = folder();
  writeFileSync(join(cwd, name), content);
  return { cwd, path: join(cwd, name) };
};

export const people = (n: number): string =>
  `email,firstName\n${Array.from({ length: n }, (_, i) => `user${i}@example.com,Ada ${i}\n`).join("")}`;

/** Requests to the import endpoint: their keys and how many rows each had. */
export const listening = (world: Beside["world"], before: (n: number) => void | Promise<void> = () => {}) => {
  const seen: { key: string | null; rows: number }[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (String(url).endsWith("/contacts/import")) {
      const body = JSON.parse(String(init?.body)) as { rows: unknown[] };
      seen.push({ key: new Headers(init?.headers).get("idempotency-key"), rows: body.rows.length });
      await before(seen.length);
    }
    return world.fetch(url as string, init);
  };
  return { seen, fetch };
};
