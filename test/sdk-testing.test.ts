import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectLocal, type LocalServer, startLocal, toHaveSent } from "@mailsvc/sdk/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { cleanEnvironment, until } from "./dev-server.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const mail = { from: "hello@acme.example", to: "ada@example.com", subject: "Sign in", text: "Your code is 471123." };

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("a server that a test starts", () => {
  let server: LocalServer;
  beforeAll(async () => {
    server = await startLocal({ cwd: root, now: "2030-01-31T09:00:00Z", seed: 1 });
  });
  afterAll(() => server.close());

  test("has an inbox and a clock, and knows what was not sent", async () => {
    await server.sdk.emails.send(mail);
    await server.sdk.emails.send({ ...mail, to: "grace@example.com", scheduledAt: "2030-02-01T09:00:00Z" });
    const received = await server.inbox.waitFor({ to: "ada@example.com" });
    expect(received.code()).toBe("471123");
    expect(await toHaveSent(server, { to: "ada@example.com", text: /code/ })).toMatchObject({ pass: true });
    expect(await toHaveSent(server, { to: "grace@example.com" })).toMatchObject({ pass: false });
    await server.clock.advance("1d");
    expect(await server.clock.now()).toBe(Date.parse("2030-02-01T09:00:00Z"));
    expect(await toHaveSent(server, { to: "grace@example.com" })).toMatchObject({ pass: true });
    await expect(server.inbox.waitFor({ to: "nobody@example.com", timeout: 0 })).rejects.toThrow(
      /^No mail matches {"to":"nobody@example.com"} after 0 seconds\. These were sent:\n {2}to ada@example\.com: Sign in/,
    );
    await server.reset();
    expect(await server.inbox.all()).toEqual([]);
  });

  test("is found by a program that gets its variables", async () => {
    vi.stubEnv("MAILSVC_URL", server.env["MAILSVC_URL"]);
    vi.stubEnv("MAILSVC_API_KEY", server.env["MAILSVC_API_KEY"]);
    await using connected = await connectLocal();
    expect(connected.url).toBe(server.url);
    await connected.sdk.emails.send({ ...mail, to: "linus@example.com" });
    expect(await connected.inbox.all({ to: "linus@example.com" })).toHaveLength(1);
  });
});

test("a server of a test takes no settings of the environment", async () => {
  vi.stubEnv("MAILSVC_DATABASE_URL", "postgres://127.0.0.1:1/production");
  vi.stubEnv("MAILSVC_KEEP", "nothing that can be read");
  const lines: string[] = [];
  await using server = await startLocal({ cwd: root, onLog: (text) => lines.push(text) });
  expect(await server.inbox.all()).toEqual([]);
  expect(lines.join("")).not.toContain("MAILSVC_DATABASE_URL");
});

test("a server whose mail leaves through a relay does not say that none was sent", async () => {
  await using server = await startLocal({ cwd: root, flags: ["--smtp-url", "smtp://127.0.0.1:9"] });
  await expect(toHaveSent(server, { to: "ada@example.com" })).rejects.toThrow("Mail leaves this server through a relay");
  await expect(server.inbox.all()).rejects.toThrow("Mail leaves this server through a relay");
});

test("a server that does not start says why", async () => {
  await expect(startLocal({ cwd: root, flags: ["--relays", "/nowhere.json"] })).rejects.toThrow(
    /The dev server did not start:.*\n.*\/nowhere\.json/s,
  );
});

test("a project without mailsvc is told what to install", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bare-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await expect(startLocal({ cwd: folder })).rejects.toThrow("npm install --save-dev mailsvc");
});

test("a server ends with the tests that started it, also when they are killed", async () => {
  const code = `import { readFileSync } from "node:fs";
    import { startLocal } from "@mailsvc/sdk/testing";
    const { sdk } = await startLocal();
    await sdk.inbox.list();
    console.log(readFileSync("/proc/self/task/" + process.pid + "/children", "utf8"));
    setInterval(() => {}, 1000);`;
  const tests = spawn(process.execPath, ["--input-type=module", "-e", code], {
    cwd: root,
    env: cleanEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void tests.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: tests.stdout }), "line")) as [string];
  const pid = Number(line.trim());
  expect(isAlive(pid)).toBe(true);
  tests.kill("SIGKILL");
  await until("the end of the server", () => !isAlive(pid));
});
