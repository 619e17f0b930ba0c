import { appendFileSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildRelease } from "../packaging/release/build.mjs";
import { checkRelease } from "../packaging/release/check.mjs";
import { checksums } from "../packaging/release/checksums.mjs";
import { run } from "../packaging/release/command.mjs";
import { completions } from "../packaging/release/completions.mjs";
import { sbom } from "../packaging/release/sbom.mjs";
import { buildBinary } from "./support/binary.ts";
import { usePublishedPackages } from "./support/published.ts";

// `npm run release -- --dry-run` makes and checks everything, which takes minutes. Here are its checks of what other tests have built
// anyway, and that they find what is wrong.

const root = fileURLToPath(new URL("../", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string };
const CHEAP = ["checksums", "packages", "sbom", "completions"];
const BILL = `mailsvc-${version}.cdx.json`;

let work = "";
let release = "";

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), "mailsvc-release-test-"));
  release = join(work, "release");
  for (const name of ["release", "npm"]) mkdirSync(join(work, name));
  const tarballs = await usePublishedPackages(join(work, "npm"));
  for (const [name, file] of Object.entries(tarballs))
    if (/^(?:@mailsvc\/|(?:create-)?mailsvc)/.test(name) && !name.endsWith(".tgz"))
      copyFileSync(file, join(release, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`));
  await buildBinary();
  const place = (name: string): string => {
    mkdirSync(join(work, name));
    return join(work, name);
  };
  for (const artefact of [sbom, completions, checksums]) await artefact.make({ root, out: release, version, epoch: "0", place });
}, 600_000);
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Checks a folder. Returns how many kinds failed, and what was said of them. */
async function check(folder: string, only: readonly string[]): Promise<{ failed: number; said: string }> {
  const lines: string[] = [];
  const failed = await checkRelease({ folder, version, root, only: [...only], say: (line: string) => lines.push(line) });
  return { failed, said: lines.join("\n") };
}

/** A copy of the release that something happens to. */
function damaged(name: string, damage: (folder: string) => void): string {
  const copy = join(work, name);
  cpSync(release, copy, { recursive: true });
  damage(copy);
  return copy;
}

test("its packages, bill of materials and completions are used as their users will, and each line says what was tried", async () => {
  const { failed, said } = await check(release, CHEAP);
  expect(failed, said).toBe(0);
  for (const tried of [
    /ok +checksums +sha256sum --check: 7 files/,
    /ok +packages +npm install of 5 tarballs/,
    /ok +packages +a send with the SDK; the mail is in the inbox/,
    /ok +packages +verifySignature/,
    /ok +packages +create-mailsvc-agent makes a project whose npm test passes/,
    /ok +sbom +names all \d+ production dependencies/,
    /ok +completions +bash loads mailsvc\.bash/,
    /not tried +image +not asked for/,
    /\n\d+ checks passed, \d+ not tried, 0 failed\./,
  ])
    expect(said).toMatch(tried);
});

describe("a check names the artefact that is wrong, and why", () => {
  test("a file that was changed", async () => {
    const folder = damaged("tampered", (copy) => appendFileSync(join(copy, `mailsvc-sdk-${version}.tgz`), "x"));
    const { failed, said } = await check(folder, ["checksums"]);
    expect(failed).toBe(1);
    expect(said).toMatch(/FAILED +checksums /);
    expect(said).toContain(`mailsvc-sdk-${version}.tgz: FAILED`);
    expect(said).not.toContain(`${BILL}: FAILED`);
  });

  test("a checksum of another file", async () => {
    const folder = damaged("checksum", (copy) => {
      const sums = readFileSync(join(copy, "SHA256SUMS"), "utf8");
      writeFileSync(join(copy, "SHA256SUMS"), sums.replace(/^[0-9a-f]{64}(?= {2}mailsvc-completions)/m, "0".repeat(64)));
    });
    const { failed, said } = await check(folder, ["checksums"]);
    expect(failed).toBe(1);
    expect(said).toContain(`mailsvc-completions-${version}.tar.gz: FAILED`);
  });

  test("a file that is missing, and one that has no checksum", async () => {
    const missing = damaged("missing", (copy) => rmSync(join(copy, BILL)));
    const { failed, said } = await check(missing, ["checksums", "sbom"]);
    expect(failed).toBe(2);
    expect(said).toMatch(new RegExp(`FAILED +sbom +${BILL}: not in `));
    expect(said).toMatch(new RegExp(`${BILL}: No such file`));
    const added = damaged("added", (copy) => writeFileSync(join(copy, "more.tgz"), ""));
    expect((await check(added, ["checksums"])).said).toMatch(/FAILED +checksums +SHA256SUMS does not name more\.tgz\./);
  });

  test("a bill of materials that is incomplete, or not one", async () => {
    const bill = (copy: string): string => join(copy, BILL);
    const without = damaged("without", (copy) => {
      const text = JSON.parse(readFileSync(bill(copy), "utf8")) as { components: { name: string }[] };
      writeFileSync(bill(copy), JSON.stringify({ ...text, components: text.components.filter(({ name }) => name !== "better-sqlite3") }));
    });
    expect((await check(without, ["sbom"])).said).toMatch(
      /FAILED +sbom +.+ does not name pkg:npm\/better-sqlite3@\S+, which package-lock\.json/,
    );
    const other = damaged("other", (copy) => writeFileSync(bill(copy), '{ "bomFormat": "CycloneDX" }'));
    expect((await check(other, ["sbom"])).said).toMatch(/FAILED +sbom +.+ does not follow the schema of CycloneDX 1\.6/);
  });

  test("a package that cannot be installed", async () => {
    const folder = damaged("broken", (copy) => writeFileSync(join(copy, `mailsvc-${version}.tgz`), "not a tarball"));
    const { failed, said } = await check(folder, ["packages"]);
    expect(failed).toBe(1);
    expect(said).toMatch(/FAILED +packages +npm install .+ ended with exit code \d/);
  });
});

test("it is not made while a file of the repository has changes that are not in the last commit", async () => {
  const repository = join(work, "repository");
  const git = (...args: string[]) => run("git", ["-C", repository, "-c", "user.name=x", "-c", "user.email=x@example.com", ...args]);
  mkdirSync(repository);
  await git("init", "--quiet");
  writeFileSync(join(repository, "README.md"), "one");
  await git("add", "README.md");
  await git("commit", "--quiet", "-m", "docs: begin");
  writeFileSync(join(repository, "README.md"), "two");
  await expect(buildRelease(repository)).rejects.toThrow(/these changes are not in it:\n M README\.md\nCommit them/);
});

test("only kinds that exist can be asked for", async () => {
  await expect(check(release, ["snap"])).rejects.toThrow("snap: there is no such kind of artefact. There are packages, binary,");
});
