import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { call, mailsvc } from "../contenders.ts";
import { onCore } from "../cores.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { BODY } from "../load/load.ts";
import { outputOf } from "../runs.ts";

const MAILS = 4000;
const BATCH = 50;
const ROUNDS = 3;

/** How fast accepted mail leaves. */
export const drain: Bench = {
  name: "drain",
  meaning:
    `Deliveries a second of ${MAILS.toLocaleString("en-US")} mails of about 1 KB that fall due at one instant: from the queue through MIME to the inbox (captured), and over SMTP to a sink that keeps nothing, with every state written to disk. ` +
    "nodemailer: its own pool with as many connections (20) to the same sink, which writes nothing down.",
  run: async () => {
    const captured: number[] = [];
    const smtp: number[] = [];
    const pool: number[] = [];
    const sink = await startSink();
    try {
      for (let i = 0; i < ROUNDS; i++) {
        captured.push(await deliver([]));
        smtp.push(await deliver(["--smtp-url", `smtp://127.0.0.1:${sink.port}?pool=20&messages=1000000`]));
        pool.push(
          Number(
            await outputOf([
              ...onCore(0),
              process.execPath,
              peerFile("nodemailer"),
              sink.port,
              `${MAILS}`,
              "20",
              BODY.from,
              BODY.html,
              BODY.text,
            ]),
          ),
        );
      }
    } finally {
      await sink.stop();
    }
    const alone = (name: string, rounds: number[]): Figure => ({
      name,
      value: median(rounds),
      unit: "mails/s",
      against: null,
      ratio: null,
      rounds,
    });
    const ratio = median(smtp.map((value, i) => value / (pool[i] ?? Number.NaN)));
    return [
      alone("drain.capture", captured),
      { ...alone("drain.smtp", smtp), against: "nodemailer pool", ratio },
      alone("drain.nodemailer", pool),
    ];
  },
};

function peerFile(name: string): string {
  return fileURLToPath(new URL(`../peers/${name}.ts`, import.meta.url));
}

/** Delivers mails that all fall due at one instant, and answers how many a second were at their end. */
async function deliver(flags: readonly string[]): Promise<number> {
  const server = await mailsvc({ flags });
  try {
    await call(server, "POST", "/__dev/clock/freeze", {});
    const { now } = (await call(server, "GET", "/__dev/clock")) as { now: string };
    const scheduledAt = new Date(Date.parse(now) + 3_600_000).toISOString();
    for (let i = 0; i < MAILS; i += BATCH) {
      const to = Array.from({ length: BATCH }, (_, n) => `reader${i + n}@mail.acme.dev`);
      await call(server, "POST", "/api/v1/send", { ...BODY, to, scheduledAt });
    }
    const from = performance.now();
    await call(server, "POST", "/__dev/clock/advance", { by: "1h" });
    const took = performance.now() - from;
    const done = await Promise.all(
      ["delivered", "sent"].map(async (status) => countOf(await call(server, "GET", `/api/v1/emails?limit=1&status=${status}`))),
    );
    if (done[0] !== MAILS && done[1] !== MAILS) throw new Error(`Of ${MAILS} mails ${done.join(" + ")} were delivered.`);
    return (MAILS * 1000) / took;
  } finally {
    await server.stop();
  }
}

function countOf(page: unknown): number {
  return (page as { pagination: { total: number } }).pagination.total;
}

/** Starts the sink on the second core, and answers its port and how to end it. */
async function startSink(): Promise<{ port: string; stop: () => Promise<void> }> {
  const [command = "", ...args] = [...onCore(1), process.execPath, peerFile("sink")];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    port,
    stop: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
