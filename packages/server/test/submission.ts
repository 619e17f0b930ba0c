import { onTestFinished } from "vitest";
import type { SmtpListener } from "../src/mail/smtp-listener.ts";
import { type SubmissionOptions, type SubmissionReport, serveSubmission } from "../src/submission/submission.ts";
import { createSubmissionAccess } from "../src/submission-access.ts";
import { createWorld, type TestWorld, type WorldOptions } from "../src/testing.ts";
import { acceptingMailer } from "./accepting-mailer.ts";
import { talkSmtp } from "./smtp-client.ts";

const LOOPBACK = { host: "127.0.0.1", port: 0, tls: null, insecureAuth: false };
export const HELLO = "From: Acme <hello@acme.example>\r\nTo: ada@example.com\r\nSubject: Hello\r\n\r\nHi Ada\r\n";

export async function serve(
  world: TestWorld,
  options: Partial<SubmissionOptions> = {},
  onSubmission?: (report: SubmissionReport) => void,
): Promise<SmtpListener> {
  const { deps, installation } = world.app;
  const server = await serveSubmission({ ...deps, ...(onSubmission && { onSubmission }) }, createSubmissionAccess(deps, installation), {
    ...LOOPBACK,
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

/** A world and its SMTP port. */
export async function start(options: WorldOptions = {}): Promise<{ world: TestWorld; port: number }> {
  const world = await createWorld(options);
  onTestFinished(() => world.dispose());
  return { world, port: (await serve(world)).port };
}

/** A production server with a verified sender, a relay that takes everything, and a transport with its key. */
export async function startProduction(options: WorldOptions = {}) {
  const mailer = acceptingMailer();
  const started = await start({ dev: false, mailer, ...options, flags: { "trust-sender": "acme.example", ...options.flags } });
  return { ...started, mailer, login: toLogin(started.world.apiKey) };
}

export function toLogin(key: string, user = "anything"): string {
  return `AUTH PLAIN ${Buffer.from(`\0${user}\0${key}`).toString("base64")}`;
}

/** Submits a message, with a login before it if one is given; the reply to the message, or the one that refuses what came before. */
export async function submitTo(
  port: number,
  message: string | Buffer,
  { login, to = ["ada@example.com"] }: { login?: string; to?: string[] } = {},
) {
  const body = Buffer.concat([Buffer.from(message as string), Buffer.from(".\r\n")]);
  const envelope = ["MAIL FROM:<hello@acme.example>", ...to.map((one) => `RCPT TO:<${one}>`), "DATA"];
  const replies = await talkSmtp(port, ["EHLO app.example.com", ...(login ? [login] : []), ...envelope, body], (reply) =>
    /^[45]/.test(reply),
  );
  return replies.at(-1) ?? "";
}

export function readId(reply: string): string {
  return /^250 2\.0\.0 queued as (em_\w+)$/.exec(reply)?.[1] ?? `none in: ${reply}`;
}
