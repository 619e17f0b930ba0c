import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PositionFile } from "./position-file.ts";

test("positions of several streams that are written in turn are all kept", () => {
  const home = mkdtempSync(join(tmpdir(), "mailsvc-listen-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const open = (workspaceId: string): PositionFile =>
    new PositionFile({ env: {}, platform: "linux", home }, { url: "http://127.0.0.1:2526", workspaceId });
  const [one, other] = [open("ws_1"), open("ws_2")];
  expect(one.read()).toBeNull();
  one.write({ position: 7, done: [] });
  other.write({ position: 3, done: [] });
  one.write({ position: 8, done: [] });
  expect([open("ws_1").read()?.position, open("ws_2").read()?.position, open("ws_3").read()]).toEqual([8, 3, null]);
  const ofAgent = new PositionFile(
    { env: {}, platform: "linux", home },
    { url: "http://127.0.0.1:2526", workspaceId: "ws_1", agent: "writer" },
  );
  expect(ofAgent.read()).toBeNull();
  ofAgent.write({ position: "evt_2", done: ["evt_1", "evt_2"] });
  expect([ofAgent.read(), open("ws_1").read()?.position]).toEqual([{ position: "evt_2", done: ["evt_1", "evt_2"] }, 8]);
});
