import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentContract, type Contract, contract, ERRORS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { listSendFields } from "../src/commands/send.ts";
import { listCommandSpecs } from "../src/contract/command-map.ts";
import type { CommandNode } from "../src/contract/command-tree.ts";
import { formatCommandLine } from "../src/contract/examples.ts";
import { listFields } from "../src/contract/fields.ts";
import { cli, folder } from "./harness.ts";

const ENV = {
  MAILSVC_URL: "http://mailsvc.test",
  MAILSVC_API_KEY: "ms_live_0123456789abcdef",
  MAILSVC_AGENT_KEY: "ms_agent_0123456789abcdef",
  MAILSVC_ACTIVATION_ID: "act_01jc3v2m9k8q4w6x0y5z7a1b2c",
};

const idsOf = (groups: Contract, before: string): string[] =>
  Object.entries(groups).flatMap(([group, operations]) => Object.keys(operations).map((verb) => `${before}${group}.${verb}`));

const find = (node: CommandNode, words: readonly string[]): CommandNode | undefined =>
  words.reduce<CommandNode | undefined>((at, word) => at?.commands.find((c) => c.name === word), node);

const listNodes = (node: CommandNode): CommandNode[] => [node, ...node.commands.flatMap(listNodes)];

/** Splits a command line as a POSIX shell would, as far as the examples go. */
const shellWords = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|\\'|[^\s'])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|\\(')/g, (_all, quoted?: string, mark?: string) => quoted ?? mark ?? ""),
  );

describe("every endpoint of the contract", () => {
  test("has its own command with a flag for each of its fields", async () => {
    const tree: CommandNode = (await cli(["commands"])).json;
    expect(listCommandSpecs().map((p) => p.id)).toEqual([...idsOf(contract, ""), ...idsOf(agentContract, "agent.")]);
    for (const place of listCommandSpecs()) {
      if (place.hidden) continue;
      if (place.coveredBy !== undefined) {
        expect(listCommandSpecs().find(({ id }) => id === place.coveredBy)?.coveredBy, place.id).toBeUndefined();
        expect(find(tree, place.words), place.id).toBeUndefined();
        continue;
      }
      const node = find(tree, place.words);
      expect(node?.endpoint, place.id).toMatchObject({ id: place.id, path: place.endpoint.path });
      const flags = new Set(node?.options.map((o) => o.flag));
      const fields = place.id === "emails.send" ? listSendFields() : listFields(place.endpoint);
      for (const field of fields)
        if (place.fromFile === field.name) expect(node?.arguments.map((a) => a.name)).toEqual(["file"]);
        else expect(flags, `${place.id} ${field.name}`).toContain(`--${field.flag}`);
    }
  });

  const sent = listCommandSpecs().filter((place) => place.fromFile === undefined && place.coveredBy === undefined);
  const examples = sent.flatMap((place) =>
    (place.endpoint.examples ?? []).map((example) => {
      const fields = place.id === "emails.send" ? listSendFields().filter((f) => f.name !== "attachments") : listFields(place.endpoint);
      return { line: formatCommandLine(place, fields, example), place, example };
    }),
  );

  test.each(examples)("is asked as its example says: $line", async ({ line, place, example }) => {
    const words = shellWords(line).slice(1);
    const { attachments: _encoded, ...body } = (example.body ?? {}) as Record<string, unknown>;
    const home = folder();
    const { fileName, contentBase64, ...fields } = body;
    const uploads = typeof fileName === "string" && typeof contentBase64 === "string";
    if (uploads) writeFileSync(join(home, fileName), Buffer.from(contentBase64, "base64"));
    const { json, code, stderr } = await cli([...words, "--dry-run"], { env: ENV, home });
    expect(code, stderr).toBe(0);
    const { request } = json;
    expect(request.method).toBe(place.endpoint.method);
    if (uploads) expect(request.form).toMatchObject({ file: { name: fileName }, ...fields });
    else if (place.endpoint.body) expect(request.body).toEqual(body);
    const url = new URL(request.url);
    const path = Object.entries({ activationId: ENV.MAILSVC_ACTIVATION_ID, ...example.params }).reduce(
      (p, [name, value]) => p.replace(`:${name}`, encodeURIComponent(value)),
      place.endpoint.path as string,
    );
    expect(url.pathname).toBe(path);
    expect(Object.fromEntries(url.searchParams)).toEqual(
      Object.fromEntries(Object.entries(example.query ?? {}).map(([k, v]) => [k, String(v)])),
    );
  });
});

