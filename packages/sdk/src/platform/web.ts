import { UsageError } from "../errors.ts";
import type { Platform } from "./platform.ts";
import { globalFetch } from "./transport.ts";

/** Browsers, Cloudflare Workers and other runtimes with the APIs of the web: the global `fetch`, no files, no schemas. */
export const platform: Platform = {
  createTransports: (dispatcher) => {
    if (dispatcher) throw new UsageError({ message: "dispatcher is for Node.", hint: "Pass your own fetch instead." });
    return globalFetch();
  },
  findDevServer: () => null,
  readFile: async (path) => {
    throw new UsageError({
      message: `The attachment ${path} cannot be read: there are no files here.`,
      hint: "Give the content as bytes, base64 or a Blob.",
    });
  },
  loadOutputSchema: null,
};
