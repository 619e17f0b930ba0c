import { expect, onTestFinished, test, vi } from "vitest";
import { cli } from "./harness.ts";

interface Node {
  name: string;
  commands: Node[];
}

/** The commands a help names. */
const verbs = (help: string): string[] =>
  [...(help.split(/^Options:/m)[0] ?? "").matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, name = ""]) => name);

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
  const { stdout } = await cli(["--help"]);
  expect(stdout).not.toMatch(/^Commands:/m);
  for (const [, name, summary] of stdout.matchAll(/^ {2}([a-z-]+) {2,}(\S.*)$/gm)) expect(summary).not.toBe(name);
});

test("the first help names every noun", async () => {
  const { commands } = (await cli(["commands", "--json"])).json as Node;
  expect(verbs((await cli(["--help"])).stdout)).toEqual(expect.arrayContaining(commands.map(({ name }) => name)));
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
