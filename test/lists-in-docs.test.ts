import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  AGENT_EVENT_TYPES,
  AGENT_EVENTS,
  type AgentEventKind,
  type AgentEventType,
  AutomationOccurrence,
  AutomationStep,
  AutomationTrigger,
  CONTACT_TEXT_FIELDS,
  isReferenceField,
  PROVIDERS,
  STEP_TYPES,
} from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { tableUnder } from "./markdown.ts";

// What the documentation says about things of which the contract has a list.

const pathOf = (page: string) => fileURLToPath(new URL(`../${page}`, import.meta.url));
const read = (page: string) => readFileSync(pathOf(page), "utf8");
const code = (text: string) => `\`${text}\``;

test.each(["docs/audience.md", "docs/campaigns.md", "docs/importing.md"])("%s names each text field of contacts", (page) => {
  const text = read(page);
  expect(CONTACT_TEXT_FIELDS.filter((field) => !text.includes(code(field)))).toEqual([]);
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

test("docs/bounces.md has a row for each mail provider, with its key", () => {
  const rows = tableUnder(pathOf("docs/bounces.md"), "Webhooks of providers").map(([provider, key = ""]) => [
    provider,
    key.replaceAll("`", ""),
  ]);
  expect(rows).toEqual(Object.entries(PROVIDERS).map(([provider, { key }]) => [code(provider), key]));
});
