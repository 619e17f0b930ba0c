// Ways to use and look up each operation of the API, found in the code. Each missing way has a reason in parity-reasons.mjs; the test of
// the page fails without one, and with one that is no longer needed.
import { readFileSync } from "node:fs";
import { agentContract, contract } from "@mailsvc/sdk/contract";
import { listCommandSpecs } from "../packages/cli/src/contract/command-map.ts";
import { EXPLAINERS } from "../packages/server/src/explainers.ts";
import { findRefusal } from "../packages/server/src/mcp/api-tools.ts";
import { listTools } from "../packages/server/src/mcp/mcp.ts";
import { docPages, docPath } from "../packaging/doc-pages.mjs";
import { anchorOf } from "./anchor.mjs";
import { REASONS, STATELESS } from "./parity-reasons.mjs";
import { deref, fileOf } from "./reference.mjs";

/** The ways to an operation, in the order of the columns. */
export const WAYS = {
  sdk: "SDK",
  cli: "Command line",
  openapi: "OpenAPI",
  docs: "Guide",
  example: "Example",
  mcp: "MCP",
  explain: "Explained",
};

/** Everything is on, so that what is refused is refused everywhere. */
const MCP = { version: "", dev: true, writes: true, writesFlag: "", maxRecipients: null, allowTo: [] };

const toolsOf = () => [...listTools(MCP).values()].map(({ name }) => name);

/** The operations, each with where it is found: the text of its cell, or null. `document` is the OpenAPI document. */
export const listParity = (document, { served, answers }) => {
  const described = new Map(
    Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => [operation.operationId, operation])),
  );
  // The index of the reference names everything.
  const pages = docPages().filter((page) => page !== "reference.md");
  const guides = pages.map((page) => ({ page, text: readFileSync(docPath(page), "utf8") }));
  const commands = new Map(listCommandSpecs().map((spec) => [spec.id, spec]));
  const named = new Set(toolsOf());
  const operations = Object.entries(served).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, endpoint]) => ({ noun, verb, endpoint })),
  );
  const explained = new Set(operations.filter(({ endpoint }) => isExplained(endpoint)).map(({ noun }) => noun));
  const stateful = new Set(
    operations
      .filter(({ noun, verb }) => isAboutObjects(served, noun, verb) && answersState(document, described.get(`${noun}.${verb}`)))
      .map(({ noun }) => noun),
  );
  const ofNoun = new Map(Object.keys(served).map((noun) => [noun, rankGuides(guides, noun)]));
  return operations.map(({ noun, verb, endpoint }) => {
    const id = `${noun}.${verb}`;
    const spec = commands.get(id);
    const words = spec && (spec.coveredBy === undefined ? spec : commands.get(spec.coveredBy)).words.join(" ");
    // The guide that shows it; else the one about its noun.
    const ranked = ofNoun.get(noun);
    const shown = ranked.find(({ guide }) => mentions(guide.text, { id, words, endpoint }));
    const guide = (shown ?? ranked.find(({ count }) => count > 0))?.guide;
    return {
      id,
      noun,
      refusal: explainRefusal(noun, verb, endpoint),
      isStateless: !stateful.has(noun),
      ways: {
        sdk: isInSdk(noun, verb) ? `\`${noun.startsWith("agent.") ? id : `client.${id}`}\`` : null,
        cli: spec && !spec.hidden ? `\`mailsvc ${words}\`` : null,
        openapi: described.has(id) ? "yes" : null,
        docs: guide ? `[${guide.page.replace(/\.md$/, "")}](../${guide.page})` : null,
        example: endpoint.examples?.length > 0 && (id in answers || endpoint.produces || endpoint.stream) ? "yes" : null,
        mcp: findTool(noun, verb, endpoint, named),
        explain: explained.has(noun) ? "`why`" : null,
      },
    };
  });
};

/** Returns the reason an operation lacks a way: its own, or its noun's. Null without one. */
export const findReason = (way, { id, noun, refusal, isStateless }) => {
  if (way === "mcp") return refusal;
  return REASONS[way][id] ?? REASONS[way][noun] ?? (way === "explain" && isStateless ? STATELESS : null);
};

/** The reasons that are needed no more: what they are about has the way, or is gone. */
export const listIdleReasons = (rows) =>
  Object.entries(REASONS).flatMap(([way, reasons]) =>
    Object.keys(reasons)
      .filter((name) => !rows.some(({ id, noun, ways }) => (id === name || noun === name) && ways[way] === null))
      .map((name) => `${way}: ${name}`),
  );

