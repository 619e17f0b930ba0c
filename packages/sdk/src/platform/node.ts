import type { Contract } from "../contract/endpoint.ts";
import { findDevServer } from "../dev-server.ts";
import { UsageError } from "../errors.ts";
import { describeRuntime } from "../runtime.ts";
import type { OutputSchema, Platform } from "./platform.ts";
import { globalFetch } from "./transport.ts";
import { undiciStream, undiciTransport } from "./undici.ts";

/** Node, and the runtimes that load packages as it does. */
export const platform: Platform = {
  createTransports: (dispatcher) =>
    // Other runtimes have a global fetch. Bun has an undici of its own in place of the package, whose answers cannot be read as bytes.
    !dispatcher && !describeRuntime()?.startsWith("node/")
      ? globalFetch()
      : { transport: undiciTransport(dispatcher), stream: undiciStream(dispatcher) },
  findDevServer,
  readFile: async (path) => {
    // Jest without its flag for ES modules knows no import().
    const { readFile } = process.getBuiltinModule?.("node:fs/promises") ?? (await import("node:fs/promises"));
    return readFile(path).catch((cause: NodeJS.ErrnoException) => {
      throw new UsageError({ message: `The attachment ${path} cannot be read (${cause.code ?? cause.message}).`, cause });
    });
  },
  loadOutputSchema: async ({ agents, noun, verb }): Promise<OutputSchema> => {
    // Loaded only by clients that validate: schemas and zod take as long to load as the rest of the client.
    const { contract, agentContract } = await import("../contract/index.ts");
    const nouns: Contract = agents ? agentContract : contract;
    const endpoint = nouns[noun]?.[verb];
    if (!endpoint) throw new Error(`The contract has no ${noun}.${verb}.`);
    return endpoint.output;
  },
};
