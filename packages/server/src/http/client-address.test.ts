import { expect, test } from "vitest";
import { parseIpNetwork } from "../lib/ip-network.ts";
import { getClientAddress } from "./client-address.ts";

const PROXIES = ["10.0.0.0/8", "::1"].flatMap((text) => parseIpNetwork(text) ?? []);

test.each([
  ["no proxy is trusted unless a flag says so", "127.0.0.1", "192.0.2.7", [], "127.0.0.1"],
  ["a proxy says for whom it calls", "10.0.0.2", "192.0.2.7", PROXIES, "192.0.2.7"],
  ["an address that is no proxy says nothing", "172.16.0.2", "192.0.2.7", PROXIES, "172.16.0.2"],
  ["of several hops the last one that is no proxy counts", "10.0.0.2", "192.0.2.1, 192.0.2.7, 10.0.0.3", PROXIES, "192.0.2.7"],
  ["what a client made up before is not looked at", "10.0.0.2", "127.0.0.1, 192.0.2.7", PROXIES, "192.0.2.7"],
  ["a chain of proxies alone ends with the first", "10.0.0.2", "10.0.0.4,10.0.0.3", PROXIES, "10.0.0.4"],
  ["what is no address ends the chain", "10.0.0.2", "192.0.2.7, unknown, 10.0.0.3", PROXIES, "10.0.0.3"],
  ["an address with a port is none", "10.0.0.2", "192.0.2.7:5000", PROXIES, "10.0.0.2"],
  ["IPv4 inside IPv6 counts as IPv4", "::ffff:10.0.0.2", "::ffff:192.0.2.7", PROXIES, "192.0.2.7"],
  ["IPv6 addresses are taken", "::1", "2001:db8::7", PROXIES, "2001:db8::7"],
  ["without the header the proxy is the client", "10.0.0.2", null, PROXIES, "10.0.0.2"],
])("%s", (_, remote, forwarded, proxies, client) => {
  expect(getClientAddress(remote, forwarded, proxies)).toBe(client);
});
