import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { type RunningServer, serve } from "../serve.ts";
import { DiskReserve, RESERVE_FILE } from "./disk-watch.ts";

const MB = 1024 * 1024;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "mailsvc-reserve-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("the reserve is kept while there is room for it, given up on a full disk, and kept again afterwards", async () => {
  const at = folder();
  const file = join(at, RESERVE_FILE);
  const errors: string[] = [];
  let free = 110 * MB;
  const log = { ...silentLog, error: (message: string) => void errors.push(message) };
  const reserve = new DiskReserve({ folder: at, log, isKept: true, readFree: async () => free });
  const adjust = () => reserve.adjust(100 * MB);
  const size = () => statSync(file, { throwIfNoEntry: false })?.size ?? null;
  expect([await adjust(), size()]).toEqual([110 * MB, null]);
  free = 200 * MB;
  expect([await adjust(), size(), statSync(file).mode & 0o777]).toEqual([184 * MB, 16 * MB, 0o600]);
  free = 50 * MB;
  expect([await adjust(), size(), errors]).toEqual([50 * MB, 16 * MB, []]);
  free = 0;
  expect([await adjust(), await adjust(), size()]).toEqual([0, 0, 0]);
  expect(errors).toEqual([expect.stringContaining("its reserve is given up")]);
  // The space of the reserve is not for new mail.
  free = 110 * MB;
  expect([await adjust(), size()]).toEqual([94 * MB, 0]);
  free = 116 * MB;
  expect([await adjust(), size()]).toEqual([100 * MB, 16 * MB]);
  rmSync(file);
  const none = new DiskReserve({ folder: at, log, isKept: false, readFree: async () => 200 * MB });
  expect([await none.adjust(100 * MB), size()]).toEqual([200 * MB, null]);
});

/** A disk of 64 MB of its own. */
function smallDisk(): string {
  const path = folder();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", path]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", path]));
  return path;
}

/** Takes every byte that is left; answers how to give them back. */
function fill(disk: string): () => void {
  const file = join(disk, "others");
  const fd = openSync(file, "w");
  for (const size of [MB, 4096, 1])
    try {
      for (;;) writeSync(fd, Buffer.alloc(size, 1));
    } catch (error) {
      expect(error).toMatchObject({ code: "ENOSPC" });
    }
  closeSync(fd);
  return () => rmSync(file);
}

const canMount = process.platform === "linux" && process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "true"]).status === 0;

test.runIf(canMount)(
  "a server that is started on a full disk reads and deletes, says so, and takes mail again when there is room",
  async () => {
    const disk = smallDisk();
    const data = join(disk, "data");
    const start = async (): Promise<RunningServer> => {
      const flags = { port: "0", data, "min-free-disk": "10", "trust-sender": "acme.example" };
      const server = await serve(readConfig({ flags, env: {}, dev: false }), silentLog);
      onTestFinished(() => server.close());
      return server;
    };
    const first = await start();
    const { apiKey } = first;
    const sdkOf = ({ url }: RunningServer) => new Mailsvc({ apiKey: apiKey ?? "", baseUrl: url, maxRetries: 0 });
    for (const email of ["ada@example.com", "grace@example.com"]) await sdkOf(first).contacts.create({ email });
    const reserved = () => statSync(join(data, RESERVE_FILE)).size;
    expect(reserved()).toBe(16 * MB);
    await first.close();

    const makeRoom = fill(disk);
    const second = await start();
    const sdk = sdkOf(second);
    const { data: contacts } = await sdk.contacts.list();
    expect(contacts).toHaveLength(2);
    await sdk.contacts.delete(contacts[0]?.id ?? "");
    expect((await sdk.contacts.list()).pagination.total).toBe(1);
    expect(reserved()).toBe(0);
    await expect(sdk.contacts.create({ email: "new@example.com" })).rejects.toMatchObject({ code: "storage_unavailable" });
    const readiness = async () =>
      (await fetch(`${second.url}/readyz`, { headers: { authorization: `Bearer ${second.operatorKey}` } })).status;
    expect(await readiness()).toBe(503);
    expect(second.app.deps.storage.problem).toContain("The disk is nearly full");

    makeRoom();
    await vi.waitFor(async () => expect(await readiness()).toBe(200), { timeout: 30_000, interval: 100 });
    await sdk.contacts.create({ email: "new@example.com" });
    expect(reserved()).toBe(16 * MB);
  },
);
