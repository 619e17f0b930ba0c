import { expect, onTestFinished, test, vi } from "vitest";
import { cli } from "./harness.ts";

interface Node {
  name: string;
  commands: Node[];
}

/** The commands a help names. */
const verbs = (help: string): string[] =>
  [...(help.split(/^(?:Options|Examples):/m)[0] ?? "").matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, name = ""]) => name);

const everyNoun = ({ commands }: Node, before: readonly string[] = []): [words: string[], verbs: string[]][] =>
  commands
    .filter((node) => node.commands.length > 0)
    .flatMap((node) => [
      [[...before, node.name], node.commands.map(({ name }) => name)] as [string[], string[]],
      ...everyNoun(node, [...before, node.name]),
    ]);

test("a noun has all its commands when it is asked for, whatever else stands on the line", async () => {
  const nouns = everyNoun((await cli(["commands", "--json"])).json as Node);
  expect(nouns.length).toBeGreaterThan(25);
  for (const [words, expected] of nouns) {
    const { stdout } = await cli(["--quiet", ...words, "--help"]);
    expect(verbs(stdout), words.join(" ")).toEqual(expected);
  }
});

test("every noun has a summary and a heading", async () => {
  const { stdout } = await cli(["--help", "--all"]);
  expect(stdout).not.toMatch(/^Commands:/m);
  for (const [, name, summary] of stdout.matchAll(/^ {2}([a-z-]+) {2,}(\S.*)$/gm)) expect(summary).not.toBe(name);
});

test("help for all names every noun, and the first help what one begins with, on one screen", async () => {
  const { commands } = (await cli(["commands", "--json"])).json as Node;
  const names = commands.map(({ name }) => name);
  expect(verbs((await cli(["--help", "--all"])).stdout)).toEqual(expect.arrayContaining(names));
  const first = (await cli(["--help"], { columns: 80 })).stdout;
  expect(first.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  expect(first).toContain(`All ${names.length} commands`);
  expect(verbs(first).length).toBeGreaterThan(15);
  expect(names).toEqual(expect.arrayContaining(verbs(first)));
  expect((await cli([])).stdout).toBe((await cli(["--help"])).stdout);
});

test("help of a server lists the flags that most need, and all of them when asked", async () => {
  const flags = (help: string): string[] => [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, name = ""]) => name);
  const [few, all] = [flags((await cli(["serve", "--help"])).stdout), flags((await cli(["serve", "--help", "--all"])).stdout)];
  expect(few.length).toBeLessThanOrEqual(20);
  expect(few).toEqual(expect.arrayContaining(["--port", "--data", "--smtp-url", "--public-url"]));
  expect(all).toEqual(expect.arrayContaining([...few, "--trust-proxy", "--sso-header"]));
});

test("completion of a noun knows its commands, and a wrong one is told the nearest", async () => {
  expect((await cli(["__complete", "--", "agent", "runs", ""])).stdout).toMatch(/^start\t/m);
  expect((await cli(["listings", "lst"])).stderr).toContain("Did you mean list?");
  expect((await cli(["lisings"])).stderr).toContain("Did you mean listings?");
});

test("help and completion of what is not a server load none", async () => {
  onTestFinished(() => void vi.doUnmock("@mailsvc/server"));
  vi.doMock("@mailsvc/server", () => expect.unreachable("the server was loaded"));
  for (const argv of [["--help"], ["listings", "--help"], ["__complete", "--", ""], ["__complete", "--", "listings", "l"]])
    expect((await cli(argv)).code, argv.join(" ")).toBe(0);
  expect((await cli(["__complete", "--", "serve", "--po"])).code).not.toBe(0);
});
