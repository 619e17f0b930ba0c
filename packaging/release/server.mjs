// Servers that a check starts and uses as anybody on the network would.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { SMTPServer } from "smtp-server";
import { atExit, until } from "./command.mjs";

/** Mail for trying a release. */
export const MAIL = { from: "hello@acme.example", to: "ada@example.com", subject: "A release", text: "It works." };

/**
 * Starts a program that writes a ready-file, and waits for it. `ready` is what the file says; disposing stops the program.
 *
 * @param group whether a signal goes to all processes of the program, as Ctrl-C does; npx has its program as a child
 * @param stop another way to end it than SIGINT or SIGTERM, such as for a process in its own namespace
 */
export async function startProgram({ command, args, cwd, env, readyFile, group = false, stop }) {
  rmSync(readyFile, { force: true });
  const child = spawn(command, args, {
    cwd,
    env: { MAILSVC_READY_FILE: readyFile, ...env },
    detached: group,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
  let failure = null;
  child.on("error", (error) => (failure = error));
  const running = () => failure === null && child.exitCode === null && child.signalCode === null;
  // Whatever ends this process must not leave a server behind.
  const stay = atExit(() => running() && process.kill(group ? -child.pid : child.pid, "SIGKILL"));
  const end = async () => {
    stay();
    if (!running()) return child.exitCode;
    const ended = once(child, "exit");
    if (stop) await stop(child);
    else if (group) process.kill(-child.pid, "SIGINT");
    else child.kill("SIGTERM");
    const [code] = await ended;
    return code;
  };
  try {
    await until(
      "the ready-file",
      () => existsSync(readyFile) || !running(),
      () => said,
    );
  } catch (error) {
    process.kill(group ? -child.pid : child.pid, "SIGKILL");
    throw error;
  }
  if (!running())
    throw new Error(`${[command, ...args].join(" ")} ended before it was ready: ${failure?.message ?? child.exitCode}\n${said}`);
  return { ready: JSON.parse(readFileSync(readyFile, "utf8")), said: () => said, end, [Symbol.asyncDispose]: end };
}

/**
 * Uses a server that sends through a mail server of this process: a send over plain HTTP arrives there, the dashboard answers, and the
 * server ends with exit code 0 when it is told to stop.
 *
 * @param launch starts the server with these settings, as variables, by `startProgram`
 */
export async function useServer(launch, ok) {
  await using mailServer = await startMailServer();
  await using server = await launch({
    MAILSVC_HOST: "127.0.0.1",
    MAILSVC_PORT: "0",
    MAILSVC_SMTP_URL: mailServer.url,
    MAILSVC_TRUST_SENDER: "acme.example",
  });
  const { url, apiKey } = server.ready;
  const ask = async (path, options) => {
    const response = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      ...options,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}\n${server.said()}`);
    return text;
  };
  await ask("/readyz");
  ok("serves, and is ready");
  const { id } = JSON.parse(await ask("/api/v1/send", { method: "POST", body: JSON.stringify(MAIL) }));
  const status = async () => JSON.parse(await ask(`/api/v1/emails/${id}`)).status;
  await until("the mail", async () => mailServer.taken.length > 0 && (await status()) === "sent", server.said);
  if (!mailServer.taken[0].includes(`\r\nSubject: ${MAIL.subject}\r\n`)) throw new Error(`Another mail arrived:\n${mailServer.taken[0]}`);
  ok("a send over plain HTTP arrives at a mail server, and its status is sent");
  const page = await ask("/dashboard");
  const script = /<script[^>]* src="([^"]+)"/.exec(page)?.[1];
  if (!page.includes("<title>mailsvc</title>") || script === undefined) throw new Error(`The dashboard answered:\n${page}`);
  await ask(new URL(script, `${url}/dashboard`).pathname);
  ok("the dashboard answers, with its script");
  const code = await server.end();
  if (code !== 0) throw new Error(`It ended with exit code ${code} when it was told to stop.\n${server.said()}`);
  ok("stops with exit code 0 when it is told to");
}

/** A mail server that takes everything and keeps it in `taken`. */
async function startMailServer() {
  const taken = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    onData: (stream, _session, answer) => {
      let text = "";
      stream.setEncoding("latin1");
      stream.on("data", (chunk) => (text += chunk));
      stream.on("end", () => {
        taken.push(text);
        answer();
      });
    },
  });
  // A sender that stops cuts its connection.
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return {
    url: `smtp://127.0.0.1:${server.server.address().port}`,
    taken,
    [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())),
  };
}
