import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { type Address, guardedConnector, guardedLookup, type Lookup } from "./connect.ts";

type Answer = { addresses: readonly Address[] } | { code: string };

const ask = (lookup: Lookup, host: string, dev: boolean, all = true): Promise<Answer> =>
  new Promise((resolve) => {
    guardedLookup(lookup, { dev })(host, { all }, (error, address, family) => {
      if (error) resolve({ code: error.code ?? "" });
      else resolve({ addresses: Array.isArray(address) ? address : [{ address, family: family ?? 0 }] });
    });
  });

const of =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

test.each([
  ["10.0.0.1"],
  ["172.16.0.1"],
  ["172.31.255.255"],
  ["192.168.1.1"],
  ["127.0.0.1"],
  ["0.0.0.0"],
  ["169.254.169.254"],
  ["100.64.0.1"],
  ["192.0.2.1"],
  ["198.18.0.1"],
  ["198.51.100.7"],
  ["203.0.113.7"],
  ["224.0.0.1"],
  ["240.0.0.1"],
  ["255.255.255.255"],
  ["::1"],
  ["::"],
  ["fc00::1"],
  ["fd12:3456::1"],
  ["fe80::1"],
  ["ff02::1"],
  ["2001:db8::1"],
  ["::ffff:10.0.0.1"],
  ["::ffff:169.254.169.254"],
  ["64:ff9b::7f00:1"],
  ["2002:7f00:1::"],
])("a name that resolves to %s is not called", async (address) => {
  expect(await ask(of(address), "agent.example.com", false)).toEqual({ code: "BLOCKED_ADDRESS" });
  expect(await ask(of(address), "agent.example.com", false, false)).toEqual({ code: "BLOCKED_ADDRESS" });
});

test("one forbidden address among many blocks a name", async () => {
  expect(await ask(of("93.184.216.34", "10.0.0.1"), "agent.example.com", false)).toEqual({ code: "BLOCKED_ADDRESS" });
  expect(await ask(of("93.184.216.34", "10.0.0.1"), "agent.example.com", false, false)).toEqual({ code: "BLOCKED_ADDRESS" });
});

test("public addresses are passed on unchanged", async () => {
  expect(await ask(of("93.184.216.34", "2606:2800:220:1::1"), "agent.example.com", false)).toEqual({
    addresses: [
      { address: "93.184.216.34", family: 4 },
      { address: "2606:2800:220:1::1", family: 6 },
    ],
  });
  expect(await ask(of("93.184.216.34"), "agent.example.com", false, false)).toEqual({
    addresses: [{ address: "93.184.216.34", family: 4 }],
  });
});

test("a name without an address does not exist", async () => {
  expect(await ask(of(), "agent.example.com", false)).toEqual({ code: "ENOTFOUND" });
});

test("errors of the name servers are passed on", async () => {
  const failing: Lookup = async () => {
    throw Object.assign(new Error("refused"), { code: "ESERVFAIL" });
  };
  expect(await ask(failing, "agent.example.com", false)).toEqual({ code: "ESERVFAIL" });
});

test("localhost is this machine in dev mode and blocked otherwise, without a query", async () => {
  const asked: string[] = [];
  const lookup: Lookup = async (host) => {
    asked.push(host);
    return [{ address: "93.184.216.34", family: 4 }];
  };
  expect(await ask(lookup, "localhost", true)).toEqual({
    addresses: [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ],
  });
  expect(await ask(lookup, "agent.localhost", false)).toEqual({ code: "BLOCKED_ADDRESS" });
  expect(asked).toEqual([]);
});

test("concurrent queries of a name share one answer; the next query is a new one", async () => {
  let asked = 0;
  const answers = [["93.184.216.34"], ["10.0.0.1"]];
  const lookup: Lookup = async () => (answers[asked++] ?? []).map((address) => ({ address, family: 4 }));
  const guarded = guardedLookup(lookup, { dev: false });
  const one = (): Promise<string> =>
    new Promise((resolve) => guarded("agent.example.com", { all: false }, (error, address) => resolve(error?.code ?? String(address))));
  expect(await Promise.all([one(), one(), one()])).toEqual(["93.184.216.34", "93.184.216.34", "93.184.216.34"]);
  // The name resolves to another address by now.
  expect(await one()).toBe("BLOCKED_ADDRESS");
  expect(asked).toBe(2);
});

test("the server does not call itself, whatever the name resolves to", async () => {
  const reach = (remoteAddress: string, remotePort: number): Promise<string> => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, remotePort, destroy: () => {} });
    const build = (() => (_options: unknown, callback: (error: null, socket: unknown) => void) => callback(null, socket)) as never;
    const connect = guardedConnector(build, of("127.0.0.1"), { dev: true, ownPort: 3000 }, 1000);
    return new Promise((resolve) =>
      connect({ hostname: "x.localhost", protocol: "http:", port: String(remotePort) } as never, (...[error]) =>
        resolve(error?.message ?? ""),
      ),
    );
  };
  for (const peer of ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
    expect([peer, await reach(peer, 3000)]).toEqual([peer, "The address is this server itself"]);
  expect(await reach("127.0.0.1", 3001)).toBe("");
});

test("the address of the peer is checked too, and nothing is sent to a forbidden one", async () => {
  const reach = (remoteAddress: string | undefined): Promise<{ code: string; destroyed: boolean }> => {
    let destroyed = false;
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroy: () => void (destroyed = true) });
    // It connects to this peer, whatever was resolved.
    const build = (() => (_options: unknown, callback: (error: null, socket: unknown) => void) => callback(null, socket)) as never;
    const connect = guardedConnector(build, of("93.184.216.34"), { dev: false }, 1000);
    return new Promise((resolve) =>
      connect({ hostname: "agent.example.com", protocol: "https:", port: "443" } as never, (...[error]) =>
        resolve({ code: (error as NodeJS.ErrnoException | null)?.code ?? "", destroyed }),
      ),
    );
  };
  for (const peer of ["10.0.0.1", "127.0.0.1", "::1", "::ffff:169.254.169.254", "fe80::1%eth0"])
    expect([peer, await reach(peer)]).toEqual([peer, { code: "BLOCKED_ADDRESS", destroyed: true }]);
  expect(await reach("93.184.216.34")).toEqual({ code: "", destroyed: false });
  // Reset as soon as it was made: the peer is unknown.
  expect(await reach(undefined)).toEqual({ code: "ECONNRESET", destroyed: true });
});
