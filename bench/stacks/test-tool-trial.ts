import { median } from "../figure.ts";
import { memoryOf } from "./memory.ts";
import type { RunningTool, TestTool } from "./test-tool.ts";

const STARTS = 5;
const MAILS = 50;
// A mail that was not found after this long is not there.
const PATIENCE_MS = 5000;

/** Results of a tool in a test. */
export interface ToolReport {
  /** Time from its start until it takes mail, ms. */
  readonly ready: number;
  /** Time from the call that sends a mail until a look finds it, ms. */
  readonly found: number;
  /** Memory of its process after that, MB. */
  readonly memory: number;
  /** Mails that it still knows after it was killed and started again, of those it had acknowledged. */
  readonly kept: number;
  readonly sent: number;
  /** Status of a mail to the address for bounces; null where there is no such address. */
  readonly bounce: string | null;
  /** Status of a mail that was scheduled for an hour later, after its clock was moved by two; null without schedules. */
  readonly scheduled: string | null;
}

export async function tryTool(tool: TestTool): Promise<ToolReport> {
  const starts: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    const from = performance.now();
    const running = await tool.start();
    starts.push(performance.now() - from);
    await running.stop();
  }
  const running = await tool.start();
  try {
    const times: number[] = [];
    for (let n = 0; n < MAILS; n += 1) {
      const from = performance.now();
      await running.send({ n });
      await lookFor(running, n);
      times.push(performance.now() - from);
    }
    const memory = memoryOf([running.pid()]);
    const bounce = tool.bounces ? await sendSpecial(running, { n: MAILS, bounces: true }) : null;
    const scheduled = tool.schedules ? await sendScheduled(running) : null;
    await running.kill();
    await running.restart();
    let kept = 0;
    for (let n = 0; n < MAILS; n += 1) if ((await running.find(n)) !== null) kept += 1;
    return { ready: median(starts), found: median(times), memory, kept, sent: MAILS, bounce, scheduled };
  } finally {
    await running.stop();
  }
}

async function sendSpecial(running: RunningTool, mail: Parameters<RunningTool["send"]>[0]): Promise<string> {
  await running.send(mail);
  return settledStatus(running, mail.n);
}

async function sendScheduled(running: RunningTool): Promise<string> {
  const n = MAILS + 1;
  await running.send({ n, scheduled: true });
  await running.advance?.();
  return settledStatus(running, n);
}

/** Returns the status of a mail once it has not changed for a moment. */
async function settledStatus(running: RunningTool, n: number): Promise<string> {
  let status = await lookFor(running, n);
  for (let same = 0; same < 10; ) {
    await new Promise((done) => setTimeout(done, 50));
    const now = (await running.find(n)) ?? status;
    same = now === status ? same + 1 : 0;
    status = now;
  }
  return status;
}

async function lookFor(running: RunningTool, n: number): Promise<string> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
    const found = await running.find(n);
    if (found !== null) return found;
    await new Promise((done) => setTimeout(done, 1));
  }
  throw new Error(`Mail ${n} was not found.`);
}
