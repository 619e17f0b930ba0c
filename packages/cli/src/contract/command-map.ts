import { agentContract, type Contract, contract, type Endpoint, isForAgents, paramNames } from "@mailsvc/sdk/contract";
import type { CommandSpec } from "../types.ts";
import { toKebabCase } from "./fields.ts";

/** Where a command stands, and how it differs from what the contract alone would make of it. */
interface CommandOverride {
  /** Words after `mailsvc`; `<group> <verb>` when absent. */
  words?: readonly string[];
  /** Fields that may be given as arguments, in order, with the value taken when absent. */
  positional?: readonly { field: string; fallback?: string }[];
}

const COMMAND_MAP: Readonly<Record<string, CommandOverride>> = {
  "me.get": { words: ["whoami"] },
  "agent.self.get": { words: ["agent", "whoami"] },
  "lists.create": { positional: [{ field: "name" }] },
  "lists.add": { positional: [{ field: "contacts" }] },
  "lists.remove": { positional: [{ field: "contacts" }] },
  "suppressions.create": { positional: [{ field: "email" }] },
  "suppressions.remove": { positional: [{ field: "entries" }] },
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
  "world.reset": { words: ["reset"] },
  "world.snapshots": { words: ["snapshots"] },
  "world.snapshot": { words: ["snapshot"], positional: [{ field: "name", fallback: "default" }] },
  "world.restore": { words: ["restore"], positional: [{ field: "name", fallback: "default" }] },
  "clock.advance": { positional: [{ field: "by" }] },
  "clock.freeze": { positional: [{ field: "at" }] },
};

/** The path parameters a command takes as arguments: an agent names its activation once, by flag or environment. */
export function listPathArguments({ path, access }: Endpoint): string[] {
  return paramNames(path).slice(isForAgents(access) ? 1 : 0);
}

/** What an argument is called: an id by what it is an id of, where that is not the command's own noun. */
export function getArgumentTitle({ id, endpoint }: CommandSpec, name: string): string {
  const owner = new RegExp(`([a-z-]+)s/:${name}(?:/|$)`).exec(endpoint.path)?.[1];
  return name !== "id" || owner === undefined || `${owner}s` === toKebabCase(id.split(".").at(-2) ?? "") ? name : `${owner}Id`;
}

/** The values of a path's parameters in a call, by name; empty where the call is none of this endpoint. */
export function parsePathParams({ path }: Endpoint, call: { path: string } | undefined): Record<string, string> {
  const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "([^/]+)")}$`);
  const values = pattern.exec(call?.path ?? "")?.slice(1) ?? [];
  return Object.fromEntries(values.map((value, i) => [paramNames(path)[i] ?? "", decodeURIComponent(value)]));
}

/** Every endpoint of the contract, with its command. What agents call stands under `agent`. */
export function listCommandSpecs(): CommandSpec[] {
  return [...mapGroups(contract, []), ...mapGroups(agentContract, ["agent"])];
}

/** One line about each noun, and the heading it stands under in help. */
export const NOUNS: Readonly<Record<string, { summary: string; group: string }>> = {
  emails: { summary: "Send, list, cancel and move emails", group: "Email:" },
  templates: { summary: "Templates of emails: write, publish, preview, send", group: "Email:" },
  senders: { summary: "Addresses and domains you send from", group: "Email:" },
  lists: { summary: "Lists of contacts, with double opt-in", group: "Audience:" },
  people: { summary: "Everything about one person: read it, or erase it", group: "Audience:" },
  segments: { summary: "Contacts that fulfil rules, whenever they do", group: "Audience:" },
  suppressions: { summary: "Addresses that get no more mail", group: "Email:" },
  contacts: { summary: "People you write to: list, create, import, search", group: "Audience:" },
  listings: { summary: "Agents you build: list them, pay, rotate secrets", group: "Marketplace:" },
  deliveries: { summary: "What was sent to the webhooks of your agents; test them", group: "Marketplace:" },
  payments: { summary: "What listings cost", group: "Marketplace:" },
  catalog: { summary: "Agents on offer", group: "Marketplace:" },
  activations: { summary: "Agents at work for you", group: "Marketplace:" },
  approvals: { summary: "What agents ask; approve or reject it", group: "Marketplace:" },
  messages: { summary: "What agents write and ask; answer them", group: "Marketplace:" },
  runs: { summary: "What agents do", group: "Marketplace:" },
  credits: { summary: "Credits your agents spend", group: "Marketplace:" },
  plans: { summary: "How many agents your plan covers", group: "Marketplace:" },
  brand: { summary: "Colors, logo and voice of your brand", group: "Marketplace:" },
  "landing-pages": { summary: "Pages your agents made: look, publish, numbers, sign-ups", group: "Marketplace:" },
  "lead-magnets": { summary: "Files people get for signing up", group: "Marketplace:" },
  assets: { summary: "The image library of your brand", group: "Marketplace:" },
  "agent messages": { summary: "Write to the brand, ask it, read its answers", group: "" },
  "agent runs": { summary: "Start, log and end runs", group: "" },
  "agent credits": { summary: "Spend the brand's credits, and give back", group: "" },
  "agent wakeups": { summary: "Ask to be woken later", group: "" },
  "agent landing-pages": { summary: "Make and change pages, read their numbers", group: "" },
  "agent lead-magnets": { summary: "Upload files people get for signing up", group: "" },
  "agent assets": { summary: "Save images to the brand's library", group: "" },
  "agent brand": { summary: "Read the brand's colors, logo and voice", group: "" },
  "agent lists": { summary: "Names of the brand's lists and how long they are", group: "" },
  agent: { summary: "Act as an agent, with the key of one activation (MAILSVC_AGENT_KEY)", group: "Marketplace:" },
  keys: { summary: "API keys", group: "Server:" },
  jobs: { summary: "Background jobs", group: "Server:" },
  health: { summary: "Is the server up?", group: "Server:" },
  openapi: { summary: "", group: "Server:" },
  whoami: { summary: "", group: "Setup:" },
  inbox: { summary: "Captured mail: list, wait for, read", group: "Local development:" },
  clock: { summary: "The server's clock: freeze, advance, jump to the next timer", group: "Local development:" },
  faults: { summary: "Make requests fail on purpose", group: "Local development:" },
  reset: { summary: "", group: "Local development:" },
  snapshot: { summary: "", group: "Local development:" },
  snapshots: { summary: "", group: "Local development:" },
  restore: { summary: "", group: "Local development:" },
};

/** The heading a top-level command stands under. */
export function getHelpGroup(word: string): string {
  return NOUNS[word]?.group ?? "Commands:";
}

function mapGroups(groups: Contract, before: readonly string[]): CommandSpec[] {
  return Object.entries(groups).flatMap(([group, operations]) =>
    Object.entries(operations).map(([verb, endpoint]) => {
      const id = [...before, group, verb].join(".");
      const place = COMMAND_MAP[id] ?? {};
      return { id, endpoint, words: place.words ?? [...before, toKebabCase(group), toKebabCase(verb)], positional: place.positional ?? [] };
    }),
  );
}
