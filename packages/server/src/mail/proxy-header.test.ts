import { describe, expect, test } from "vitest";
import { parseProxyHeader } from "./proxy-header.ts";

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");

/** A header of version 2: version and command, family, addresses and ports, TLVs. */
function binary(command: number, family: number, addresses: readonly number[], tlvs: readonly number[] = []): Buffer {
  const size = addresses.length + tlvs.length;
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, size >> 8, size & 255, ...addresses, ...tlvs])]);
}

const V4 = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0, 25];
const V6 = [0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1, ...Array(15).fill(0), 1, 0xdc, 0x04, 0, 25];

describe("a header of the PROXY protocol", () => {
  test.each([
    ["PROXY TCP4 192.0.2.1 198.51.100.1 56324 25\r\n", { address: "192.0.2.1", port: 56_324 }],
    ["PROXY TCP6 2001:db8::1 ::1 56324 25\r\n", { address: "2001:db8::1", port: 56_324 }],
    ["PROXY TCP6 ::ffff:192.0.2.1 ::1 0 65535\r\n", { address: "192.0.2.1", port: 0 }],
    ["PROXY UNKNOWN\r\n", null],
    ["PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n", null],
  ])("of version 1 names the peer: %j", (text, peer) => {
    expect(parseProxyHeader(Buffer.from(`${text}EHLO x\r\n`))).toEqual({ length: text.length, peer });
  });

  test.each([
    ["PROXY over IPv4", binary(0x21, 0x11, V4), { address: "192.0.2.1", port: 56_324 }],
    ["PROXY over IPv6", binary(0x21, 0x21, V6), { address: "2001:db8::1", port: 56_324 }],
    ["TLVs after the addresses", binary(0x21, 0x11, V4, [0x04, 0, 2, 0, 0, 0xea, 0, 1, 7]), { address: "192.0.2.1", port: 56_324 }],
    ["LOCAL, as health checks send", binary(0x20, 0x00, []), null],
    ["LOCAL with addresses, which do not count", binary(0x20, 0x11, V4), null],
    ["a peer that the proxy does not know", binary(0x21, 0x00, []), null],
  ])("of version 2: %s", (_, bytes, peer) => {
    expect(parseProxyHeader(Buffer.concat([bytes, Buffer.from("EHLO x\r\n")]))).toEqual({ length: bytes.length, peer });
  });

  test("may come in any number of packets", () => {
    for (const whole of [Buffer.from("PROXY TCP4 192.0.2.1 198.51.100.1 56324 25\r\n"), binary(0x21, 0x21, V6, [0x04, 0, 0])])
      for (let length = 0; length < whole.length; length += 1) expect(parseProxyHeader(whole.subarray(0, length))).toBe("incomplete");
  });

  test.each([
    ["EHLO mx.example.com\r\n"],
    ["GET / HTTP/1.1\r\n"],
    ["PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n"],
    ["PROXY TCP4 192.0.2.1 198.51.100.1 56324 25 7\r\n"],
    ["PROXY TCP4 192.0.2.1 198.51.100.1 65536 25\r\n"],
    ["PROXY TCP4 192.0.2.1 198.51.100.1 056 25\r\n"],
    ["PROXY TCP4 2001:db8::1 ::1 56324 25\r\n"],
    ["PROXY TCP4 192.0.2.256 198.51.100.1 1 25\r\n"],
    ["PROXY TCP4 3221225985 198.51.100.1 1 25\r\n"],
    ["PROXY TCP5 192.0.2.1 198.51.100.1 1 25\r\n"],
    ["PROXY  TCP4 192.0.2.1 198.51.100.1 1 25\r\n"],
    [`PROXY UNKNOWN ${"x".repeat(200)}\r\n`],
    [`PROXY ${"x".repeat(200)}`],
  ])("is refused: %j", (text) => {
    expect(parseProxyHeader(Buffer.from(text))).toBe("invalid");
  });

  test.each([
    ["another version", binary(0x11, 0x11, V4)],
    ["another command", binary(0x22, 0x11, V4)],
    ["datagrams", binary(0x21, 0x12, V4)],
    ["sockets of a machine", binary(0x21, 0x31, V4)],
    ["fewer bytes than the addresses take", binary(0x21, 0x21, V4)],
    ["more bytes than a proxy sends", Buffer.concat([SIGNATURE, Buffer.from([0x21, 0x11, 0xff, 0xff])])],
  ])("of version 2 is refused: %s", (_, bytes) => {
    expect(parseProxyHeader(bytes)).toBe("invalid");
  });
});
