import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { type BuildOptions, build } from "esbuild";
import { describe, expect, test } from "vitest";

/*
 * The SDK in a bundle, as programs for browsers and for workers have it. The limits are those that docs/webhooks.md and the README of the
 * SDK promise.
 */

const root = fileURLToPath(new URL("../", import.meta.url));
const page = (path: string): string => readFileSync(`${root}${path}`, "utf8");

type Place = Pick<BuildOptions, "platform" | "conditions" | "format">;

/** Module resolution of bundlers for these places: without Node's modules, by the conditions of the place. */
const PLACES: Readonly<Record<string, Place>> = {
  browsers: { platform: "browser" },
  "Cloudflare Workers": { platform: "neutral", conditions: ["workerd", "worker", "browser"] },
  "edge functions": { platform: "neutral", conditions: ["edge-light"] },
};

async function bundle(contents: string, place: Place): Promise<{ text: string; gzipped: number; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    logLevel: "silent",
    // The paths of the repository's own configuration would lead to the sources.
    tsconfigRaw: {},
    ...place,
  });
  const text = outputFiles[0]?.text ?? "";
  return { text, gzipped: gzipSync(text).length, inputs: Object.keys(metafile.inputs) };
}

const SENDING = `
  import { Mailsvc } from "@mailsvc/sdk";
  const client = new Mailsvc({ apiKey: "ms_live_x", baseUrl: "https://mail.example" });
  globalThis.sent = client.emails.send({ from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "It works." });`;

describe.each(Object.entries(PLACES))("in a bundle for %s", (_, place) => {
  test("a client sends with the global fetch and takes at most 16 kB", async () => {
    const { text, gzipped, inputs } = await bundle(SENDING, { ...place, format: "iife" });
    expect(inputs.filter((path) => /node_modules\/(?!@mailsvc)/.test(path))).toEqual([]);
    expect(gzipped).toBeLessThan(16 * 1024);
    expect(page("packages/sdk/README.md")).toContain("at most 16 kB");
    const calls: [string, RequestInit][] = [];
    const fetch = async (url: string, init: RequestInit) => {
      calls.push([url, init]);
      return Response.json({ id: "em_1", status: "queued" });
    };
    // Nothing of Node's: what these places have.
    const web = { fetch, URL, URLSearchParams, TextDecoder, TextEncoder, AbortController, crypto, performance, setTimeout, clearTimeout };
    const globals: Record<string, unknown> = { ...web, Uint8Array, ArrayBuffer, Blob };
    runInNewContext(text, globals);
    expect(await globals.sent).toEqual({ id: "em_1", status: "queued" });
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject([
      "https://mail.example/api/v1/send",
      { method: "POST", headers: { authorization: "Bearer ms_live_x" } },
    ]);
  });

  test("looking at errors alone takes less than 1 kB, without the client", async () => {
    const { text, gzipped } = await bundle('export { isApiError } from "@mailsvc/sdk";', { ...place, format: "esm" });
    expect(text).not.toContain("/api/v1");
    expect(gzipped).toBeLessThan(1024);
  });

  test("verifying webhooks alone takes at most 5 kB", async () => {
    const { gzipped } = await bundle('export * from "@mailsvc/sdk/webhooks";', { ...place, format: "esm" });
    expect(gzipped).toBeLessThan(5 * 1024);
    expect(page("docs/webhooks.md")).toContain("less than 5 kB");
  });

  test("what only Node has is refused with what to do instead", async () => {
    const code = `
      import { attachmentFromFile, Mailsvc } from "@mailsvc/sdk";
      const refused = (make) => { try { make(); } catch (error) { return error.message; } };
      globalThis.refusals = [
        refused(() => new Mailsvc({ dispatcher: { dispatch: () => true } })),
        refused(() => new Mailsvc({ validate: "strict" })),
        attachmentFromFile("./invoice.pdf").catch((error) => error.message),
      ];`;
    const { text } = await bundle(code, { ...place, format: "iife" });
    const globals: Record<string, unknown> = { URL, TextDecoder, crypto, performance, setTimeout, clearTimeout };
    runInNewContext(text, globals);
    expect(await Promise.all(globals.refusals as string[])).toEqual([
      "dispatcher is for Node.",
      'validate: "strict" is for Node: the build for browsers and workers has no schemas.',
      "The attachment ./invoice.pdf cannot be read: there are no files here.",
    ]);
  });
});

test("on Node the package is the one with undici", async () => {
  const { inputs } = await bundle(SENDING, { platform: "node", format: "esm" });
  expect(inputs.some((path) => path.includes("node_modules/undici/"))).toBe(true);
});
