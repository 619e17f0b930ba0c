import type { Socket } from "node:net";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Clock } from "../lib/clock.ts";
import { SECOND } from "../lib/units.ts";

/** Client that connected to a proxy. */
interface ProxiedPeer {
  readonly address: string;
  readonly port: number;
}

/**
 * Result of reading the first bytes of a connection: incomplete; invalid (no header of the PROXY protocol, or a wrong one); or a
 * header of `length` bytes. `peer` is null where the proxy speaks for itself (LOCAL), or does not know the peer (UNKNOWN,
 * AF_UNSPEC).
 */
type ProxyHeader = "incomplete" | "invalid" | { readonly length: number; readonly peer: ProxiedPeer | null };

const V1_START = Buffer.from("PROXY ");
// With its line end, by the specification.
const V1_BYTES = 107;
const V2_START = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const V2_HEAD = 16;
// Addresses and TLVs. Proxies that add certificates stay below a kilobyte or two.
const V2_BYTES = 4096;
// A proxy has the header at hand when it connects.
const HEADER_MS = 5 * SECOND;

/** Reads the header of the PROXY protocol, version 1 or 2, at the beginning of a connection. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsLike(bytes, V1_START)) return bytes.length < V1_START.length ? "incomplete" : parseText(bytes);
  if (startsLike(bytes, V2_START)) return bytes.length < V2_HEAD ? "incomplete" : parseBinary(bytes);
  return "invalid";
}

/**
 * Takes the header of the PROXY protocol off a connection. From then on the connection has the address and port of the peer that the header
 * names. Resolves to false when the header is missing, wrong, too long or late: then nobody knows who it is, and it must be closed.
 */
export function takeProxyHeader(socket: Socket, real: Clock["real"]): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const done = (taken: boolean): void => {
      late.cancel();
      socket.off("readable", read).off("close", gone).off("end", gone);
      resolve(taken);
    };
    const gone = (): void => done(false);
    const late = real.after(HEADER_MS, gone);
    const read = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, chunk]);
        const header = parseProxyHeader(bytes);
        if (header === "incomplete") continue;
        if (header !== "invalid") {
          if (bytes.length > header.length) socket.unshift(bytes.subarray(header.length));
          if (header.peer) rename(socket, header.peer);
        }
        done(header !== "invalid");
        break;
      }
    };
    socket.on("readable", read).on("close", gone).on("end", gone);
  });
}

function rename(socket: Socket, { address, port }: ProxiedPeer): void {
  Object.defineProperties(socket, { remoteAddress: { value: address }, remotePort: { value: port } });
}

function startsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

/** Version 1: `PROXY TCP4 192.0.2.1 198.51.100.1 56324 25`. */
function parseText(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, V1_BYTES).indexOf("\r\n");
  if (end === -1) return bytes.length < V1_BYTES ? "incomplete" : "invalid";
  const [, family, source = "", destination = "", port, ...rest] = bytes.toString("latin1", 0, end).split(" ");
  const length = end + 2;
  if (family === "UNKNOWN") return { length, peer: null };
  const version = family === "TCP4" ? 4 : family === "TCP6" ? 6 : 0;
  if (version === 0 || isIP(source) !== version || isIP(destination) !== version || rest.length !== 1) return "invalid";
  const [peerPort, ownPort] = [port, rest[0]].map(parsePort);
  return peerPort == null || ownPort == null ? "invalid" : { length, peer: { address: ipaddr.process(source).toString(), port: peerPort } };
}

function parsePort(text: string | undefined): number | null {
  return text !== undefined && /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535 ? Number(text) : null;
}

/**
 * Version 2: twelve fixed bytes, version and command, family, the length of the rest; then addresses, ports and TLVs, which are skipped.
 */
function parseBinary(bytes: Buffer): ProxyHeader {
  const [versionAndCommand = 0, family = 0] = bytes.subarray(12);
  const size = bytes.readUInt16BE(14);
  const command = versionAndCommand & 0xf;
  if (versionAndCommand >> 4 !== 2 || command > 1 || size > V2_BYTES) return "invalid";
  const length = V2_HEAD + size;
  if (bytes.length < length) return "incomplete";
  if (command === 0 || family === 0) return { length, peer: null };
  const addressBytes = family === 0x11 ? 4 : family === 0x21 ? 16 : 0;
  if (addressBytes === 0 || size < 2 * addressBytes + 4) return "invalid";
  const address = ipaddr.fromByteArray([...bytes.subarray(V2_HEAD, V2_HEAD + addressBytes)]).toString();
  return { length, peer: { address: ipaddr.process(address).toString(), port: bytes.readUInt16BE(V2_HEAD + 2 * addressBytes) } };
}
