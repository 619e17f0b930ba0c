import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_URL, Mailsvc } from "./index.ts";

let project: string;
const file = { url: "http://127.0.0.1:4711", apiKey: "ms_dev_x", pid: process.pid };

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "mailsvc-sdk-"));
  mkdirSync(join(project, ".mailsvc"));
  mkdirSync(join(project, "src"));
  vi.spyOn(process, "cwd").mockReturnValue(join(project, "src"));
  for (const name of ["MAILSVC_URL", "MAILSVC_API_KEY", "NODE_ENV"]) vi.stubEnv(name, "");
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(project, { recursive: true, force: true });
});

function write(content: object, mode = 0o600): void {
  writeFileSync(join(project, ".mailsvc/dev.json"), JSON.stringify(content), { mode });
}

describe("a running dev server", () => {
  test("is found above the working folder by a client without options", () => {
    write(file);
    expect(new Mailsvc().baseUrl).toBe(file.url);
  });

  test.each<[string, () => Mailsvc]>([
    ["options name another server", () => new Mailsvc({ baseUrl: DEFAULT_URL })],
    ["options give a key", () => new Mailsvc({ apiKey: "ms_live_x" })],
    ["the transport is a test's own", () => new Mailsvc({ fetch: async () => Response.json({}) })],
  ])("is not used when %s", (_when, create) => {
    write(file);
    expect(create().baseUrl).toBe(DEFAULT_URL);
  });

  test("is not used in production", () => {
    write(file);
    vi.stubEnv("NODE_ENV", "production");
    expect(new Mailsvc().baseUrl).toBe(DEFAULT_URL);
  });

  test.each<[string, object, number?]>([
    ["on another machine", { ...file, url: "http://mail.example" }],
    ["that is gone", { ...file, pid: 2 ** 30 }],
    ["without a key", { ...file, apiKey: null }],
    ["of pid 0", { ...file, pid: 0 }],
    ["of pid -1", { ...file, pid: -1 }],
    ["of pid 1", { ...file, pid: 1 }],
    ["of a pid that is no integer", { ...file, pid: process.pid + 0.5 }],
    ["of a pid in words", { ...file, pid: String(process.pid) }],
    ["in a file that others can read", file, 0o644],
    ["in a file that others can write", file, 0o666],
  ])("%s is ignored", (_what, content, mode) => {
    const mask = process.umask(0);
    write(content, mode);
    process.umask(mask);
    expect(new Mailsvc().baseUrl).toBe(DEFAULT_URL);
  });
});
