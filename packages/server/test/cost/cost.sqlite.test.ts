import { expect, onTestFinished, test } from "vitest";
import { createWorld } from "../../src/testing/world.ts";
import { smtpPeer } from "../smtp-peer.ts";
import { checkCosts, deliver, rowOf } from "./cost.ts";
import { listExecuted } from "./functions.ts";
import { meterSqlite } from "./sqlite-meter.ts";

test("a captured mail costs what docs/scaling.md says", async () => {
  using meter = meterSqlite();
  await using world = await createWorld();
  await checkCosts(world, meter, "SQLite", "captured");
});

test("a mail by SMTP costs what docs/scaling.md says", async () => {
  using meter = meterSqlite();
  const peer = await smtpPeer();
  onTestFinished(() => peer.close());
  await using world = await createWorld({ flags: { "smtp-url": `smtp://127.0.0.1:${peer.port}` } });
  await checkCosts(world, meter, "SQLite", "by SMTP");
});

test("a captured mail runs no more functions, in no more rooms, than docs/scaling.md says", async () => {
  await using world = await createWorld();
  await deliver(world, ["first"]);
  const { functions, rooms } = await listExecuted(10, (turn) => deliver(world, [`alone${turn}`]));
  const [most = 0, mostRooms = 0] = rowOf("a captured mail, alone");
  expect(functions.length, functions.join("\n")).toBeLessThanOrEqual(most);
  expect(functions.length, "the page may say a lower number").toBeGreaterThan(most * 0.9);
  expect(rooms.length, rooms.join(" ")).toBeLessThanOrEqual(mostRooms);
});
