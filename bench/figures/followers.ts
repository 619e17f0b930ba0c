import { Agent, get } from "node:http";
import { call, type MailsvcContender, mailsvc } from "../contenders.ts";
import { type Bench, median } from "../figure.ts";

const ROUNDS = 5;
const KEYS = 40;
/** Connections that each key asks for. */
const PER_KEY = 10;
const REQUESTS = 400;
/** Interval of events in the followed workspace. */
const EVENT_MS = 10;

/** Cost of one workspace's followers for another workspace. */
export const followers: Bench = {
  name: "followers",
  meaning:
    `The 99th percentile of ${REQUESTS} contacts created one after the other in one workspace, while another one has an event every ${EVENT_MS} ms and ${KEYS * PER_KEY} clients want to follow it, with ${KEYS} keys; ` +
    "against the same without followers, in turns. open: those that are let in, which get all events.",
  run: async () => {
    const server = await mailsvc();
    try {
      const keys = await Promise.all(Array.from({ length: KEYS }, (_, i) => createKey(server, i)));
      const latency = createLatency(server);
      await latency();
      const rounds: { alone: number; followed: number; open: number }[] = [];
      for (let i = 0; i < ROUNDS; i += 1) {
        const alone = await latency();
        const wanted = keys.flatMap((key) => Array.from({ length: PER_KEY }, () => follow(server, key)));
        const open = (await Promise.all(wanted)).flatMap((close) => close ?? []);
        rounds.push({ alone, followed: await latency(), open: open.length });
        for (const close of open) close();
      }
      const alone = rounds.map((round) => round.alone);
      const followed = rounds.map((round) => round.followed);
      const ratio = median(rounds.map((round) => round.followed / round.alone));
      const figure = (name: string, values: number[], unit: string) => ({
        name: `followers.${name}`,
        value: median(values),
        unit,
        against: null,
        ratio: null,
        rounds: values,
      });
      return [
        { ...figure("p99", followed, "ms"), against: "without followers", ratio, goal: { op: "<=", than: 1.5 } },
        figure("alone", alone, "ms"),
        figure(
          "open",
          rounds.map((round) => round.open),
          "connections",
        ),
      ];
    } finally {
      await server.stop();
    }
  },
};

async function createKey(server: MailsvcContender, i: number): Promise<string> {
  const fields = { name: `follower ${i}`, permissions: ["events:read"] };
  return ((await call(server, "POST", "/api/v1/keys", fields)) as { key: string }).key;
}

/** Measures the 99th percentile of creating contacts in the builder's workspace, ms, while the brand's has events. */
function createLatency({ url, apiKey, builderKey }: MailsvcContender): () => Promise<number> {
  let created = 0;
  const create = (key: string) => call({ url, apiKey: key }, "POST", "/api/v1/v1/contacts", { email: `person${++created}@mail.acme.dev` });
  return async () => {
    let over = false;
    const happening = (async () => {
      while (!over) {
        await create(apiKey);
        await new Promise((next) => setTimeout(next, EVENT_MS));
      }
    })();
    const took: number[] = [];
    while (took.length < REQUESTS) {
      const from = performance.now();
      await create(builderKey);
      took.push(performance.now() - from);
    }
    over = true;
    await happening;
    return took.sort((a, b) => a - b)[Math.floor(REQUESTS * 0.99)] as number;
  };
}

/** Follows the events of the key's workspace; resolves to the function that ends it, or to null when the server refuses. */
function follow({ url }: MailsvcContender, key: string): Promise<(() => void) | null> {
  return new Promise((resolve, reject) => {
    const options = { agent: new Agent(), headers: { authorization: `Bearer ${key}` } };
    const request = get(`${url}/api/v1/events/stream`, options, (response) => {
      // The connection is cut in the end.
      response.on("error", () => {}).resume();
      resolve(response.statusCode === 200 ? () => void request.destroy() : null);
    });
    request.on("error", reject);
  });
}
