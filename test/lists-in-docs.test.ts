import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  AGENT_EVENT_STATES,
  AGENT_EVENT_TYPES,
  AGENT_EVENTS,
  type AgentEventKind,
  type AgentEventType,
  ALL_OPERATORS,
  AUTOMATION_STATUSES,
  AutomationOccurrence,
  AutomationStep,
  AutomationTrigger,
  CAMPAIGN_STATUSES,
  CONTACT_TEXT_FIELDS,
  EMAIL_STATES,
  EMAIL_STATUSES,
  EVENT_TYPES,
  EXPLAINED_IDS,
  isReferenceField,
  NewRelay,
  PROVIDERS,
  RECIPIENT_TEXTS,
  RELAY_SECRETS,
  RULE_FIELDS,
  RULE_OPERATORS,
  STEP_TYPES,
} from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { CONNECTIONS_PER_PROCESS } from "../packages/server/src/db/postgres/pool.ts";
import { FIELD_HEADERS } from "../packages/server/src/submission/instructions.ts";
import { tableUnder } from "./markdown.ts";

// Lists in the documentation, compared with those of the contract.

const pathOf = (page: string) => fileURLToPath(new URL(`../${page}`, import.meta.url));
const read = (page: string) => readFileSync(pathOf(page), "utf8");
const code = (text: string) => `\`${text}\``;

test("docs/audience.md has the text fields of contacts, to which other pages link", () => {
  const [texts = ""] = tableUnder(pathOf("docs/audience.md"), "Segments")[0] ?? [];
  expect(texts.split(" ")).toEqual(["email", "externalId", ...CONTACT_TEXT_FIELDS].map(code));
});

test("docs/audience.md has every field of rules, with its operators", () => {
  const rows = tableUnder(pathOf("docs/audience.md"), "Segments");
  const namedIn = (cell = "") => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  for (const [field, kind] of Object.entries(RULE_FIELDS)) {
    const [, operators] = rows.find(([fields]) => namedIn(fields).includes(field)) ?? [];
    expect({ field, operators: namedIn(operators).sort() }).toEqual({ field, operators: RULE_OPERATORS[kind].toSorted() });
  }
  const all = new Set(rows.flatMap(([, operators]) => namedIn(operators)));
  expect(ALL_OPERATORS.filter((operator) => !all.has(operator))).toEqual([]);
});

describe("docs/agents-webhooks.md", () => {
  const page = "docs/agents-webhooks.md";
  const kinds = Object.entries<AgentEventKind>(AGENT_EVENTS);

  test("has a row for each event: when it is sent, its fields, and those that identify it", () => {
    const rows = tableUnder(pathOf(page), "Events");
    expect(new Set(rows.map(([type]) => type))).toEqual(new Set(AGENT_EVENT_TYPES.map(code)));
    for (const [type, { when, fields, key }] of kinds) {
      const [, sentWhen, adds = "", identified] = rows.find(([name]) => name === code(type)) ?? [];
      expect({ type, sentWhen, identified }).toEqual({ type, sentWhen: when, identified: key.map(code).join(", ") });
      const missing = Object.keys(fields).filter((field) => field !== "runId" && !adds.includes(field));
      expect({ type, missing }).toEqual({ type, missing: [] });
    }
  });

  const types = (which: (kind: AgentEventKind) => boolean) =>
    kinds.flatMap(([type, kind]) => (which(kind) ? [type as AgentEventType] : []));
  const sentences = read(page)
    .replaceAll("\n", " ")
    .split(/(?<=[.;:]) /);
  const named = (words: string) => {
    const found = sentences.filter((sentence) => sentence.includes(words));
    expect(found).toHaveLength(1);
    return AGENT_EVENT_TYPES.filter((type) => found[0]?.includes(code(type)));
  };

  test("names the events that are held while an activation is paused, and those that never pause one", () => {
    // A wakeup is held itself, so that it makes no event.
    expect(new Set(named("ask an agent to go on"))).toEqual(new Set([...types(({ held }) => held), "agent.wakeup"]));
    expect(new Set(named("never pause an activation"))).toEqual(new Set(types(({ pausesOnFailure }) => !pausesOnFailure)));
    expect(new Set(named("when a newer one followed"))).toEqual(new Set(types(({ isStatus }) => isStatus)));
  });
});

describe("docs/emails.md", () => {
  const page = "docs/emails.md";

  test("has a row for each state of emails, with what it means and what comes next", () => {
    const rows = tableUnder(pathOf(page), "States").map(([state, meaning = "", next]) => [state, meaning.split("; [see below]")[0], next]);
    const stated = Object.entries(EMAIL_STATES).map(([state, { meaning, next }]) => [code(state), meaning, next.map(code).join(", ")]);
    expect(rows).toEqual(stated);
  });

  test("says which state of its recipients a mail has, in the order of their ranks", () => {
    const [, listed = ""] = /is the first of these that any recipient has: (.+?)\. /s.exec(read(page)) ?? [];
    const byRank = EMAIL_STATUSES.toSorted((a, b) => EMAIL_STATES[a].rank - EMAIL_STATES[b].rank);
    expect(listed.split(/,\s/)).toEqual(byRank.map(code));
  });
});

test("docs/debugging.md names everything that can be explained by its id", () => {
  const [, listed = ""] = /`mailsvc why` takes the id of an? (.+?), or the address/s.exec(read("docs/debugging.md")) ?? [];
  expect(listed.split(/,\s| or /)).toEqual(Object.values(EXPLAINED_IDS).flat());
});

