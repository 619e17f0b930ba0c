import { join } from "node:path";
import { AGENT_SCOPES, type AgentScope, Slug, WebhookUrl } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { type AgentProcess, startAgent } from "../agent-dev/agent-process.ts";
import { readEnvFile } from "../agent-dev/env-file.ts";
import { activateAndSettle, type FirstActivation } from "../agent-dev/first-activation.ts";
import {
  type AgentDevSetup,
  activate,
  type DevMarketplace,
  defaultSlug,
  openDevMarketplace,
  readScopes,
  setUpListing,
} from "../agent-dev/setup.ts";
import { readAttempts, watchAgent } from "../agent-dev/watch.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { CliError, cancelledError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";

// test.ping is allowed ten times a minute.
const PING_MS = 7000;
const ACCEPT_MS = 60_000;
const UNSTARTED = "agent.activated is sent until your agent acknowledges it: start it with the variables of .env.";

/** `mailsvc agent dev`: from an agent's code to an activated agent on the dev server, then its events as they happen. */
export function agentDevCommand(run: Run): Command {
  const command = new Command("dev")
    .description("List, pay for and activate your agent on the dev server, write its .env, then show its events")
    .addOption(new Option("--forward-to <url>", "Where the webhook listens, for example http://127.0.0.1:4000/webhook"))
    .addOption(
      new Option("--start <command>", "Start your agent with this command and the variables of .env, and end it with this program"),
    )
    .addOption(new Option("--slug <slug>", "Name of the agent in the catalog (default: the name in package.json)"))
    .addOption(
      new Option("--scope <scope...>", "Scopes the agent asks for (default: mailsvc.scopes in package.json)").choices(AGENT_SCOPES),
    )
    .addOption(new Option("--fresh", "Turn the agent off and on again, so that it gets another key"))
    .addOption(new Option("--once", "Exit when everything is set up; with --start, when the agent has accepted its activation and rests"))
    .addHelpText(
      "after",
      '  mailsvc agent dev --forward-to http://127.0.0.1:4000/webhook\n  mailsvc agent dev --forward-to http://127.0.0.1:4000/webhook --start "npm start"\n\nIt needs `mailsvc dev` in this folder or above it. The keys a and r answer approval requests.\nRun it again at any time: what exists is kept.',
    );
  return runAction(command, run, "local", async (session, _args, flags): Promise<Exit> => {
    const { slug, webhookUrl, scopes } = readFlags(session, flags);
    const market = await openDevMarketplace(session.host);
    const envPath = join(session.host.cwd, ".env");
    const setup = await setUpListing(market, {
      slug,
      webhookUrl,
      scopes,
      envPath,
      masterKey: () => session.host.randomBytes(32).toString("base64"),
    });
    const plan: Plan = { slug, fresh: flags["fresh"] === true, once: flags["once"] === true };
    const start = flags["start"];
    if (typeof start === "string") return withAgent(session, start, setup, (here) => performPlan(here, market, setup, plan, true));
    return performPlan(session, market, setup, plan, false);
  });
}

/** Steps after the setup. */
interface Plan {
  readonly slug: string;
  /** Turns the agent off first, if it is on. */
  readonly fresh: boolean;
  readonly once: boolean;
}

async function performPlan(session: Session, market: DevMarketplace, setup: AgentDevSetup, plan: Plan, started: boolean): Promise<Exit> {
  const { out } = session;
  if (plan.once) {
    const activation = started ? await activateStarted(session, market, plan) : await activate(market, plan.slug, plan.fresh);
    if (session.signal.aborted) throw cancelledError();
    const { id, isNew } = activation;
    await out.data({ ...setup, activationId: id, activated: isNew }, () =>
      [...describeSetup(setup, session), describeActivation(activation, session), ...(started ? [] : [UNSTARTED])].join("\n"),
    );
    return EXIT.ok;
  }
  await out.data(setup, () => describeSetup(setup, session).join("\n"));
  await activateAndWatch(session, market, plan, started);
  return EXIT.ok;
}

async function activateStarted(session: Session, market: DevMarketplace, { slug, fresh }: Plan): Promise<FirstActivation> {
  const limit = AbortSignal.any([session.signal, AbortSignal.timeout(ACCEPT_MS)]);
  if (!(await waitForWebhook({ ...session, signal: limit }, market, slug, true)) && !session.signal.aborted)
    throw new CliError({
      code: "agent_not_working",
      message: `The webhook did not accept test.ping within ${ACCEPT_MS / 1000} s.`,
      exit: EXIT.partial,
    });
  if (session.signal.aborted) throw cancelledError();
  return activateAndSettle(session, market, slug, fresh);
}

