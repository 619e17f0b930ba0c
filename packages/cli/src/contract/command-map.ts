import { agentContract, type Contract, contract, type Endpoint, isForAgents, NOUN_SUMMARIES, paramNames } from "@mailsvc/sdk/contract";
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
  emails: { summary: NOUN_SUMMARIES.emails, group: "Email:" },
  templates: { summary: NOUN_SUMMARIES.templates, group: "Email:" },
  senders: { summary: NOUN_SUMMARIES.senders, group: "Email:" },
  events: { summary: NOUN_SUMMARIES.events, group: "Email:" },
  campaigns: { summary: NOUN_SUMMARIES.campaigns, group: "Email:" },
  automations: { summary: NOUN_SUMMARIES.automations, group: "Email:" },
  webhooks: { summary: NOUN_SUMMARIES.webhooks, group: "Email:" },
  lists: { summary: NOUN_SUMMARIES.lists, group: "Audience:" },
  people: { summary: NOUN_SUMMARIES.people, group: "Audience:" },
  segments: { summary: NOUN_SUMMARIES.segments, group: "Audience:" },
  suppressions: { summary: NOUN_SUMMARIES.suppressions, group: "Email:" },
  contacts: { summary: NOUN_SUMMARIES.contacts, group: "Audience:" },
  listings: { summary: NOUN_SUMMARIES.listings, group: "Marketplace:" },
  deliveries: { summary: NOUN_SUMMARIES.deliveries, group: "Marketplace:" },
  payments: { summary: NOUN_SUMMARIES.payments, group: "Marketplace:" },
  catalog: { summary: NOUN_SUMMARIES.catalog, group: "Marketplace:" },
  activations: { summary: NOUN_SUMMARIES.activations, group: "Marketplace:" },
  approvals: { summary: NOUN_SUMMARIES.approvals, group: "Marketplace:" },
  messages: { summary: NOUN_SUMMARIES.messages, group: "Marketplace:" },
  runs: { summary: NOUN_SUMMARIES.runs, group: "Marketplace:" },
  credits: { summary: NOUN_SUMMARIES.credits, group: "Marketplace:" },
  plans: { summary: NOUN_SUMMARIES.plans, group: "Marketplace:" },
  brand: { summary: NOUN_SUMMARIES.brand, group: "Marketplace:" },
  "landing-pages": { summary: NOUN_SUMMARIES.landingPages, group: "Marketplace:" },
  "lead-magnets": { summary: NOUN_SUMMARIES.leadMagnets, group: "Marketplace:" },
  assets: { summary: NOUN_SUMMARIES.assets, group: "Marketplace:" },
  "agent messages": { summary: NOUN_SUMMARIES["agent.messages"], group: "" },
  "agent runs": { summary: NOUN_SUMMARIES["agent.runs"], group: "" },
  "agent credits": { summary: NOUN_SUMMARIES["agent.credits"], group: "" },
  "agent wakeups": { summary: NOUN_SUMMARIES["agent.wakeups"], group: "" },
  "agent landing-pages": { summary: NOUN_SUMMARIES["agent.landingPages"], group: "" },
  "agent lead-magnets": { summary: NOUN_SUMMARIES["agent.leadMagnets"], group: "" },
  "agent assets": { summary: NOUN_SUMMARIES["agent.assets"], group: "" },
  "agent brand": { summary: NOUN_SUMMARIES["agent.brand"], group: "" },
  "agent lists": { summary: NOUN_SUMMARIES["agent.lists"], group: "" },
  agent: { summary: "Act as an agent, with its key (MAILSVC_AGENT_KEY)", group: "Marketplace:" },
  workspaces: { summary: NOUN_SUMMARIES.workspaces, group: "Server:" },
  keys: { summary: NOUN_SUMMARIES.keys, group: "Server:" },
  jobs: { summary: NOUN_SUMMARIES.jobs, group: "Server:" },
  queue: { summary: NOUN_SUMMARIES.queue, group: "Server:" },
  health: { summary: NOUN_SUMMARIES.health, group: "Server:" },
  openapi: { summary: "", group: "Server:" },
  whoami: { summary: "", group: "Setup:" },
  inbox: { summary: NOUN_SUMMARIES.inbox, group: "Local development:" },
  clock: { summary: NOUN_SUMMARIES.clock, group: "Local development:" },
  faults: { summary: NOUN_SUMMARIES.faults, group: "Local development:" },
  world: { summary: NOUN_SUMMARIES.world, group: "Local development:" },
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
