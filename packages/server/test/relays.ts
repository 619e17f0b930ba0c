import { Mailsvc } from "@mailsvc/sdk";
import type { NewRelay } from "@mailsvc/sdk/contract";
import { createWorld, type TestWorld, type WorldOptions } from "../src/testing.ts";
import { type Script, type ScriptedPeer, scriptedPeer } from "./smtp-peer.ts";

/** A world with two mail servers, `a` and `b`, which are relays of these names; `b` takes over from `a`. */
interface RelayWorld {
  readonly world: TestWorld;
  /** A client with the operator key. */
  readonly operator: Mailsvc;
  readonly a: ScriptedPeer;
  readonly b: ScriptedPeer;
  /** Sends a mail from hello@acme.test, and returns its id. */
  send(to: string, changes?: object): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Waits until `what` is true, turn by turn of the event loop. The time limit of the test ends it. */
export async function waitUntil(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise((turn) => setTimeout(turn, 5));
}

export async function relayWorld(
  scripts: { a?: Script | Script[]; b?: Script | Script[] } = {},
  { relay = {}, ...options }: WorldOptions & { relay?: Partial<NewRelay> } = {},
): Promise<RelayWorld> {
  const [a, b] = await Promise.all([scripts.a ?? {}, scripts.b ?? {}].map((script) => scriptedPeer(...[script].flat())));
  if (!a || !b) throw new Error("There are two peers.");
  const world = await createWorld(options);
  const operator = new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
  await operator.relays.add({ name: "b", host: "127.0.0.1", port: b.port, connections: 2 });
  await operator.relays.add({ name: "a", host: "127.0.0.1", port: a.port, connections: 2, fallback: ["b"], ...relay });
  return {
    world,
    operator,
    a,
    b,
    send: async (to, changes = {}) => {
      const sent = await world.sdk.emails.send({ from: "hello@acme.test", to, subject: "Hello", text: "It works.", ...changes });
      return (sent as { id: string }).id;
    },
    [Symbol.asyncDispose]: async () => {
      a.cutSilent();
      b.cutSilent();
      await world.dispose();
      await Promise.all([a.close(), b.close()]);
    },
  };
}
