// The demo behind `npm start`: builds, starts a development server, sends one email through the SDK, waits until it is
// in the inbox, prints the addresses, and serves until Ctrl-C. Takes the flags of `mailsvc dev`: npm start -- --port 3000
import { relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, styleText } from "node:util";
import { buildPackages } from "./build.mjs";

// A server runs without type declarations, so they are not built. A failed build has already printed the reason.
if (!(await buildPackages({ declarations: false }))) process.exit(1);

// Imported only now, because these files have just been built.
const { ConfigError, jsonLog, readConfig, serve, SERVE_FLAGS, version } = await import("@mailsvc/server");
const { createClient } = await import("@mailsvc/sdk");

const bold = (text) => styleText("bold", text);
const dim = (text) => styleText("dim", text);
const print = (...lines) => console.log(lines.join("\n"));

const readFlags = () => {
  const options = Object.fromEntries(SERVE_FLAGS.map((flag) => [flag.name, { type: flag.value === null ? "boolean" : "string" }]));
  return parseArgs({ options, strict: true }).values;
};

/** Starts the server, on a free port when the default one is taken and no other was given. */
const start = async () => {
  const flags = readFlags();
  const log = { ...jsonLog((line) => process.stderr.write(line), Date.now), info: () => {} };
  const read = (more) => readConfig({ flags: { ...flags, ...more }, env: process.env, dev: true });
  const config = read({});
  try {
    return { config, server: await serve(config, log), taken: false };
  } catch (error) {
    if (error.name !== "ListenError" || flags.port !== undefined || process.env.MAILSVC_PORT) throw error;
    return { config, server: await serve(read({ port: "0" }), log), taken: true };
  }
};

const mail = {
  from: "Acme <hello@acme.example>",
  to: "ada@example.com",
  subject: "Hello, Ada",
  html: `<!doctype html><html><body style="font-family:system-ui,sans-serif;margin:2rem auto;max-width:30rem;line-height:1.5">
<h1 style="font-size:1.4rem">It works</h1>
<p>The API accepted this mail, the database has it, the queue took it up and a mailer delivered it, into this inbox.</p>
<p>Nothing left your machine.</p></body></html>`,
  text: "It works. The API accepted this mail, the database has it, the queue took it up and a mailer delivered it, into this inbox.",
};

const ARRIVAL_MS = 10_000;
const LOOK_EVERY_MS = 5;
const ECHO_MS = 500;

/** Waits for the captured copy of an email. */
const arrival = async (client, id) => {
  for (const until = performance.now() + ARRIVAL_MS; performance.now() < until; await sleep(LOOK_EVERY_MS)) {
    const { data } = await client.inbox.list({ to: mail.to, limit: 20 });
    const found = data.find((captured) => captured.emailId === id);
    if (found) return found;
  }
  const { status, lastError } = await client.emails.get(id);
  throw new Error(`The email ${id} is ${status} and did not reach the inbox within 10 s. ${lastError?.message ?? ""}`);
};

const ms = (n) => `${n < 10 ? n.toFixed(1) : Math.round(n)} ms`;
const timed = async (work) => {
  const from = performance.now();
  const result = await work();
  return [result, ms(performance.now() - from)];
};
const step = (what, detail, time) => print(`  ${what.padEnd(10)} ${detail}  ${dim(time)}`);

/** Sends one mail and shows each step as it happens. */
const show = async (client) => {
  const [{ id }, accepting] = await timed(() => client.emails.send(mail));
  step("accepted", `${id}, from ${mail.from} to ${mail.to}, on disk`, accepting);
  const [found, delivering] = await timed(() => arrival(client, id));
  step("delivered", `${found.id}, "${found.subject}", in the inbox`, delivering);
  return found;
};

/** The path of a folder relative to the working folder, when it is inside. */
const named = (folder) => {
  const path = relative(process.cwd(), folder);
  return path.startsWith("..") ? folder : path || ".";
};

const main = async () => {
  const [{ config, server, taken }, starting] = await timed(start);
  let stoppingSince = null;
  const stop = async () => {
    // One Ctrl-C may arrive twice, from the terminal and through npm. A second one ends at once.
    if (stoppingSince !== null) {
      if (performance.now() - stoppingSince > ECHO_MS) process.exit(130);
      return;
    }
    stoppingSince = performance.now();
    await server.close();
    print("", "Stopped.");
    process.exit(0);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);

  const { url, apiKey } = server;
  print("", `${bold(`mailsvc ${version}`)}, for development`, "");
  if (taken) print(`  Port ${config.port} is in use, so this server took a free one.`, "");
  step("started", `${url}, data in ${named(config.data)}`, starting);
  if (apiKey === null)
    throw new Error(
      `${config.data} was made by a production server, whose keys cannot be shown. Choose another folder: npm start -- --data DIR`,
    );
  const sendsForReal = config.smtpUrl !== null;
  const found = sendsForReal ? null : await show(createClient({ baseUrl: url, apiKey }));
  if (sendsForReal) print(`  Mail is sent through ${config.smtpUrl.replace(/\/\/.*@/, "//")}, so none was sent to show it.`);

  print(
    "",
    bold("Look"),
    `  Inbox      ${server.dashboardUrl}/inbox${found ? `/${found.id}` : ""}`,
    `  Dashboard  ${url}/dashboard`,
    `  API        ${url}/api/v1, explained in docs/reference.md and at ${url}/openapi.json`,
    `  Key        ${apiKey}`,
    ...(server.smtpUrl === null ? [] : [`  SMTP       ${server.smtpUrl}, with any login or none`]),
    "",
    bold("Try, in another terminal"),
    `  export MAILSVC_URL=${url} MAILSVC_API_KEY=${apiKey}`,
    "",
    '  curl $MAILSVC_URL/api/v1/send -H "Authorization: Bearer $MAILSVC_API_KEY" -H "Content-Type: application/json" \\',
    '    -d \'{"from":"hello@acme.example","to":"grace@example.com","subject":"Hi","text":"From curl"}\'',
    "",
    "  npx mailsvc inbox list",
    "  npx mailsvc clock advance 15m",
    "",
    dim("Ctrl-C stops it. The data stays; npm start goes on from there."),
  );
};

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exit(error instanceof ConfigError || error.code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1);
}
