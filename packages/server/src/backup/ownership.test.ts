import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../db/sqlite/database.ts";
import { createBackup, recoverOwnerKey, restoreBackup } from "../maintenance.ts";
import { sqliteSchema } from "../schema.sqlite.ts";

const OTHER = 12_345;

const root = (): string => {
  const path = mkdtempSync(join(tmpdir(), "mailsvc-owner-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

/** A backup of a folder that has a workspace and a key. */
async function backup(folder: string): Promise<string> {
  const data = join(folder, "data");
  const db = await openSqlite(data, sqliteSchema, { synchronous: "OFF" });
  await db.tx(async (tx) => {
    await tx.insert(tx.t.workspaces).values({ id: "ws_1", name: "Acme", replies: false, createdAt: 1 });
    await tx.insert(tx.t.meta).values({ name: "firstWorkspace", value: "ws_1" });
  });
  await db.close();
  writeFileSync(join(data, "secret.key"), `${Buffer.alloc(32, 7).toString("base64")}\n`);
  const { file } = await createBackup({ data, databaseUrl: null, target: join(folder, "monday.backup") });
  return file;
}

test.runIf(process.getuid?.() === 0)(
  "what root makes in the folder of another user belongs to that user, and to nobody besides",
  async () => {
    const folder = root();
    const file = await backup(folder);
    const service = join(folder, "service");
    mkdirSync(service);
    chownSync(service, OTHER, OTHER);
    await restoreBackup({ data: service, databaseUrl: null, file });
    await recoverOwnerKey({ data: service, databaseUrl: null, workspaceId: null });
    await createBackup({ data: service, databaseUrl: null, target: service });
    const files = readdirSync(service);
    expect(files).toEqual(expect.arrayContaining(["mailsvc.db", "secret.key", "server.lock", "server.pid"]));
    for (const name of files) {
      const { uid, gid, mode } = statSync(join(service, name));
      expect([name, uid, gid, mode & 0o777]).toEqual([name, OTHER, OTHER, 0o600]);
    }
  },
);

test.runIf(process.getuid?.() !== 0)("a database that its user may not write is named with its code and the way out", async () => {
  const folder = root();
  await backup(folder);
  const data = join(folder, "data");
  chmodSync(join(data, "mailsvc.db"), 0o400);
  await expect(openSqlite(data, sqliteSchema)).rejects.toMatchObject({
    name: "StorageUnavailable",
    message: expect.stringContaining("must be able to write to it"),
  });
});
