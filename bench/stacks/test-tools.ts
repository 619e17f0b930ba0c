import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deliverSmtp } from "../../packages/server/test/smtp-client.ts";
import { freePort } from "../../test/support/free-port.ts";
import { type ServerProcess, startServer } from "../../test/support/server.ts";
import { call } from "../contenders.ts";
import { BODY } from "../load/load.ts";
import { killProgram, listening, startProgram } from "./process.ts";
import { toSubject } from "./stack.ts";
import type { RunningTool, TestMail, TestTool } from "./test-tool.ts";

const FROM = "Acme <hello@example.com>";
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

/** All tools, in the order of the table. */
export const TEST_TOOLS: readonly TestTool[] = [
  { name: "mailsvc dev", takes: "its API, Resend's, SendGrid's, SMTP", bounces: true, schedules: true, start: startMailsvc },
  { name: "emulate (Resend)", takes: "Resend's API", bounces: true, schedules: true, start: startEmulate },
  {
    name: "msw, handlers by hand",
    takes: "what its handlers do, in the test's process",
    bounces: false,
    schedules: false,
    start: startMsw,
  },
  { name: "maildev", takes: "SMTP", bounces: false, schedules: false, start: startMaildev },
];

async function startMailsvc(): Promise<RunningTool> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  let server: ServerProcess;
  let access: { url: string; apiKey: string };
  const run = async (): Promise<void> => {
    server = startServer({ data: join(folder, "data"), flags: ["--dev"] });
    const ready = await server.ready();
    if (!ready) throw new Error(`The server did not start:\n${server.stderr()}`);
    access = { url: ready.url, apiKey: ready.apiKey ?? "" };
  };
  await run();
  let addSender: Promise<unknown> | undefined;
  return {
    pid: () => server.child.pid ?? 0,
    send: async ({ n, bounces, scheduled }) => {
      const to = bounces ? "bounced@simulator.mailsvc.test" : "reader@mail.acme.dev";
      const content = { ...BODY, from: FROM, to, subject: toSubject(n), ...(scheduled && { scheduledAt: inAnHour() }) };
      await (addSender ??= call(access, "POST", "/api/v1/senders", { domain: "example.com" }));
      await call(access, "POST", "/api/v1/send", content);
    },
    find: async (n) => {
      const { data } = (await call(access, "GET", "/api/v1/emails?limit=100")) as { data: { subject: string; status: string }[] };
      return data.find(({ subject }) => subject === toSubject(n))?.status ?? null;
    },
    advance: async () => {
      await call(access, "POST", "/__dev/clock/advance", { by: "2h" });
    },
    kill: async () => void (await server.kill("SIGKILL")),
    restart: run,
    stop: async () => {
      await server.kill("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startEmulate(): Promise<RunningTool> {
  const port = await freePort();
  const access = { url: `http://127.0.0.1:${port}`, apiKey: "re_bench" };
  const program = await runProgram(["node_modules/.bin/emulate", "start", "--service", "resend", "--port", `${port}`], port);
  return {
    ...program,
    send: async ({ n, bounces, scheduled }) => {
      const to = bounces ? "bounced@resend.dev" : "reader@example.com";
      const content = { ...BODY, from: FROM, to, subject: toSubject(n), ...(scheduled && { scheduled_at: inAnHour() }) };
      await call(access, "POST", "/emails", content);
    },
    find: async (n) => {
      const { data } = (await call(access, "GET", "/emails?limit=100")) as { data: { subject: string; status: string }[] };
      return data.find(({ subject }) => subject === toSubject(n))?.status ?? null;
    },
  };
}

/** msw answers only the process that it runs in: the program sends to itself when it is told to. */
async function startMsw(): Promise<RunningTool> {
  const port = await freePort();
  const access = { url: `http://127.0.0.1:${port}`, apiKey: "" };
  return {
    ...(await runProgram(["msw.mjs", `${port}`], port)),
    send: async ({ n }) => {
      await call(access, "POST", "/send", { ...BODY, from: FROM, to: "reader@example.com", subject: toSubject(n) });
    },
    find: async (n) => (await call(access, "GET", `/find?subject=${encodeURIComponent(toSubject(n))}`)) as string | null,
  };
}

async function startMaildev(): Promise<RunningTool> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const [smtp, web] = [await freePort(), await freePort()];
  const args = [
    "--smtp",
    `${smtp}`,
    "--web",
    `${web}`,
    "--ip",
    "127.0.0.1",
    "--web-ip",
    "127.0.0.1",
    "--mail-directory",
    folder,
    "--silent",
  ];
  const program = await runProgram(["node_modules/.bin/maildev", ...args], web);
  const access = { url: `http://127.0.0.1:${web}`, apiKey: "" };
  return {
    ...program,
    send: async ({ n }: TestMail) => {
      const raw = `From: ${FROM}\r\nTo: reader@mail.acme.dev\r\nSubject: ${toSubject(n)}\r\nContent-Type: text/html\r\n\r\n${BODY.html}\r\n`;
      const code = await deliverSmtp(smtp, "reader@mail.acme.dev", Buffer.from(raw));
      if (code !== 250) throw new Error(`maildev answered ${code}.`);
    },
    find: async (n) => {
      const found = await call(access, "GET", `/api/email?subject=${encodeURIComponent(toSubject(n))}`);
      return (found as { subject: string }[]).some(({ subject }) => subject === toSubject(n)) ? "received" : null;
    },
    stop: async () => {
      await program.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A program of `apps` that listens on a port when it is ready. */
async function runProgram(command: readonly string[], port: number): Promise<Pick<RunningTool, "pid" | "kill" | "restart" | "stop">> {
  let child: ChildProcess;
  const run = async (): Promise<void> => {
    child = startProgram([process.execPath, ...command]);
    child.stdout?.resume();
    await listening(port, false);
  };
  await run();
  return { pid: () => child.pid ?? 0, kill: () => killProgram(child), restart: run, stop: () => killProgram(child) };
}
