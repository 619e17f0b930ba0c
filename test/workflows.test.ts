import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";

const root = fileURLToPath(new URL("../", import.meta.url));

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly needs?: string | readonly string[];
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = globSync(".github/workflows/*.yml", { cwd: root }).sort();
const readYaml = (file: string): unknown => {
  const document = parseDocument(readFileSync(join(root, file), "utf8"), { uniqueKeys: true });
  expect(document.errors, file).toEqual([]);
  return document.toJS();
};

/** Rights beyond reading that a job may have, by file and job. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  "release.yml collect": ["id-token", "attestations"],
  "release.yml npm": ["id-token"],
  "release.yml image": ["packages", "id-token", "attestations"],
  "release.yml draft": ["contents"],
  "pages.yml deploy": ["pages", "id-token"],
};

test("there are workflows for tests, releases and the site", () => {
  expect(files.map((file) => file.split("/").at(-1))).toEqual(["pages.yml", "release.yml", "test.yml"]);
});

describe.each(files)("%s", (file) => {
  const name = file.split("/").at(-1) ?? "";
  const text = readFileSync(join(root, file), "utf8");
  const workflow = readYaml(file) as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  test("pins each action by its digest, with the version beside it", () => {
    for (const [line] of text.matchAll(/^.*\buses:.*$/gm)) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("gives each job only the rights it needs, and an end", () => {
    expect(workflow.permissions).toEqual({});
    for (const [id, job] of Object.entries(workflow.jobs)) {
      const writes = Object.entries(job.permissions ?? {}).filter(([, right]) => right === "write");
      expect(
        writes.map(([right]) => right),
        id,
      ).toEqual(WRITES[`${name} ${id}`] ?? []);
      expect(job["timeout-minutes"], id).toBeTypeOf("number");
      for (const needed of [job.needs ?? []].flat()) expect(Object.keys(workflow.jobs)).toContain(needed);
    }
  });

  test("leaves no credentials in the checkout, and takes nothing from outside into a script", () => {
    for (const { uses, with: given } of steps)
      if (uses?.startsWith("actions/checkout@")) expect(given).toMatchObject({ "persist-credentials": false });
    for (const { run } of steps) expect(run ?? "").not.toContain("${{");
    expect(text).not.toMatch(/pull_request_target|workflow_run|secrets\./);
  });

  test("runs scripts that are there", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
    for (const { run } of steps) {
      for (const [, script = ""] of (run ?? "").matchAll(/npm run (\S+)/g)) expect(Object.keys(scripts)).toContain(script);
      for (const [path] of (run ?? "").matchAll(/^\.ci\/\w+$/gm)) expect(existsSync(join(root, path))).toBe(true);
    }
  });
});

test("the action pins what it uses", () => {
  for (const [line] of readFileSync(join(root, "action.yml"), "utf8").matchAll(/^.*\buses:.*$/gm))
    expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test("forms for issues are YAML, and each path with an owner is there", () => {
  for (const file of globSync(".github/**/*.yml", { cwd: root })) readYaml(file);
  for (const [, path = ""] of readFileSync(join(root, ".github/CODEOWNERS"), "utf8").matchAll(/^\/(\S+)/gm))
    expect(existsSync(join(root, path)), path).toBe(true);
});
