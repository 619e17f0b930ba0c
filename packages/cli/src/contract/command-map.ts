import { agentContract, type Contract, contract, type Endpoint, isForAgents, paramNames } from "@mailsvc/sdk/contract";
import type { CommandSpec } from "../types.ts";
import { toKebabCase } from "./fields.ts";

/** How a command differs from the default that the contract gives. */
interface CommandOverride {
  /** Words after `mailsvc`; `<group> <verb>` by default. */
  words?: readonly string[];
  /** Fields that may be given as arguments, in order, with the value used when absent. */
  positional?: readonly { field: string; fallback?: string }[];
  /** The endpoint whose command also covers this one, so that there is one command for one task. */
  coveredBy?: string;
  /** Works, but is listed nowhere: for endpoints that only the links in emails call. */
  hidden?: boolean;
}

const COMMAND_MAP: Readonly<Record<string, CommandOverride>> = {
  "me.get": { words: ["whoami"] },
  "agent.self.get": { words: ["agent", "whoami"] },
  "lists.create": { positional: [{ field: "name" }] },
  "lists.add": { positional: [{ field: "contacts" }] },
  "lists.remove": { positional: [{ field: "contacts" }] },
  "lists.removeOne": { coveredBy: "lists.remove" },
  "lists.confirmPage": { hidden: true },
  "lists.confirm": { hidden: true },
  "senders.confirmPage": { hidden: true },
  "senders.confirm": { hidden: true },
  "emails.send": { words: ["send"] },
  "emails.sendTemplate": { coveredBy: "emails.send" },
  "templates.send": { coveredBy: "emails.send" },
  "suppressions.create": { positional: [{ field: "email" }] },
  "suppressions.remove": { positional: [{ field: "entries" }] },
  "suppressions.delete": { coveredBy: "suppressions.remove" },
  "agent.messages.create": { positional: [{ field: "text" }] },
  "agent.runs.log": { positional: [{ field: "runId" }] },
  "agent.runs.complete": { positional: [{ field: "runId" }] },
  "agent.runs.fail": { positional: [{ field: "runId" }] },
  "agent.runs.cancel": { positional: [{ field: "runId" }] },
  "agent.credits.consume": { positional: [{ field: "amount" }] },
  "activations.create": { positional: [{ field: "agentSlug" }] },
  "credits.grant": { positional: [{ field: "amount" }] },
  "messages.answer": { positional: [{ field: "decision" }] },
  "messages.create": { positional: [{ field: "text" }] },
  "plans.change": { positional: [{ field: "plan" }] },
  "health.openapi": { words: ["openapi"] },
  "world.snapshot": { positional: [{ field: "name", fallback: "default" }] },
  "world.restore": { positional: [{ field: "name", fallback: "default" }] },
  "clock.advance": { positional: [{ field: "by" }] },
  "clock.freeze": { positional: [{ field: "at" }] },
};

/** The path parameters that are arguments. An agent's activation is not: it comes from a flag or the environment. */
export function listPathArguments({ path, access }: Endpoint): string[] {
  return paramNames(path).slice(isForAgents(access) ? 1 : 0);
}

/** The name of an argument. An id of another noun than the command's own is named after it: `activationId`. */
export function getArgumentTitle({ id, endpoint }: CommandSpec, name: string): string {
  const owner = new RegExp(`([a-z-]+)s/:${name}(?:/|$)`).exec(endpoint.path)?.[1];
  return name !== "id" || owner === undefined || `${owner}s` === toKebabCase(id.split(".").at(-2) ?? "") ? name : `${owner}Id`;
}

