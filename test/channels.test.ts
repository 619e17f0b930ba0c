import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { channels, writeChannels } from "../packaging/release/channels.mjs";
import { findProgram, run } from "../packaging/release/command.mjs";

// The release makes these files from the real program. Here it is a script of a few bytes, and the checks are the same.

const root = fileURLToPath(new URL("../", import.meta.url));
const VERSION = "1.2.3";
let work = "";
let release = "";

const place = (name: string): string => mkdtempSync(join(work, `${name}-`));

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), "mailsvc-channels-test-"));
  release = join(work, "release");
  mkdirSync(release);
  for (const arch of ["x64", "arm64"]) {
    const name = `mailsvc-${VERSION}-linux-${arch}`;
    mkdirSync(join(work, name));
    writeFileSync(join(work, name, "mailsvc"), `#!/bin/sh\necho ${VERSION}\n`);
    chmodSync(join(work, name, "mailsvc"), 0o755);
    await run("tar", ["-cJf", join(release, `${name}.tar.xz`), "-C", work, name]);
  }
  writeFileSync(join(release, `mailsvc-${VERSION}.tgz`), "the npm package");
  await writeChannels(release, VERSION, "0");
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

async function check(folder: string): Promise<string[]> {
  const lines: string[] = [];
  const say = (text: string): void => void lines.push(text);
  await channels.check({ folder, version: VERSION, place, ok: say, notTried: say });
  return lines;
}

test("compose, chart, formula, flake and install.sh are made from the files of a release and used", async () => {
  expect(await check(release)).toEqual([
    "compose.yaml is YAML and names the image of this version",
    "the chart names this version",
    ...(findProgram("helm") === null
      ? ["the chart: helm is not installed, so it was not rendered"]
      : [
          "helm lints and renders the chart, with few values and with all; several processes only on Postgres",
          "helm refuses the chart without a public address, and with a value that it does not have",
        ]),
    expect.stringMatching(/^ruby reads mailsvc\.rb$|ruby is not installed/),
    expect.stringMatching(/^nix evaluates flake\.nix, for aarch64-linux and x86_64-linux$|nix is not installed/),
    "the formula, the flake and install.sh name the checksums of the files beside them",
    "sh install.sh: loaded, compared, installed, and it runs",
    "sh install.sh refuses a file with another checksum",
  ]);
  for (const file of channels.files(VERSION)) expect(existsSync(join(release, file)), file).toBe(true);
  expect(readFileSync(join(release, "flake.nix"), "utf8")).toMatch(/x86_64-linux = \{[^}]+\};\s+aarch64-linux = \{/);
  for (const file of ["compose.yaml", "mailsvc.rb", "flake.nix", "install.sh"])
    expect(readFileSync(join(release, file), "utf8"), file).not.toMatch(/__[A-Z]|undefined/);
});

test("a file that was changed after the others were made is found", async () => {
  const damaged = join(work, "damaged");
  cpSync(release, damaged, { recursive: true });
  appendFileSync(join(damaged, `mailsvc-${VERSION}.tgz`), "more");
  await expect(check(damaged)).rejects.toThrow(/mailsvc\.rb names [0-9a-f]{64}, which is the checksum of no file/);
});

test("a folder without a program makes none of them", async () => {
  await expect(writeChannels(place("empty"), VERSION, "0")).rejects.toThrow(`has no mailsvc-${VERSION}-linux-x64.tar.xz`);
});

test("install.sh says what is missing instead of installing half of it", async () => {
  const failing = join(work, "bin");
  mkdirSync(failing);
  writeFileSync(join(failing, "uname"), '#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo riscv64\n');
  chmodSync(join(failing, "uname"), 0o755);
  const env = { HOME: place("home"), PATH: `${failing}:${process.env["PATH"] ?? ""}` };
  await expect(run("sh", [join(release, "install.sh")], { env })).rejects.toThrow(/there is no file for riscv64/);
  expect(existsSync(join(env.HOME, ".local"))).toBe(false);
});

test("the chart's values are those that its schema allows", () => {
  const chart = join(root, "packaging/channels/chart");
  const values: Record<string, unknown> = parse(readFileSync(join(chart, "values.yaml"), "utf8"));
  const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8"));
  expect(Object.keys(schema.properties)).toEqual([...Object.keys(values), "global"]);
  const isValid = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);
  expect([isValid({ ...values, publicUrl: "https://mail.example.com" }), isValid.errors]).toEqual([true, null]);
});

test("paths that the chart asks are those of the server", () => {
  const api = JSON.parse(readFileSync(join(root, "openapi.json"), "utf8")) as { paths: object };
  const chart = readFileSync(join(root, "packaging/channels/chart/templates/statefulset.yaml"), "utf8");
  for (const [, path] of chart.matchAll(/path: (\/\w+)/g)) expect(Object.keys(api.paths)).toContain(path);
});