/** The page docs/reference/parity.md. */
export const parityPage = (rows) => {
  const lines = [
    "# Where each operation is found",
    "",
    "Every operation of the [API](../reference.md), and where else it can be used or looked up: as a method of the SDK, as a command, in",
    "[openapi.json](../../openapi.json), in a guide, with an example, by a tool of [MCP clients](../mcp.md), and by `mailsvc why` for what it is",
    "about. A dash has its reason [below](#what-is-missing-and-why).",
    "",
    `| Operation | ${Object.values(WAYS).join(" | ")} |`,
    `| --- |${" --- |".repeat(Object.keys(WAYS).length)}`,
    ...rows.map(
      ({ id, noun, ways }) =>
        `| [${id}](${fileOf(noun)}#${anchorOf(id)}) | ${Object.keys(WAYS)
          .map((way) => ways[way] ?? "–")
          .join(" | ")} |`,
    ),
    "",
    "## What is missing, and why",
    "",
    "| | Operations | Reason |",
    "| --- | --- | --- |",
    ...Object.entries(WAYS).flatMap(([way, title]) => {
      const byReason = Map.groupBy(
        rows.filter(({ ways }) => ways[way] === null),
        (row) => findReason(way, row) ?? "",
      );
      return [...byReason].map(([reason, missing]) => `| ${title} | ${summarize(missing, rows)} | ${reason} |`);
    }),
    "",
  ];
  return lines.join("\n");
};

/** The nouns of which all operations are meant, then single operations. */
const summarize = (missing, rows) => {
  const byNoun = Map.groupBy(missing, ({ noun }) => noun);
  return [...byNoun]
    .flatMap(([noun, some]) =>
      some.length === rows.filter((row) => row.noun === noun).length ? [`\`${noun}\``] : some.map(({ id }) => `\`${id}\``),
    )
    .join(", ");
};

/** True if the SDK has the method, by the contract: the generated methods may be of an earlier one. */
const isInSdk = (noun, verb) => {
  const own = noun.startsWith("agent.") ? agentContract[noun.slice("agent.".length)] : contract[noun];
  return own?.[verb] !== undefined;
};

/** True if a parameter of its path is the id of an object that can be explained. */
const isExplained = ({ examples = [] }) =>
  examples.some(({ params = {} }) => Object.values(params).some((value) => Object.hasOwn(EXPLAINERS, String(value).split("_")[0])));

/** True if an operation answers with the objects of its noun: the one that gets one of them, without such a one any. */
const isAboutObjects = (served, noun, verb) => verb === "get" || served[noun].get === undefined;

/** True if the object that an operation answers with, or each item of its list, has a state. */
const answersState = (document, { responses }) =>
  Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .flatMap(([, response]) => Object.values(deref(document, response).content ?? {}))
    .some(({ schema }) => {
      const fields = listFields(document, schema);
      const items = fields.find(([name]) => name === "data")?.[1].items;
      return [...fields, ...listFields(document, items)].some(([name]) => name === "status" || name === "state");
    });

/** Fields of a schema, or of each that it can be, with their own schemas. */
const listFields = (document, schema) => {
  const { properties = {}, anyOf = [], oneOf = [], allOf = [] } = deref(document, schema);
  return [...Object.entries(properties), ...[...anyOf, ...oneOf, ...allOf].flatMap((one) => listFields(document, one))];
};

/** The guides that mention a noun in a call or a command, the one that does so most often first. */
const rankGuides = (guides, noun) => {
  const words = noun.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(".", " ");
  const pattern = new RegExp(`\\b${noun.replace(".", "\\.")}\\.[a-z]|mailsvc ${words} [a-z]`, "g");
  const counted = guides.map((guide) => ({ guide, count: guide.text.match(pattern)?.length ?? 0 }));
  return counted.sort((a, b) => b.count - a.count);
};

const mentions = (text, { id, words, endpoint }) =>
  new RegExp(`\\b${id.replaceAll(".", "\\.")}\\b`).test(text) ||
  (words !== undefined && new RegExp(`mailsvc ${words}(?![\\w-])`).test(text)) ||
  text.includes(`${endpoint.method} ${endpoint.path}`);

const findTool = (noun, verb, endpoint, named) => {
  if (!contract[noun]?.[verb]) return null;
  if (endpoint.tool !== undefined) return `\`${endpoint.tool}\``;
  const own = OWN_TOOLS[`${noun}.${verb}`];
  if (own !== undefined && named.has(own)) return `\`${own}\``;
  return findRefusal({ id: `${noun}.${verb}`, endpoint }, MCP) === null ? "`api_call`" : null;
};

/** Returns the reason MCP clients do not reach an operation, in the words of the policy; null if they do. */
const explainRefusal = (noun, verb, endpoint) => {
  if (!contract[noun]?.[verb])
    return noun.startsWith("agent.") ? "It takes the key of an activation." : "Only the provider calls it, with a signature.";
  const id = `${noun}.${verb}`;
  return (
    findRefusal({ id, endpoint }, MCP)
      ?.replace(id, "It")
      .replace(/ A person can run: .*/, "") ?? null
  );
};

/** Tools that are more than a call of their operation, so that the contract does not name them. */
const OWN_TOOLS = {
  "me.get": "whoami",
  "emails.get": "email_get",
  "inbox.list": "inbox_list",
  "inbox.wait": "inbox_wait",
  "testInbox.list": "inbox_list",
  "testInbox.wait": "inbox_wait",
};