describe("one command for one task", () => {
  test("send takes a template in place of a body", async () => {
    const argv = ["send", "--template", "order-shipped", "--to", "ada@example.com", "--variable", "name=Ada", "--dry-run"];
    const { request } = (await cli(argv, { env: ENV })).json;
    expect(new URL(request.url).pathname).toBe("/api/v1/send/order-shipped");
    expect(request.body).toEqual({ to: "ada@example.com", variables: { name: "Ada" } });
  });

  test.each([
    [["--template", "x", "--html", "<p>"], "--html cannot be used with --template."],
    [["--template", "x", "--html-file", "a.html"], "--html-file cannot be used with --template."],
    [["--variable", "name=Ada"], "--variable needs --template."],
  ])("send %j is refused", async (argv, message) => {
    const { code, stderr } = await cli(["send", ...argv, "--dry-run"], { env: ENV });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("several contacts or suppressions are removed at once, as arguments", async () => {
    const body = async (...argv: string[]) => (await cli([...argv, "--dry-run"], { env: ENV })).json.request.body;
    expect(await body("lists", "remove", "lst_1", "ada@example.com", "grace@example.com")).toEqual({
      contacts: ["ada@example.com", "grace@example.com"],
    });
    expect(await body("suppressions", "remove", "ada@example.com")).toEqual({ entries: ["ada@example.com"] });
  });

  test.each([
    ["emails", "send"],
    ["emails", "send-template"],
    ["templates", "send"],
    ["lists", "remove-one"],
    ["suppressions", "delete"],
    ["reset"],
  ])("%s %s is no command", async (...argv) => {
    expect(
      (
        await cli(
          argv.filter((word): word is string => word !== undefined),
          { env: ENV },
        )
      ).code,
    ).toBe(2);
  });

  test("the endpoints behind links in mail are called and not listed", async () => {
    expect((await cli(["lists", "--help"])).stdout).not.toContain("confirm <token>");
    expect((await cli(["lists", "confirm", "token", "--dry-run"], { env: ENV })).code).toBe(0);
  });
});

describe("the commands of agents", () => {
  const ask = (env: Record<string, string>, ...more: string[]) => cli(["agent", "runs", "list", ...more], { env: { ...ENV, ...env } });

  test("say which activation and which key are missing", async () => {
    const lost = await ask({ MAILSVC_ACTIVATION_ID: "" });
    expect([lost.code, lost.stderr]).toMatchObject([2, expect.stringContaining("MAILSVC_ACTIVATION_ID")]);
    const mute = await ask({ MAILSVC_AGENT_KEY: "" });
    expect([mute.code, mute.stderr]).toMatchObject([4, expect.stringContaining("MAILSVC_AGENT_KEY")]);
  });

  test("never show a developer's key in place of an agent's", async () => {
    const { json, stdout } = await ask({}, "--dry-run", "--activation", "act_2");
    expect(json).toMatchObject({ request: { headers: { Authorization: "Bearer ms_agent_0…cdef" } } });
    expect(new URL(json.request.url).pathname).toBe("/api/agents/activations/act_2/runs");
    expect(json.curl).toContain("$MAILSVC_AGENT_KEY");
    expect(stdout).not.toContain("ms_live");
  });
});

describe("commands", () => {
  test("describes types, choices and which commands destroy", async () => {
    const tree: CommandNode & { exitCodes: Record<string, string> } = (await cli(["commands", "--json"])).json;
    const list = find(tree, ["emails", "list"]);
    expect(list?.options.find((o) => o.flag === "--status")).toMatchObject({
      type: "enum",
      choices: expect.arrayContaining(["bounced"]),
      global: false,
    });
    expect(find(tree, ["keys", "revoke"])).toMatchObject({ writes: true, destructive: true, arguments: [{ name: "id", required: true }] });
    expect(find(tree, ["send"])?.options.find((o) => o.flag === "--to")).toMatchObject({ required: true, repeatable: true });
    expect(find(tree, ["serve"])?.options.map((o) => o.flag)).toContain("--smtp-url");
    expect(tree.exitCodes["11"]).toContain("partial failure");
    expect(JSON.stringify(tree)).not.toContain("__complete");
  });

  test("every flag says what it is for", async () => {
    const tree: CommandNode = (await cli(["commands"])).json;
    const silent = listNodes(tree).flatMap((node) =>
      // In parentheses are its values, its default and whether it is required.
      node.options.filter((o) => o.description.replace(/ ?\([^()]*\)/g, "") === "").map((o) => `${node.command} ${o.flag}`),
    );
    expect(silent).toEqual([]);
  });

  test("every help page fits its terminal", async () => {
    const tree: CommandNode = (await cli(["commands"])).json;
    for (const node of listNodes(tree)) {
      const { stdout, code } = await cli([...node.command.split(" ").slice(1), "--help"], { columns: 100 });
      expect(code, node.command).toBe(0);
      expect(stdout, node.command).toContain(`Usage: ${node.command}`);
      const prose = stdout.split("\nExamples:")[0] ?? "";
      expect(Math.max(...prose.split("\n").map((l) => l.length)), node.command).toBeLessThanOrEqual(100);
    }
  });
});

describe("global flags", () => {
  test("stand before the noun, between noun and verb, or after", async () => {
    for (const argv of [
      ["--dry-run", "emails", "list"],
      ["emails", "--dry-run", "list"],
      ["emails", "list", "--dry-run"],
    ])
      expect((await cli(argv, { env: ENV })).json.dryRun).toBe(true);
  });

  test("a field of the same name keeps its own meaning", async () => {
    const { json } = await cli(["--timeout", "1m", "inbox", "wait", "--timeout", "3", "--dry-run"], { env: ENV });
    expect(json.request.url).toBe("http://mailsvc.test/__dev/inbox/wait?timeout=3");
    const timed = await cli(["inbox", "wait", "--timeout", "1m", "--dry-run"], { env: ENV });
    expect(timed.json.request.url).toBe("http://mailsvc.test/__dev/inbox/wait?timeout=60");
  });

  test("--no-… is the other half of a filter", async () => {
    const url = async (...flags: string[]): Promise<string> =>
      (await cli(["keys", "list", "--dry-run", ...flags], { env: ENV })).json.request.url;
    expect(await url("--revoked")).toContain("revoked=true");
    expect(await url("--no-revoked")).toContain("revoked=false");
    expect(await url()).not.toContain("revoked");
  });
});

test("errors lists each code with its status and exit code", async () => {
  const { json } = await cli(["errors"]);
  expect(json.data).toContainEqual({
    code: "rate_limited",
    cause: ERRORS.rate_limited.cause,
    status: 429,
    exit: 8,
    hint: ERRORS.rate_limited.hint,
  });
  expect(json.exitCodes).toContainEqual({ exit: 130, meaning: "cancelled" });
});
