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
  one.write(7);
  other.write(3);
  one.write(8);
  expect([open("ws_1").read(), open("ws_2").read(), open("ws_3").read()]).toEqual([8, 3, null]);
});