test("docs/campaigns.md adds up the states of all recipients", () => {
  const [, sum = ""] = /^recipients = (.+)$/m.exec(read("docs/campaigns.md")) ?? [];
  expect(new Set(sum.split(" + "))).toEqual(new Set(EMAIL_STATUSES));
});

test.each<[states: string, list: readonly string[], page: string, heading: string]>([
  ["campaigns", CAMPAIGN_STATUSES, "docs/campaigns.md", "States"],
  ["automations", AUTOMATION_STATUSES, "docs/automations.md", "States and versions"],
  ["deliveries to agents", AGENT_EVENT_STATES, "docs/agents-webhooks.md", "Retries"],
])("the states of %s are all in a table of the documentation", (_states, list, page, heading) => {
  const named = tableUnder(pathOf(page), heading).flatMap((row) => row.join(" ").match(/(?<=`)[A-Za-z]+(?=`)/g) ?? []);
  expect(list.filter((state) => !named.includes(state))).toEqual([]);
});

test("docs/events.md names every type of event", () => {
  const page = read("docs/events.md");
  expect(EVENT_TYPES.filter((type) => !page.includes(code(type)))).toEqual([]);
});

test("docs/smtp.md has every header that sets a field of a send", () => {
  const page = read("docs/smtp.md");
  expect(Object.values(FIELD_HEADERS).filter((header) => !page.includes(code(header)))).toEqual([]);
});

test("docs/relays.md has a row for each setting of a relay, and names the files of its secrets", () => {
  const page = read("docs/relays.md");
  const named = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, fields = ""]) => fields.split(", "));
  expect(named.sort()).toEqual(
    Object.keys(NewRelay.shape)
      .filter((name) => name !== "name")
      .map(code)
      .sort(),
  );
  expect(RELAY_SECRETS.filter((name) => !page.includes(code(`${name}File`)))).toEqual([]);
});

describe("steps of automations", () => {
  test("each has a row in docs/automations.md", () => {
    const named = tableUnder(pathOf("docs/automations.md"), "Steps").flatMap(([types = ""]) => types.split(", "));
    expect(named.sort()).toEqual(STEP_TYPES.map(code).sort());
  });

  test("each field of a step or trigger that holds an id is one that is looked up", () => {
    const fields = [AutomationStep, AutomationTrigger, AutomationOccurrence].flatMap(({ options }) =>
      options.flatMap(({ shape }) => Object.keys(shape)),
    );
    const ids = fields.filter((field) => field.endsWith("Id"));
    expect(new Set(ids).size).toBeGreaterThan(3);
    expect(ids.filter((field) => !isReferenceField(field))).toEqual([]);
  });
});

test("one page says how much memory a server needs", () => {
  const pages = globSync("docs/{self-hosting,operations,installation,scaling,postgres}.md", {
    cwd: fileURLToPath(new URL("../", import.meta.url)),
  });
  const planned = pages.flatMap((page) => [...read(page).matchAll(/plan for ([\d,]+ MB)/g)].map(([, size]) => `${page}: ${size}`));
  expect(planned).toEqual(["docs/self-hosting.md: 450 MB"]);
  expect(read("docs/operations.md")).toContain("(self-hosting.md#memory)");
});

test("the pages that tell how many connections a process has tell the same", () => {
  expect(read("docs/postgres.md")).toContain(`Each opens up to ${CONNECTIONS_PER_PROCESS} connections.`);
  expect(read("docs/scaling.md")).toContain(
    `- Connections: each process has ${CONNECTIONS_PER_PROCESS}, and Postgres takes 100 by default.`,
  );
});

test("docs/bounces.md has a row for each mail provider, with its key", () => {
  const rows = tableUnder(pathOf("docs/bounces.md"), "Webhooks of providers").map(([provider, key = ""]) => [
    provider,
    key.replaceAll("`", ""),
  ]);
  expect(rows).toEqual(Object.entries(PROVIDERS).map(([provider, { key }]) => [code(provider), key]));
});

describe("the version of Node", () => {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const list = (pattern: string) => globSync(pattern, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] });
  const enginesOf = (file: string) => (JSON.parse(read(file)) as { engines?: { node: string } }).engines?.node;
  const needed = enginesOf("packages/server/package.json");

  test("is the same in the manifests of packages, examples and templates", () => {
    const named = list("{packages,examples}/*/package.json").concat(list("packages/cli/templates/agent/*/package.json"));
    expect(named.filter((file) => ![undefined, needed].includes(enginesOf(file)))).toEqual([]);
    expect(named.filter((file) => enginesOf(file) === needed).length).toBeGreaterThan(8);
  });

  test("is the one that pages name; what installs the repository needs less", () => {
    const clone = ["README.md", "CONTRIBUTING.md"];
    for (const page of list("{*.md,docs/**/*.md,{packages,examples}/*/README.md,packages/cli/templates/**/*.md}")) {
      const versions = [...read(page).matchAll(/Node(?:\.js)? (\d[\d.]*) or newer/g)].map(([, version]) => `>=${version}`);
      const allowed = clone.includes(page) ? enginesOf("package.json") : needed;
      expect({ page, others: versions.filter((version) => version !== allowed) }).toEqual({ page, others: [] });
    }
  });
});

test("docs/languages.md has each text for recipients, with its English", () => {
  const rows = tableUnder(pathOf("docs/languages.md"), "Your own texts");
  const texts = Object.entries(RECIPIENT_TEXTS).map(([key, text]) => [code(key), typeof text === "string" ? text : text.other]);
  expect(rows).toEqual(texts);
});