/** Parses the path parameters of a call by name; empty when the call is not one of this endpoint. */
export function parsePathParams({ path }: Endpoint, call: { path: string } | undefined): Record<string, string> {
  const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "([^/]+)")}$`);
  const values = pattern.exec(call?.path ?? "")?.slice(1) ?? [];
  return Object.fromEntries(values.map((value, i) => [paramNames(path)[i] ?? "", decodeURIComponent(value)]));
}

/** Lists every endpoint of the contract with its command. Endpoints for agents are under `agent`. */
export function listCommandSpecs(): CommandSpec[] {
  return [...mapGroups(contract, []), ...mapGroups(agentContract, ["agent"])];
}

/** The summary of each noun, and its heading in the help. */
export const NOUNS: Readonly<Record<string, { summary: string; group: string }>> = {
  emails: { summary: "List, inspect, cancel and reschedule emails", group: "Email:" },
  templates: { summary: "Email templates: write, preview, publish", group: "Email:" },
  senders: { summary: "Addresses and domains you send from", group: "Email:" },
  lists: { summary: "Lists of contacts, with double opt-in", group: "Audience:" },
  people: { summary: "Everything about one person: read it, or erase it", group: "Audience:" },
  segments: { summary: "Dynamic contact groups defined by rules", group: "Audience:" },
  suppressions: { summary: "Addresses that must not get mail", group: "Email:" },
  contacts: { summary: "People you write to: list, create, import, search", group: "Audience:" },
  listings: { summary: "Agents you offer: create listings, pay for them, rotate secrets", group: "Marketplace:" },
  deliveries: { summary: "Events sent to the webhooks of your agents", group: "Marketplace:" },
  payments: { summary: "Payments for listings", group: "Marketplace:" },
  catalog: { summary: "Agents you can activate", group: "Marketplace:" },
  activations: { summary: "Agents that work for your brand", group: "Marketplace:" },
  approvals: { summary: "Approval requests of agents", group: "Marketplace:" },
  messages: { summary: "Messages and questions of agents", group: "Marketplace:" },
  runs: { summary: "Runs of agents and their logs", group: "Marketplace:" },
  credits: { summary: "Credits your agents spend", group: "Marketplace:" },
  plans: { summary: "Your plan and the agents it covers", group: "Marketplace:" },
  brand: { summary: "Colors, logo and voice of your brand", group: "Marketplace:" },
  "landing-pages": { summary: "Landing pages of your agents: publish, statistics, sign-ups", group: "Marketplace:" },
  "lead-magnets": { summary: "Files that subscribers download", group: "Marketplace:" },
  assets: { summary: "The image library of your brand", group: "Marketplace:" },
  "agent messages": { summary: "Write to the brand, ask it, read its answers", group: "" },
  "agent runs": { summary: "Start, log and end runs", group: "" },
  "agent credits": { summary: "Spend and refund the brand's credits", group: "" },
  "agent wakeups": { summary: "Schedule wakeups", group: "" },
  "agent landing-pages": { summary: "Create and change pages, read their statistics", group: "" },
  "agent lead-magnets": { summary: "Upload files that subscribers download", group: "" },
  "agent assets": { summary: "Save images to the brand's library", group: "" },
  "agent brand": { summary: "Read the brand's colors, logo and voice", group: "" },
  "agent lists": { summary: "The brand's lists and their sizes", group: "" },
  agent: { summary: "Act as an agent, with its key (MAILSVC_AGENT_KEY)", group: "Marketplace:" },
  keys: { summary: "API keys", group: "Server:" },
  jobs: { summary: "Background jobs", group: "Server:" },
  health: { summary: "Health checks", group: "Server:" },
  openapi: { summary: "", group: "Server:" },
  whoami: { summary: "", group: "Setup:" },
  inbox: { summary: "Captured mail: list, wait for, read", group: "Local development:" },
  clock: { summary: "The server's clock: freeze, advance, jump to the next timer", group: "Local development:" },
  faults: { summary: "Make requests fail on purpose", group: "Local development:" },
  world: { summary: "Reset the dev server, or save and restore snapshots of it", group: "Local development:" },
  send: { summary: "", group: "Email:" },
};

/** The help heading of a top-level command. */
export function getHelpGroup(word: string): string {
  return NOUNS[word]?.group ?? "Commands:";
}

function mapGroups(groups: Contract, before: readonly string[]): CommandSpec[] {
  return Object.entries(groups).flatMap(([group, operations]) =>
    Object.entries(operations).map(([verb, endpoint]) => {
      const id = [...before, group, verb].join(".");
      const { words = [...before, toKebabCase(group), toKebabCase(verb)], positional = [], coveredBy, hidden } = COMMAND_MAP[id] ?? {};
      return { id, endpoint, words, positional, ...(coveredBy === undefined ? {} : { coveredBy }), ...(hidden ? { hidden } : {}) };
    }),
  );
}
