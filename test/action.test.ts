import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { cleanEnvironment } from "./dev-server.ts";

/*
 * The steps of the action are run as GitHub's runner does: inputs are put into the texts, and the files that a step writes are read. Steps
 * that use other actions are looked at only.
 */

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string; readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const LIMIT = 120_000;
const root = fileURLToPath(new URL("../", import.meta.url));
const action = parse(readFileSync(join(root, "action.yml"), "utf8")) as Action;
const [setUp, run, upload] = action.runs.steps as [Step, Step, Step];

/** A project that has installed mailsvc. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-action-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

interface Ran {
  readonly code: number | null;
  readonly outputs: ReadonlyMap<string, string>;
  readonly summary: string;
  readonly said: string;
}

/** Runs the step with the command, in a project, with these inputs. */
async function runStep(folder: string, inputs: Readonly<Record<string, string>>): Promise<Ran> {
  const values = new Map(Object.entries(action.inputs).map(([name, { default: value = "" }]) => [name, inputs[name] ?? value]));
  const fill = (text: string): string => text.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => values.get(name) ?? "");
  const [output, summary] = [join(folder, "output.txt"), join(folder, "summary.md")];
  for (const file of [output, summary]) writeFileSync(file, "");
  const own = Object.fromEntries(Object.entries(run.env ?? {}).map(([name, text]) => [name, fill(text)]));
  const env = { ...cleanEnvironment(), ...own, GITHUB_ACTIONS: "true", GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary, CI: "true" };
  // Options of `shell: bash`.
  const child = spawn("bash", ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", run.run ?? ""], { cwd: folder, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const [code] = (await once(child, "close")) as [number | null];
  const lines = readFileSync(output, "utf8").split("\n").filter(Boolean);
  const outputs = new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
  return { code, outputs, summary: readFileSync(summary, "utf8"), said };
}

const SEND = `node -e '
  const { MAILSVC_URL: url, MAILSVC_API_KEY: key } = process.env;
  const mail = { from: "hello@acme.example", to: process.argv[1], subject: "Hi", text: "Hi" };
  const headers = { authorization: "Bearer " + key, "content-type": "application/json" };
  fetch(url + "/api/v1/send", { method: "POST", headers, body: JSON.stringify(mail) }).then((answer) => {
    if (answer.status !== 200) throw new Error(answer.status);
  });
'`;

test(
  "a job that succeeds has a summary and the report it asked for, and keeps no recording",
  async () => {
    const folder = project();
    const ran = await runStep(folder, {
      command: `${SEND} ada@example.com\ntest -n "$RESEND_BASE_URL"`,
      junit: "mail.xml",
      coverage: "true",
    });
    expect(ran.said).toContain("queue_failed");
    expect(ran).toMatchObject({ code: 0, outputs: new Map() });
    expect(ran.summary).toContain("| exit code | 0 after");
    expect(readFileSync(join(folder, "mail.xml"), "utf8")).toContain("<testsuite");
    expect(existsSync(join(folder, ".mailsvc/recordings"))).toBe(false);
  },
  LIMIT,
);

test(
  "a job that fails ends with the command's exit code, names its recording, and that can be opened again",
  async () => {
    const folder = project();
    const ran = await runStep(folder, { command: `${SEND} bounced@simulator.mailsvc.test\nfalse || exit 7\n` });
    expect(ran.code, ran.said).toBe(7);
    expect(ran.summary).toContain("| exit code | 7 after");
    const recording = ran.outputs.get("recording") ?? "";
    const viewer = spawn(join(folder, "node_modules/.bin/mailsvc"), ["dev", "--open", recording], { cwd: folder, env: cleanEnvironment() });
    onTestFinished(() => void viewer.kill("SIGKILL"));
    const [said] = (await once(viewer.stdout, "data")) as [Buffer];
    const { url } = JSON.parse(said.toString()) as { url: string };
    expect(await (await fetch(url)).text()).toContain("bounced@simulator.mailsvc.test");
  },
  LIMIT,
);

test(
  "a job names the recording of its own step, where options say, with words in quotation marks as one",
  async () => {
    const folder = project();
    const failed = await runStep(folder, { command: "false", options: `--record "my recording.gz" --trust-sender 'acme.example'` });
    expect([failed.code, failed.outputs.get("recording")], failed.said).toEqual([1, join(folder, "my recording.gz")]);
    expect(failed.summary).toContain("❌ false");
    const wrong = await runStep(folder, { command: "true", options: "--nope" });
    expect([wrong.code, wrong.outputs.get("recording")], wrong.said).toEqual([2, undefined]);
  },
  LIMIT,
);

test("the recording is uploaded if a job fails, and only then; every input is used and described", () => {
  expect(action.runs.using).toBe("composite");
  expect(setUp).toMatchObject({ uses: expect.stringMatching(/^actions\/setup-node@[0-9a-f]{40}$/), with: { "node-version": 24 } });
  expect(run).toMatchObject({ id: "run", shell: "bash" });
  expect(upload).toMatchObject({
    uses: expect.stringMatching(/^actions\/upload-artifact@[0-9a-f]{40}$/),
    if: expect.stringContaining("failure()"),
    with: { path: action.outputs["recording"]?.value },
  });
  const text = readFileSync(join(root, "action.yml"), "utf8");
  for (const [name, { description }] of Object.entries(action.inputs)) {
    expect(description, name).not.toBe("");
    expect(text, name).toContain(`inputs.${name}`);
  }
  // A text from outside never becomes part of a script: it comes as a variable.
  expect(run.run).not.toContain("${{");
});
