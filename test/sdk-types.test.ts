import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { contract } from "@mailsvc/sdk/contract";
import ts from "typescript-5.5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ONE_CHECKER } from "./support/compiler.ts";

// Cost of the published declarations for the compiler of a program, and their display in an editor.

const root = fileURLToPath(new URL("../", import.meta.url));
const PROGRAM = `import { Mailsvc } from "@mailsvc/sdk";
const client = new Mailsvc();
export const sent = client.emails.send({ from: "a@acme.example", to: "ada@example.com", subject: "Hello", text: "x" });
export const email = sent.then(({ id }) => client.emails.get(id));
`;
const OPTIONS = {
  strict: true,
  skipLibCheck: false,
  noEmit: true,
  module: "nodenext",
  target: "es2022",
  lib: ["es2023", "dom", "dom.iterable"],
  types: [],
};

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-types-"));
  mkdirSync(join(folder, "node_modules/@mailsvc"), { recursive: true });
  symlinkSync(join(root, "packages/sdk"), join(folder, "node_modules/@mailsvc/sdk"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "program.ts"), PROGRAM);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: OPTIONS, files: ["program.ts"] }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the compiler's output for the program. */
async function compile(compiler: string, ...args: string[]): Promise<string> {
  const command = [join(root, "node_modules", compiler, "bin/tsc"), "-p", join(folder, "tsconfig.json"), "--extendedDiagnostics", ...args];
  return promisify(execFile)(process.execPath, command).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

const figure = (said: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(said)?.[1]);

describe("the declarations, all of them checked,", () => {
  test("are a small part of what a program costs the compiler", async () => {
    const said = await compile("typescript", ...ONE_CHECKER);
    expect(said).not.toContain("error TS");
    expect(figure(said, "Types")).toBeLessThan(40_000);
    expect(figure(said, "Memory used")).toBeLessThan(120_000);
  });

  test("are read by TypeScript 5.5", async () => {
    const said = await compile("typescript-5.5");
    expect(said).not.toContain("error TS");
    expect(figure(said, "Types")).toBeLessThan(40_000);
  });
});

describe("an editor shows", () => {
  let service: ts.LanguageService;
  beforeAll(() => {
    const options = ts.convertCompilerOptionsFromJson(OPTIONS, folder).options;
    service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => [join(folder, "program.ts")],
      getScriptVersion: () => "1",
      getScriptSnapshot: (file) => ts.ScriptSnapshot.fromString(ts.sys.readFile(file) ?? ""),
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      realpath: (path) => ts.sys.realpath?.(path) ?? path,
    });
  });

  const hover = (text: string): { shown: string; documentation: string } => {
    const info = service.getQuickInfoAtPosition(join(folder, "program.ts"), PROGRAM.indexOf(text) + 1);
    return { shown: ts.displayPartsToString(info?.displayParts), documentation: ts.displayPartsToString(info?.documentation) };
  };

  test("a method with its summary, description and path, and the names of its types", () => {
    const { shown, documentation } = hover("send(");
    expect(documentation).toContain(`${contract.emails.send.summary}.`);
    expect(documentation).toContain(contract.emails.send.description);
    expect(documentation).toContain("`POST /api/v1/send`");
    expect(shown).toContain("input: SendRequest");
    expect(shown).not.toMatch(/Zod|BodyInput/);
    expect(hover("get(id")).toMatchObject({
      shown: expect.stringContaining("(id: string, options?: CallOptions): APIPromise<EmailDetail>"),
      documentation: expect.stringContaining(contract.emails.get.summary),
    });
  });

  test("a field with its description", () => {
    expect(hover("subject:").documentation).toBe("Subject line, up to 998 characters");
  });

  test("a noun with what it is about", () => {
    expect(hover("emails.send").documentation).toContain("emails");
  });
});
