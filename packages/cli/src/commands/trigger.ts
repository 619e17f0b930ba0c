import type { Mailsvc } from "@mailsvc/sdk";
import type { Event, EventType } from "@mailsvc/sdk/contract";
import { durationMs, EVENT_TYPES } from "@mailsvc/sdk/contract";
import { Argument, Command, Option } from "commander";
import { confirmDestructive } from "../contract/execute.ts";
import { setArgumentChoices } from "../contract/metadata.ts";
import { findLastSequence } from "../listen/sources.ts";
import { afterAccepted, listIds } from "../runtime/accepted.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { CliError, cancelledError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { findSimilar } from "../runtime/suggestion.ts";
import { RECIPES, type Recipe } from "../trigger/recipes.ts";
import { setFields } from "../trigger/set-fields.ts";
import type { Session } from "../types.ts";
import { formatEventLine } from "../views/events.ts";

const TYPES = (Object.keys(RECIPES) as EventType[]).filter((type) => !("none" in RECIPES[type]));
const POLL_MS = 100;
// Longer than any reaction of a simulated recipient.
const WAIT_MS = 15_000;

const HELP = `
The event really happens: an object is created, to which a simulated recipient reacts, or --on
names an object of yours. Webhooks, listen and automations get the event like any other.

Examples:
  mailsvc trigger email.bounced --set to=bounced+ada@simulator.mailsvc.test --set tags.order=1042
  mailsvc trigger contact.unsubscribed --on con_01jc3v2m9k8q4w6x0y5z7a1b2c
  mailsvc trigger email.failed --advance`;

/** `mailsvc trigger`: makes an event of a type really happen, and prints it. */
export function triggerCommand(run: Run): Command {
  const command = new Command("trigger")
    .description("Make an event of a type really happen, with your data or on an object of yours, and print it")
    .addArgument(setArgumentChoices(new Argument("<type>", "Type of the event, such as email.bounced"), TYPES))
    .addOption(new Option("--set <path=value...>", "Set a field of the object that is created: subject=Hi, tags.kind=x, or JSON after :="))
    .addOption(new Option("--on <id>", "Do it to this object instead of a new one"))
    .addOption(new Option("-y, --yes", "Do not ask on a server that is not for development"))
    .addOption(new Option("--advance", "Move the clock of the dev server until the event has happened"))
    .addHelpText("after", HELP);
  return runAction(command, run, "connect", trigger);
}

async function trigger(session: Session, [word]: readonly (string | undefined)[], flags: Flags): Promise<Exit> {
  const type = word as EventType;
  const recipe = getRecipe(type);
  const settings = (flags["set"] as readonly string[] | undefined) ?? [];
  const on = flags["on"] as string | undefined;
  checkTarget(type, recipe, on, settings);
  const { host, out, term } = session;
  const unique = host.randomBytes(4).toString("hex");
  const { create } = recipe;
  const client = await session.client();
  const { server } = await client.me.get();
  if (!server.dev && flags["yes"] !== true)
    await confirmDestructive(session, `trigger ${type}`, "", "really happens on a server that is not for development");
  const given = { unique, now: await session.serverNow(false), sender: await findSender(client) };
  const body = create && on === undefined ? setFields(create.endpoint, create.body(given), settings) : null;
  const from = await findLastSequence(client);
  const created = body !== null && create ? await createObject(session, create.endpoint, body) : { id: on };
  const id = listIds(created)[0] ?? "";
  const accepted = { data: created, print: () => out.data(created, () => id), next: `mailsvc why ${id}` };
  return afterAccepted(session, accepted, async () => {
    await recipe.act?.(client, id, unique);
    const event = await waitForEvent(session, client, { type, id, from, after: recipe.after, advance: flags["advance"] === true });
    await out.data(event, () => formatEventLine(event, term.out, term.columns));
    return EXIT.ok;
  });
}

function getRecipe(type: string): Recipe {
  const known = EVENT_TYPES.find((one) => one === type);
  const hint = `These can be triggered: ${TYPES.join(", ")}.`;
  if (known === undefined) {
    const similar = findSimilar(type, TYPES);
    throw usageError(`There is no event type ${JSON.stringify(type)}.`, {
      hint: similar.length > 0 ? `Did you mean ${similar.join(" or ")}?` : hint,
    });
  }
  const recipe = RECIPES[known];
  if ("none" in recipe) throw usageError(`${type} cannot be triggered: ${recipe.none}`, { hint });
  return recipe;
}

function checkTarget(type: string, { create, prefix, act }: Recipe, on: string | undefined, settings: readonly string[]): void {
  if (on === undefined) {
    if (!create) throw usageError(`${type} needs --on: the id of an object, ${prefix}….`);
    return;
  }
  if (!act) throw usageError(`${type} happens when an object is created, so it takes no --on.`);
  if (!on.startsWith(prefix)) throw usageError(`--on: ${type} is about objects whose ids begin with ${prefix}.`);
  if (settings.length > 0) throw usageError("--set is for the object that is created; with --on there is none.");
}

async function createObject(session: Session, endpoint: Parameters<typeof buildCall>[0], body: Record<string, unknown>): Promise<unknown> {
  return (await session.send(buildCall(endpoint, [], {}, body))).data;
}

interface Awaited {
  readonly type: EventType;
  readonly id: string;
  /** Events up to this sequence happened before. */
  readonly from: number;
  readonly after: string | undefined;
  readonly advance: boolean;
}

/** The first event of the type about the object since then; moves the clock of a dev server if it stands still, or if asked to. */
async function waitForEvent(session: Session, client: Mailsvc, { type, id, from, after, advance }: Awaited): Promise<Event> {
  const { host, signal } = session;
  const { server } = await client.me.get();
  const frozen = server.dev && (await client.clock.show()).mode === "frozen";
  const slow = after !== undefined && durationMs(after) > WAIT_MS;
  if (slow && !advance && !frozen) session.out.note(`It happens ${after} from now. To move the clock of a dev server: --advance`);
  if (after !== undefined && server.dev && (frozen || advance)) await client.clock.advance({ by: after });
  for (const until = host.now() + WAIT_MS; ; ) {
    const { data } = await client.events.list({ type, after: from, limit: 100 });
    // It names the object as its email, contact or campaign, or in its data.
    const event = data.find((one) => JSON.stringify(one).includes(JSON.stringify(id)));
    if (event) return event;
    if (signal.aborted) throw cancelledError();
    if (host.now() >= until || (slow && !advance && !frozen))
      throw new CliError({
        code: "timeout",
        message: `${type} has not happened yet.`,
        exit: EXIT.network,
        hint: "What was done stays done, and the event may still come.",
        next: `mailsvc why ${id}`,
      });
    await host.sleep(POLL_MS, signal);
  }
}

/** An address that the workspace may send from; without one, an example address, which dev mode accepts. */
async function findSender(client: Mailsvc): Promise<string> {
  const { data } = await client.senders.list({ limit: 100 });
  const verified = data.find(({ status }) => status === "VERIFIED");
  return verified === undefined ? "hello@acme.example" : verified.kind === "domain" ? `hello@${verified.value}` : verified.value;
}
