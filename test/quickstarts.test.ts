import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "./support/free-port.ts";
import { npmEnvironment } from "./support/npm-user.ts";
import { PageRunner } from "./support/page-runner.ts";
import { usePublishedPackages } from "./support/published.ts";
import { QUICKSTARTS } from "./support/quickstart-pages.ts";
import { type SmtpSink, smtpSink } from "./support/smtp-sink.ts";

/*
 * A newcomer follows each quickstart to the letter: another user, with Node and npm, an empty home and an empty folder. The packages come
 * from a registry, as they are published. `newcomer.test.ts` follows the README in a clone; `docs.test.ts` runs the blocks of all other
 * pages, next to a server that it has prepared.
 */

const root = fileURLToPath(new URL("../", import.meta.url));
const NEWCOMER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

let folder = "";
let nextHop: SmtpSink;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-quickstarts-"));
  chmodSync(folder, 0o755);
  nextHop = await smtpSink(() => 0);
  await usePublishedPackages(folder);
  emptyFolder("cache");
  // npm keeps its compiled code there.
  emptyFolder("tmp");
  // This Node may lie in a folder that only its owner can read.
  mkdirSync(join(folder, "bin"));
  copyFileSync(process.execPath, join(folder, "bin/node"));
  chmodSync(join(folder, "bin/node"), 0o755);
});
afterAll(async () => {
  await nextHop?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A new folder that belongs to the newcomer. */
function emptyFolder(...path: string[]): string {
  const made = join(folder, ...path);
  mkdirSync(made);
  if (NEWCOMER) chownSync(made, NEWCOMER.uid, NEWCOMER.gid);
  return made;
}

test.each(QUICKSTARTS)("%s can be followed to the letter", async (page, seen) => {
  const notes = emptyFolder(page.replaceAll("/", "-"));
  const home = emptyFolder(page.replaceAll("/", "-"), "home");
  const project = emptyFolder(page.replaceAll("/", "-"), "project");
  const [port, agentPort] = [await freePort(), await freePort()];
  const others = (process.env["PATH"] ?? "").split(delimiter).filter((dir) => !dir.startsWith(root));
  const path = [join(folder, "bin"), ...others].join(delimiter);
  const runner = new PageRunner({
    notes,
    project,
    env: {
      ...npmEnvironment(folder, home),
      ...{ PATH: path, SHELL: "/bin/bash", TMPDIR: join(folder, "tmp"), MAILSVC_PORT: `${port}`, PORT: `${agentPort}` },
    },
    addresses: {
      "http://127.0.0.1:2526": `http://127.0.0.1:${port}`,
      "http://127.0.0.1:4000": `http://127.0.0.1:${agentPort}`,
      "smtp://127.0.0.1:1025": nextHop.url,
    },
    // A server without a terminal writes its first keys into a file.
    typed: { "ms_live_…": () => JSON.parse(readFileSync(join(project, "mailsvc-data/first-keys.json"), "utf8")).apiKey },
    user: NEWCOMER,
  });
  expect(await runner.follow(join(root, page))).toMatch(seen);
});
