import { afterAll, vi } from "vitest";
import type { TestWorld, WorldOptions } from "../src/testing/world.ts";
import { borrowPool, createDatabase, dropDatabases, isMigrated } from "./postgres.ts";

// The same tests once more: every world they make has its own Postgres database.
vi.mock("../src/testing/world.ts", async (importOriginal) => {
  const original = await importOriginal<typeof import("../src/testing/world.ts")>();
  const createWorld = async (options: WorldOptions = {}): Promise<TestWorld> => {
    if (options.databaseUrl !== undefined) return original.createWorld(options);
    const database = await createDatabase();
    const world = await original.createWorld({ ...options, databaseUrl: database.url });
    const close = world.dispose;
    let dropped: Promise<void> | undefined;
    const dispose = (): Promise<void> => {
      dropped ??= close().then(database.drop);
      return dropped;
    };
    // Not a copy: `builder` throws when it is read outside dev mode.
    return Object.assign(world, { dispose, [Symbol.asyncDispose]: dispose });
  };
  return { ...original, createWorld };
});

// Looking for migrations takes a third of the time in which a world begins, and new connections most of the rest.
vi.mock("../src/backend.pg.ts", async (importOriginal) => {
  const { postgresBackend } = await importOriginal<typeof import("../src/backend.pg.ts")>();
  const migratedBackend: typeof postgresBackend = (url, options) =>
    postgresBackend(url, { ...(isMigrated(url) && { migrate: false, pool: borrowPool(url) }), ...options });
  return { postgresBackend: migratedBackend };
});

afterAll(dropDatabases);