async function activateAndWatch(session: Session, market: DevMarketplace, { slug, fresh }: Plan, started: boolean): Promise<void> {
  if (!(await waitForWebhook(session, market, slug, started))) return;
  const known = await readAttempts(market, slug);
  const activation = await activate(market, slug, fresh);
  await session.out.data({ activationId: activation.id, activated: activation.isNew }, () => describeActivation(activation, session));
  session.out.note(session.term.err.dim("Showing events. Ctrl-C ends."));
  await watchAgent(session, market, slug, known);
}

/** Runs the agent during `work`. Returns EXIT.ok, or the exit code of an agent that ended by itself: nothing starts it again. */
async function withAgent(
  session: Session,
  command: string,
  { webhookUrl, envFile }: AgentDevSetup,
  work: (session: Session) => Promise<Exit>,
): Promise<Exit> {
  const { host, out, term, signal } = session;
  const url = new URL(webhookUrl);
  if (await host.listens(url))
    throw usageError(`Something listens at ${url.host} already.`, { hint: "End it, or leave --start away if it is your agent." });
  const show = (line: string): void => out.say(`${term.err.dim("│")} ${safeText(line)}`);
  const variables = Object.fromEntries(Object.entries(readEnvFile(envFile)).map(([name, value]) => [name, value ?? ""]));
  const agent: AgentProcess = await startAgent(session, command, { url: webhookUrl, variables, show });
  const ended = new AbortController();
  let code: number | null = null;
  void agent.exited.then((given) => {
    code = given;
    ended.abort();
  });
  try {
    await agent.untilListening();
    const exit = await work({ ...session, signal: AbortSignal.any([signal, ended.signal]) }).catch((error) => {
      // The end of the agent is the cause.
      if (code === null) throw error;
    });
    if (code === null) return exit ?? EXIT.ok;
    out.say(`${term.err.red("✗")} The agent ended with code ${code}. Nothing starts it again: run this command again.`);
    return code as Exit;
  } finally {
    await agent.stop();
  }
}

function readFlags(session: Session, flags: Flags): { slug: string; webhookUrl: string; scopes: AgentScope[] | undefined } {
  const url = flags["forwardTo"];
  if (typeof url !== "string") throw usageError("--forward-to is needed: where your agent's webhook listens.", { code: "missing_flags" });
  const checked = WebhookUrl.safeParse(url);
  if (!checked.success) throw usageError(`--forward-to: ${checked.error.issues[0]?.message}`);
  const slug = flags["slug"] === undefined ? defaultSlug(session.host) : String(flags["slug"]);
  const named = Slug.safeParse(slug);
  if (!named.success) throw usageError(`--slug: ${named.error.issues[0]?.message}`);
  return { slug, webhookUrl: url, scopes: (flags["scope"] as AgentScope[] | undefined) ?? readScopes(session.host) };
}

/** Sends test.ping until the webhook accepts it, and says what is wrong meanwhile. Returns false when Ctrl-C came first. */
async function waitForWebhook(
  { host, out, term, signal }: Session,
  { builder }: DevMarketplace,
  slug: string,
  started: boolean,
): Promise<boolean> {
  let said = "";
  while (!signal.aborted) {
    const test = await builder.deliveries.test(slug);
    if (test.ok) return true;
    const notYet = `The webhook does not accept test.ping yet: ${safeText(test.message ?? test.class)}`;
    const problem = started
      ? notYet
      : test.httpStatus === 401
        ? "The webhook answers 401. Start your agent again, so that it reads AGENT_WEBHOOK_SECRET of .env; if that does not help, remove this line and run this command again."
        : `${notYet} Start your agent with the variables of .env: npm start`;
    if (problem !== said) out.say(`${term.err.yellow("…")} ${problem}`);
    said = problem;
    await host.sleep(PING_MS, signal);
  }
  return false;
}

function describeSetup({ slug, webhookUrl, listing, paid, variables, envFile }: AgentDevSetup, { term: { out } }: Session): string[] {
  const done = out.green("✓");
  const written = variables.length > 0 ? `${variables.join(", ")} written to` : "unchanged:";
  return [
    `${done} listing    ${out.bold(slug)} ${listing}, events go to ${webhookUrl}`,
    `${done} payment    ${paid ? "confirmed by the dev server" : "already made"}`,
    `${done} settings   ${written} ${safeText(envFile)}`,
  ];
}

function describeActivation({ id, isNew, status }: { id: string; isNew: boolean; status: string }, { term: { out } }: Session): string {
  return `${out.green("✓")} activation ${id} ${isNew ? "turned on by the brand" : `exists already (${status})`}`;
}
