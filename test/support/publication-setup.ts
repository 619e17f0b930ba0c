import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import type { Registry } from "../../packaging/release/registry.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** URL for the packages as they are published. */
    publisherUrl: string;
  }
}

/** The answer to a test that asks for the packages. */
export interface Publication {
  /** The address of their registry. */
  readonly registry: string;
  /** Their files, by their names. */
  readonly tarballs: Readonly<Record<string, string>>;
}

/** One publication for a whole run of tests, which takes five seconds: made when the first test asks for it, removed at the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-publication-"));
  let published: Promise<Registry> | undefined;
  const publish = async (): Promise<Registry> => (await import("./npm-user.ts")).publishPackages(folder);
  const publisher = createServer(async (_request, response) => {
    try {
      published ??= publish();
      const { url, tarballs } = await published;
      response.end(JSON.stringify({ registry: url, tarballs: Object.fromEntries(tarballs) } satisfies Publication));
    } catch (error) {
      response.statusCode = 500;
      response.end((error as Error).message);
    }
  });
  await new Promise<void>((listening) => publisher.listen(0, "127.0.0.1", listening));
  project.provide("publisherUrl", `http://127.0.0.1:${(publisher.address() as AddressInfo).port}`);
  return async () => {
    publisher.closeAllConnections();
    publisher.close();
    await (await published?.catch(() => undefined))?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
}
