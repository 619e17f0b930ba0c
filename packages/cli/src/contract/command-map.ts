import { agentContract, type Contract, contract, type Endpoint, isForAgents, NOUNS_BY_TOPIC, paramNames } from "@mailsvc/sdk/contract";
import type { CommandSpec } from "../types.ts";
import { toKebabCase } from "./fields.ts";

/** Differences between a command and the contract's default. */
interface CommandOverride {
  /** Words after `mailsvc`; `<group> <verb>` by default. */
  words?: readonly string[];
  /** Fields that may be given as arguments, in order, with the value used when absent. */
  positional?: readonly { field: string; fallback?: string }[];
  /** The field of which the values come from a file, the only argument. */
  fromFile?: string;
  /** The endpoint whose command also covers this one, so that there is one command for one task. */
  coveredBy?: string;
  /** Works, but is listed nowhere: for endpoints that only the links in emails call. */
  hidden?: boolean;
}

const COMMAND_MAP: Readonly<Record<string, CommandOverride>> = {
  "me.get": { words: ["whoami"] },
  "me.checkRelays": { words: ["relays", "check"] },
  "domains.check": { positional: [{ field: "domain" }] },
  "agent.self.get": { words: ["agent", "whoami"] },
  "explanations.get": { words: ["why"] },
  "dashboard.link": { words: ["open"] },
  "members.invite": { positional: [{ field: "email" }] },
  "agent.explanations.get": { words: ["agent", "why"] },
  "lint.check": { words: ["lint"] },
  "lint.rules": { coveredBy: "lint.check" },
  "contacts.tag": { positional: [{ field: "contacts" }] },
  "lists.create": { positional: [{ field: "name" }] },
  "lists.add": { positional: [{ field: "contacts" }] },
  "lists.remove": { positional: [{ field: "contacts" }] },
  "lists.removeOne": { coveredBy: "lists.remove" },
  "lists.confirmPage": { hidden: true },
  "lists.confirm": { hidden: true },
  "senders.confirmPage": { hidden: true },
  "senders.confirm": { hidden: true },
  "emails.send": { words: ["send"] },
  "emails.sendBatch": { words: ["emails", "batch"] },
  "events.trackBatch": { words: ["events", "track-batch"] },
  "emails.sendTemplate": { coveredBy: "emails.send" },
  "templates.send": { coveredBy: "emails.send" },
  "contacts.import": { fromFile: "rows" },
  "suppressions.import": { fromFile: "entries" },
  "suppressions.create": { positional: [{ field: "email" }] },
  "suppressions.remove": { positional: [{ field: "entries" }] },
  "suppressions.delete": { coveredBy: "suppressions.remove" },
  "relays.add": { positional: [{ field: "name" }] },
  "providers.add": { positional: [{ field: "provider" }] },
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

/** Lists every endpoint of the contract with its command. Endpoints for agents are under `agent`. */
export function listCommandSpecs(): CommandSpec[] {
  return [...mapGroups(contract, []), ...mapGroups(agentContract, ["agent"])];
}

/** The summary of each noun, and its heading in the help. */
export const NOUNS: Readonly<Record<string, { summary: string; group: string }>> = {
  ...Object.fromEntries(
    Object.entries(NOUNS_BY_TOPIC).flatMap(([topic, nouns]) =>
      Object.entries(nouns).map(([noun, summary]) => [noun.split(".").map(toKebabCase).join(" "), { summary, group: `${topic}:` }]),
    ),
  ),
  agent: { summary: "Act as an agent, with its key (MAILSVC_AGENT_KEY)", group: "Marketplace:" },
  openapi: { summary: "", group: "Server:" },
  whoami: { summary: "", group: "Setup:" },
  send: { summary: "", group: "Email:" },
  why: { summary: "", group: "Email:" },
  open: { summary: "", group: "Server:" },
};

/** The help heading of a top-level command. */
export function getHelpGroup(word: string): string {
  return NOUNS[word]?.group ?? "Commands:";
}

function mapGroups(groups: Contract, before: readonly string[]): CommandSpec[] {
  return Object.entries(groups).flatMap(([group, operations]) =>
    Object.entries(operations).map(([verb, endpoint]) => {
      const id = [...before, group, verb].join(".");
      const { words = [...before, toKebabCase(group), toKebabCase(verb)], positional = [], ...rest } = COMMAND_MAP[id] ?? {};
      return { id, endpoint, words, positional, ...rest };
    }),
  );
}
