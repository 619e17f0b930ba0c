import { lookup } from "node:dns/promises";
import { connect } from "node:net";
import type { Clock } from "../lib/clock.ts";
import { SECOND } from "../lib/units.ts";
import { openSession } from "./smtp-connection.ts";
import type { SmtpTarget } from "./smtp-url.ts";

/** A step of the way to a mail server: `greet` includes EHLO and TLS. */
interface ProbeStep {
  readonly step: "resolve" | "connect" | "greet" | "token" | "login";
  readonly ok: boolean;
  readonly ms: number;
  readonly detail: string;
}

type StepName = ProbeStep["step"];

const CONNECT_MS = 10 * SECOND;
const GREETING_MS = 15 * SECOND;

/** Connects to a mail server and logs in, step by step, until one fails. Sends nothing. */
export async function probeSmtp(target: SmtpTarget, time: Clock["real"]): Promise<ProbeStep[]> {
  const steps: ProbeStep[] = [];
  const run = async (step: StepName, act: () => Promise<string>): Promise<boolean> => {
    const startedAt = time.now();
    const { ok, detail } = await act().then(
      (done) => ({ ok: true, detail: done }),
      (error: Error) => ({ ok: false, detail: error.message }),
    );
    steps.push({ step, ok, ms: Math.round(time.now() - startedAt), detail });
    return ok;
  };
  const { auth } = target;
  const reached = (await run("resolve", () => resolve(target.host))) && (await run("connect", () => openSocket(target)));
  if (!reached) return steps;
  if (auth && "tokens" in auth && !(await run("token", async () => `got one (${(await auth.tokens.get()).length} characters)`)))
    return steps;
  await greetAndLogIn(target, time, steps);
  return steps;
}

async function resolve(host: string): Promise<string> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address).join(", ");
}

function openSocket({ host, port }: SmtpTarget): Promise<string> {
  return new Promise((done, fail) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    socket.once("connect", () => {
      done(`port ${port} is open`);
      socket.destroy();
    });
    socket.once("timeout", () => {
      fail(new Error(`no answer from port ${port} in ${CONNECT_MS / SECOND} s (ETIMEDOUT)`));
      socket.destroy();
    });
    socket.once("error", fail);
  });
}

async function greetAndLogIn(target: SmtpTarget, time: Clock["real"], steps: ProbeStep[]): Promise<void> {
  const quick = { ...target, connectMs: CONNECT_MS, greetingMs: GREETING_MS, socketMs: GREETING_MS };
  let since = time.now();
  let greeted = false;
  const add = (step: StepName, ok: boolean, detail: string): void => {
    steps.push({ step, ok, ms: Math.round(time.now() - since), detail });
    since = time.now();
  };
  const session = await openSession(quick, time, undefined, (tls) => {
    greeted = true;
    add("greet", true, tls ?? "not encrypted");
  });
  if ("send" in session) {
    if (target.auth) add("login", true, `as ${target.auth.user}`);
    await session.quit();
  } else add(greeted ? "login" : "greet", false, "error" in session ? session.error.message : session.outcome);
}
