import { Agent, request as httpRequest } from "node:http";
import type { Api } from "./api.ts";

/** One request to send, and what is known of it. */
interface Wish {
  /** Its own tag, by which its messages are found. */
  readonly tag: string;
  readonly recipients: number;
  readonly idempotencyKey: string | null;
  readonly body: string;
  /** The ids it was promised; null while no answer has come. */
  promised: string[] | null;
  /** The answer as it was. */
  answer: string | null;
}

/** Knowledge of an API client after many rounds of sending to a server that keeps dying. */
export interface Ledger {
  /** The number of the first wish. */
  readonly first: number;
  readonly wishes: Wish[];
  /** Requests with an idempotency key whose answer was lost: the next round asks again. */
  readonly lost: Wish[];
  /** Answers other than success. */
  readonly refused: string[];
  /** Replays whose answer was another one than the first. */
  readonly contradictions: string[];
  replayed: number;
}

export function newLedger(first = 0): Ledger {
  return { first, wishes: [], lost: [], refused: [], contradictions: [], replayed: 0 };
}

export interface Traffic {
  /** Begins no further request, and settles when each one under way was answered or lost. */
  stop(): Promise<void>;
}

interface TrafficOptions {
  connections: number;
  /** The longest pause of a connection between two requests, in ms. */
  pause: number;
  random: () => number;
}

interface Answer {
  status: number;
  replayed: boolean;
  text: string;
}

/** Puts a server under the load of some connections that each send, wait for the answer, and go on. */
export function startTraffic(api: Api, ledger: Ledger, { connections, pause, random }: TrafficOptions): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let over = false;
  const client = async (): Promise<void> => {
    while (!over) {
      const wish = nextWish(ledger, random);
      try {
        note(ledger, wish, await post(agent, api, wish));
      } catch {
        if (wish.idempotencyKey !== null && wish.answer === null) ledger.lost.push(wish);
        return;
      }
      await new Promise((next) => setTimeout(next, random() * pause));
    }
  };
  const clients = Array.from({ length: connections }, client);
  return {
    stop: async () => {
      over = true;
      await Promise.all(clients);
      agent.destroy();
    },
  };
}

function post(agent: Agent, { url, apiKey }: Api, { body, idempotencyKey }: Wish): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...(idempotencyKey !== null && { "idempotency-key": idempotencyKey }),
    };
    const request = httpRequest(`${url}/api/v1/send`, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, replayed: response.headers["idempotency-replayed"] === "true", text }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

function newWish(ledger: Ledger, random: () => number): Wish {
  const tag = `wish-${ledger.first + ledger.wishes.length}`;
  const recipients = random() < 0.2 ? 3 : 1;
  const to = Array.from({ length: recipients }, (_, i) => `${tag}-${i}@crash.example`);
  const wish: Wish = {
    tag,
    recipients,
    idempotencyKey: random() < 0.4 ? `key-${tag}` : null,
    body: JSON.stringify({
      from: "Crash <crash@sender.test>",
      to: recipients === 1 ? to[0] : to,
      subject: tag,
      text: "x".repeat(600),
      tags: { wish: tag },
    }),
    promised: null,
    answer: null,
  };
  ledger.wishes.push(wish);
  return wish;
}

/** The next request of a connection: one whose answer was lost, now and then one that was answered already, else a new one. */
function nextWish(ledger: Ledger, random: () => number): Wish {
  const lost = ledger.lost.pop();
  if (lost) return lost;
  if (random() < 0.05) {
    const earlier = ledger.wishes[Math.floor(random() * ledger.wishes.length)];
    if (earlier?.answer && earlier.idempotencyKey) return earlier;
  }
  return newWish(ledger, random);
}

function note(ledger: Ledger, wish: Wish, { status, replayed, text }: Answer): void {
  if (status !== 200) {
    ledger.refused.push(`${wish.tag}: ${status} ${text}`);
    return;
  }
  if (replayed) ledger.replayed += 1;
  if (wish.answer !== null && (wish.answer !== text || !replayed)) ledger.contradictions.push(`${wish.tag}: ${wish.answer} then ${text}`);
  const { id, ids } = JSON.parse(text) as { id?: string; ids?: string[] };
  wish.answer ??= text;
  wish.promised ??= ids ?? [id ?? ""];
}
