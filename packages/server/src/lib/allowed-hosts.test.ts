import { expect, test } from "vitest";
import { AllowedHosts } from "./allowed-hosts.ts";

const fail = (part: string): never => {
  throw new Error(part);
};
const LIST = "hooks.internal, Agents, *.svc.cluster.local,10.0.0.0/8,192.168.1.7,fd00::/8,::1";

test.each([
  ["hooks.internal", true],
  ["HOOKS.internal.", true],
  ["agents", true],
  ["a.svc.cluster.local", true],
  ["a.b.svc.cluster.local", true],
  ["svc.cluster.local", false],
  ["xhooks.internal", false],
  ["a.hooks.internal", false],
  ["10.0.0.1", false],
])("the name %s is in the list: %s", (name, expected) => {
  expect(new AllowedHosts(LIST, fail).hasName(name)).toBe(expected);
});

test.each([
  ["10.255.0.1", true],
  ["::ffff:10.0.0.1", true],
  ["11.0.0.1", false],
  ["192.168.1.7", true],
  ["192.168.1.8", false],
  ["fd12:3456::1", true],
  ["fe80::1", false],
  ["::1", true],
  ["127.0.0.1", false],
  ["nonsense", false],
])("the address %s is in the list: %s", (ip, expected) => {
  expect(new AllowedHosts(LIST, fail).hasAddress(ip)).toBe(expected);
});

test.each([
  "",
  "10.0.0.0/33",
  "10.1",
  "10",
  "999.1.1.1",
  "http://hooks.internal",
  "hooks.internal:8080",
  "*",
  "a.*.b",
  "-a",
  "a b",
  "fd00::/129",
])("%j is refused by its text", (part) => {
  expect(() => new AllowedHosts(`hooks.internal,${part}`, fail)).toThrow(part);
});
