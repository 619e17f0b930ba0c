// The demo behind `npm start`: builds, starts a development server, sends one email through the SDK, waits until it is
// in the inbox, says where everything is, and serves until Ctrl-C. Takes the flags of `mailsvc dev`: npm start -- --port 3000
import { relative } from "node:path";
import { parseArgs } from "node:util";
import "./build.mjs";

// What did not build has said why.
if (process.exitCode) process.exit();

// Loaded only now: these are what was just built.
const { ConfigError, jsonLog, readConfig, serve, SERVE_FLAGS } = await import("@mailsvc/server");
const { createClient } = await import("@mailsvc/sdk");

const readFlags = () => {
  const options = Object.fromEntries(SERVE_FLAGS.map((flag) => [flag.name, { type: flag.value === null ? "boolean" : "string" }]));
  return parseArgs({ options, strict: true }).values;
};

/** Starts the server; when the usual port is taken and no other was asked for, on any free one. */
const start = async () => {
  const flags = readFlags();
  const log = jsonLog((line) => process.stderr.write(line), Date.now);
  const quiet = { ...log, info: () => {} };
  const read = (more) => readConfig({ flags: { ...flags, ...more }, env: process.env, dev: true });
  const config = read({});
  try {
    return { config, server: await serve(config, quiet) };
  } catch (error) {
    if (error.name !== "ListenError" || flags.port !== undefined || process.env.MAILSVC_PORT) throw error;
    return { config, server: await serve(read({ port: "0" }), quiet) };
  }
};

const mail = {
  from: "Acme <hello@acme.example>",
  to: "ada@example.com",
  subject: "Hello, Ada",
  html: "<h1>It works</h1><p>This went through the API, the queue and a mailer, and was captured here.</p>",
  text: "It works. This went through the API, the queue and a mailer, and was captured here.",
};

/** Sends the mail and waits until it has arrived; with a real SMTP server behind it, there is no inbox to look into. */
const sendOne = async (client, config) => {
  const from = performance.now();
  const { id } = await client.emails.send(mail);
  const accepted = performance.now() - from;
  if (config.smtpUrl !== null) return { id, accepted, arrived: null };
  const before = await client.emails.get(id);
  const found = await client.inbox.wait({ to: mail.to, subject: mail.subject, timeout: 10, ...(await lastBefore(client, before)) });
  return { id, accepted, arrived: found, after: performance.now() - from };
};

/** Where to start looking: after what an earlier run left in the inbox. */
const lastBefore = async (client, email) => {
  const { data } = await client.inbox.list({ to: mail.to, limit: 20 });
  const earlier = data.find((captured) => captured.emailId !== email.id);
  return earlier === undefined ? {} : { after: earlier.id };
};

const ms = (n) => `${n < 10 ? n.toFixed(1) : Math.round(n)} ms`;

const main = async () => {
  const { config, server } = await start();
  let stopping = false;
  const stop = async () => {
    // Whoever asks twice does not want to wait for a clean end.
    if (stopping) process.exit(130);
    stopping = true;
    await server.close();
    process.exit(0);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const { url, apiKey } = server;
  const sent = await sendOne(createClient({ baseUrl: url, apiKey }), config);
  const folder = relative(process.cwd(), config.data) || ".";
  const lines = [
    `mailsvc listens at ${url}, for development: mail is captured, nothing leaves this machine.`,
    "",
    `  sent      ${sent.id} from ${mail.from} to ${mail.to}, on disk in ${folder} after ${ms(sent.accepted)}`,
    sent.arrived
      ? `  arrived   ${sent.arrived.id} "${sent.arrived.subject}" after ${ms(sent.after)}`
      : `  handed over to ${config.smtpUrl.replace(/\/\/.*@/, "//")}`,
    "",
    ...(sent.arrived ? [`  read it   ${url}/__dev/inbox/${sent.arrived.id}/html`] : []),
    `  inbox     ${url}/__dev/inbox`,
    `  API       ${url}/openapi.json, explained in docs/reference.md`,
    `  key       ${apiKey}`,
    "",
    "Try, in another terminal:",
    "",
    `  export MAILSVC_URL=${url} MAILSVC_API_KEY=${apiKey}`,
    "  npx mailsvc emails list",
    "  npx mailsvc send --from hello@acme.example --to you@example.com --subject Hi --text 'From the terminal'",
    "  npx mailsvc inbox list",
    "",
    "Ctrl-C ends it.",
  ];
  console.log(lines.join("\n"));
};

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exit(error instanceof ConfigError || error.code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1);
}
