import { createWorld, type TestWorld, type WorldOptions } from "@mailsvc/server/testing";
import { onTestFinished } from "vitest";
import { cli, type Result, type Setup } from "./harness.ts";

/** The program with its own real server. */
export interface Beside {
  world: TestWorld;
  /** Runs a command line against the server, with the owner key. */
  mailsvc(argv: readonly string[], setup?: Setup): Promise<Result>;
}

/** A server in this process, and the program pointed at it. */
export async function startCliWithServer(options: WorldOptions = {}): Promise<Beside> {
  const world = await createWorld(options);
  onTestFinished(() => world.dispose());
  return {
    world,
    mailsvc: (argv, setup = {}) =>
      cli(argv, {
        ...setup,
        fetch: setup.fetch ?? world.fetch,
        env: { MAILSVC_URL: world.url, MAILSVC_API_KEY: world.apiKey, ...setup.env },
      }),
  };
}
