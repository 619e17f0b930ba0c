import { expect, test } from "vitest";
import { parseIpNetwork } from "./ip-network.ts";

function isIn(ip: string, text: string): boolean {
  const network = parseIpNetwork(text);
  if (network === null) throw new Error(`${text} is no network.`);
  return network.has(ip);
}

test.each([
  ["10.0.0.2", "10.0.0.2", true],
  ["10.0.0.3", "10.0.0.2", false],
  ["10.9.9.9", "10.0.0.0/8", true],
  ["10.9.9.9", "10.0.0.5/8", true],
  ["11.0.0.0", "10.0.0.0/8", false],
  ["::ffff:10.0.0.2", "10.0.0.2", true],
  ["10.0.0.2", "::ffff:10.0.0.2", true],
  ["10.9.9.9", "::ffff:10.0.0.0/104", true],
  ["::1", "::1", true],
  ["0:0:0:0:0:0:0:1", "::1", true],
  ["fd00::9", "fd00::/8", true],
  ["fe80::1%eth0", "fe80::1", true],
  ["::1", "127.0.0.1", false],
  ["", "127.0.0.1", false],
  ["nonsense", "0.0.0.0/0", false],
])("%j in %s: %s", (ip, text, expected) => {
  expect(isIn(ip, text)).toBe(expected);
});

test.each([
  "",
  "10",
  "10.0",
  "10.1/16",
  "010.0.0.2",
  "010.0.0.0/8",
  "0x7f000001",
  "[::1]",
  "localhost",
  "127.0.0.1:80",
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0.0/8/8",
  "::/129",
  "10.0.0.0/-1",
])("%j is no network", (text) => {
  expect(parseIpNetwork(text)).toBe(null);
});
