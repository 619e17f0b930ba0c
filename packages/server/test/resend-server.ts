import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import type { Resend } from "resend";
import { readConfig } from "../src/config.ts";
import { silentLog } from "../src/lib/log.ts";
import { serve } from "../src/serve.ts";

/** A server that the official package talks to. */
export interface ResendServer {
  readonly url: string;
  readonly resend: Resend;
  readonly apiKey: string;
  now(): number;
  /** Counts the stored files of this name and size. */
  countFiles(filename: string, size: number): Promise<number>;
  /** Waits until nothing is due. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a server, and the official package as its client: the installed version, the one in the folder RESEND_PACKAGE, or the one named.
 */
export async function startResend({
  dev = true,
  package: name = process.env["RESEND_PACKAGE"] ?? "resend",
}: {
  dev?: boolean;
  package?: string;
} = {}): Promise<ResendServer> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-resend-"));
  const flags = { port: "0", data: folder, ...(!dev && { capture: "" }) };
  const server = await serve(readConfig({ flags, env: {}, dev }), silentLog);
  const { Resend } = createRequire(import.meta.url)(name) as typeof import("resend");
  const apiKey = server.apiKey ?? "";
  return {
    url: server.url,
    apiKey,
    resend: new Resend(dev ? "re_123456789" : apiKey, { baseUrl: `${server.url}/resend` }),
    now: () => Date.now(),
    countFiles: async (filename, size) => {
      const { read } = server.app.deps.db;
      const { attachments } = read.t;
      const rows = await read.select({ size: attachments.size }).from(attachments).where(eq(attachments.filename, filename));
      return rows.filter((row) => row.size === size).length;
    },
    settle: () => server.app.deps.queue.idle(),
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A request without the package; by default with a key in the form of Resend's. */
export async function call(
  { url, apiKey }: Pick<ResendServer, "url" | "apiKey">,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { authorization: `Bearer ${apiKey}` },
): Promise<{ status: number; body: unknown }> {
  const init =
    body === undefined
      ? { method, headers }
      : { method, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`${url}/resend${path}`, init);
  return { status: answer.status, body: await answer.json() };
}
