import { setTimeout as sleep } from "node:timers/promises";
import type { SqliteDb } from "../../../packages/server/src/db/sqlite/database.ts";
import { formatKeys, type MasterKeys, parseKeys } from "../../../packages/server/src/lib/master-keys.ts";
import { isKeyRotated, recoverOperatorKey, rotateMasterKey } from "../../../packages/server/src/maintenance.ts";
import { NOUNS } from "../nouns.ts";
import type { Pick } from "../script.ts";
import type { Moment } from "../server.ts";
import type { Universe } from "../universe.ts";
import { DAY, type Disturbance, done, HOUR, verb } from "./disturbance.ts";

/** Kills a server at one of its next transactions, which time brings if nothing else does. */
function kill(moment: Moment): Disturbance {
  return async (u, _thing, pick) => {
    pick.of(...u.servers).killAt(pick.int(1, 30), moment);
    await u.pass(pick.of(0, 1000, HOUR));
    return true;
  };
}

/** Lets the databases of all servers be full while `meanwhile` happens. */
async function withFullDisk(u: Universe, meanwhile: () => Promise<unknown>): Promise<void> {
  const set = async (full: boolean): Promise<void> => {
    for (const server of u.servers) {
      server.isFull = full;
      const { db } = server.world.app.deps;
      // A database that may have no further page takes what fits into those that it has.
      if (db.engine === "sqlite")
        await (db as SqliteDb).exclusive((connection) => connection.pragma(`max_page_count = ${full ? 1 : 1_073_741_823}`));
    }
  };
  u.mayFail = true;
  await set(true);
  await meanwhile();
  // Work whose outcome cannot be stored is tried again until it can: time stands still until then.
  const passing = u.pass(60_000);
  await Promise.race([passing, sleep(30)]);
  await set(false);
  await passing;
  u.mayFail = false;
}

/** The keys as if all that is dated in them had been so much earlier, ms. */
function age({ next, resealingSince, old, ...rest }: MasterKeys, by: number): MasterKeys {
  const earlier = <One extends { readonly since: number }>(one: One): One => ({ ...one, since: one.since - by });
  return { ...rest, next: next && earlier(next), resealingSince: resealingSince && resealingSince - by, old: old.map(earlier) };
}

const ageKeys = (u: Universe, by: number): Promise<void> =>
  u.changeMasterKeys((text) => {
    const keys = parseKeys(text);
    return keys === null ? text : formatKeys(age(keys, by));
  });

/** Lets each server look for a new master key. One that is to be killed may die of it. */
async function lookForKeys(u: Universe): Promise<void> {
  for (const { world } of u.servers) await u.call(() => world.app.deps.keyRotation.look());
}

async function turnMasterKey(u: Universe, pick: Pick, between: () => Promise<unknown>): Promise<boolean> {
  const location = { data: u.place.folder, databaseUrl: u.place.databaseUrl };
  if (!(await isKeyRotated(location))) return false;
  // Afterwards the old keys are given up, now and then: nothing may need them any more.
  for (const forget of pick.oneIn(2) ? [false, true] : [false]) {
    if (forget) {
      // Answers that they have sealed are kept for a day.
      await u.pass(25 * HOUR);
      await ageKeys(u, 2 * DAY);
    }
    await rotateMasterKey({ ...location, forget });
    for (let step = 0; step < 4 && !(await isKeyRotated(location)); step += 1) {
      await lookForKeys(u);
      await between();
      // Other servers must have learnt of them.
      await ageKeys(u, HOUR);
    }
    await lookForKeys(u);
    if (!(await isKeyRotated(location))) return false;
  }
  return true;
}

/** Actions of operators on servers, their data and their keys, and accidents of machines. */
export const INSTALLATION_DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  killBeforeCommit: kill("before"),
  killAfterCommit: kill("after"),
  killNow: (u, _thing, pick) => done(u.kill(pick.int(0, 1))),
  restart: (u) => done(u.restart()),
  restartTwice: async (u) => {
    await u.restart();
    await u.restart();
    return true;
  },
  // With two servers the other one does all the work meanwhile.
  serverAway: (u, _thing, pick) => done(u.without(pick.int(0, 1), () => u.pass(pick.of(0, HOUR, 2 * DAY)))),
  // All servers are down, and find much that is overdue.
  month: (u) => done(u.sleep(32 * DAY)),
  snapshot: async (u, _thing, pick) => {
    const { world: dev } = u.sdk("a");
    if (!(await u.value(() => dev.snapshot({ name: "before" })))) return false;
    await u.pass(pick.of(0, HOUR));
    let restored: unknown = null;
    await u.rewind(async () => void (restored = await u.value(() => dev.restore({ name: "before" }))));
    return restored !== null;
  },
  // Nothing happens between the backup and its restore, so nothing may differ.
  backup: async (u) => {
    await u.settle();
    const file = await u.backUp();
    await u.relocate((places, { databaseUrl }) => places.restore(file, databaseUrl === null ? "sqlite" : "postgres"));
    return true;
  },
  oldBackup: async (u, thing, pick) => {
    const file = await u.backUp();
    await verb(pick.of("edit", "pause", "cancel", "delete"))(u, thing, pick);
    await u.pass(pick.of(0, HOUR, DAY));
    await u.rewind(() => u.relocate((places, { databaseUrl }) => places.restore(file, databaseUrl === null ? "sqlite" : "postgres")));
    return true;
  },
  move: (u) => done(u.relocate((places, from) => places.move(from))),
  moveAndBack: async (u, _thing, pick) => {
    await u.relocate((places, from) => places.move(from));
    await u.pass(pick.of(0, HOUR));
    await u.relocate((places, from) => places.move(from));
    return true;
  },
  masterKey: (u, thing, pick) => turnMasterKey(u, pick, () => verb(pick.of("edit", "pause", "resume", "rotate"))(u, thing, pick)),
  operatorKey: (u) =>
    done(
      u.relocate(async (_places, place) => {
        u.operatorKey = await recoverOperatorKey({ data: place.folder, databaseUrl: place.databaseUrl });
        return place;
      }),
    ),
  fullDisk: (u, thing, pick) =>
    done(
      withFullDisk(u, async () => {
        await verb("edit")(u, thing, pick);
        await NOUNS["mail"]?.make({ universe: u, tenant: thing.tenant, pick, label: "mail-on-a-full-disk" });
      }),
    ),
};
