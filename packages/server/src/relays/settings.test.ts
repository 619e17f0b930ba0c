import { NewRelay, RELAY_SECRETS } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { joinSecrets, type RelaySettings, splitSecrets, toDkimKeys } from "./settings.ts";

const KEY = { domain: "Acme.example", selector: "s", privateKey: "pem" };
const keysOf = (relay: object, ofServer: Parameters<typeof toDkimKeys>[1] = []) =>
  toDkimKeys({ name: "r", host: "mail.example", ...relay }, ofServer, "ws_first").map(({ domain, workspaces }) => [domain, workspaces]);

test("a DKIM key signs for the workspaces it names, else for that of its relay, else for the first one", () => {
  expect(keysOf({}, [KEY])).toEqual([["acme.example", ["ws_first"]]]);
  expect(keysOf({ workspaceId: "ws_own" }, [KEY])).toEqual([["acme.example", ["ws_first"]]]);
  expect(keysOf({ dkim: [KEY] })).toEqual([["acme.example", ["ws_first"]]]);
  expect(keysOf({ dkim: [KEY], workspaceId: "ws_own" })).toEqual([["acme.example", ["ws_own"]]]);
  expect(keysOf({ dkim: [{ ...KEY, workspaces: ["ws_2"] }], workspaceId: "ws_own" })).toEqual([["acme.example", ["ws_2"]]]);
  expect(keysOf({}, [{ ...KEY, workspaces: "all" }])).toEqual([["acme.example", null]]);
  expect(keysOf({ dkim: [] }, [KEY])).toEqual([]);
});

test("--dkim names workspaces at its end, after a path that may hold colons", () => {
  const read = (dkim: string) => readConfig({ flags: { dkim }, env: {}, dev: false }).dkim;
  expect(read("a.example:s:dkim.pem")).toEqual([{ domain: "a.example", selector: "s", keyFile: "dkim.pem" }]);
  expect(read("a.example:s:C:\\keys\\dkim.pem,b.example:s:/k/all:ws_1+ws_2")).toEqual([
    { domain: "a.example", selector: "s", keyFile: "C:\\keys\\dkim.pem" },
    { domain: "b.example", selector: "s", keyFile: "/k/all", workspaces: ["ws_1", "ws_2"] },
  ]);
  expect(read("a.example:s:dkim.pem:all")).toMatchObject([{ keyFile: "dkim.pem", workspaces: "all" }]);
  expect(() => read("a.example:s")).toThrow("--dkim takes");
});

test("each setting that sounds like a secret is one", () => {
  const sounding = Object.keys(NewRelay.shape).filter((name) => /secret|password|token$|key$/i.test(name));
  expect(sounding.sort()).toEqual([...RELAY_SECRETS].sort());
});

test("no secret is among what is stored open, and joining gives the settings as they were", () => {
  const secrets = Object.fromEntries(RELAY_SECRETS.map((name) => [name, `hidden ${name}`]));
  const key = { domain: "acme.example", selector: "s", privateKey: "hidden key" };
  const settings: RelaySettings = { name: "acme", host: "mail.example.com", user: "u", ...secrets, dkim: [key] };
  const { open, secrets: sealed } = splitSecrets(settings);
  expect(JSON.stringify(open)).not.toContain("hidden");
  expect(joinSecrets(open, sealed)).toEqual(settings);
});
