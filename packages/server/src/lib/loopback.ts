import { isLoopbackHost } from "@mailsvc/sdk/contract";

/** True if an address of a connection, IPv4 or IPv6 in short or long form, belongs to this machine. */
export function isLoopbackAddress(address: string): boolean {
  return /^(?:::ffff:)?127\./i.test(address) || address === "::1" || /^0{0,4}(?::0{0,4}){6,7}:0{0,3}1$/.test(address);
}

/** True if a Host header names this machine. */
export function isLoopbackHostHeader(host: string): boolean {
  return isLoopbackHost(host.replace(/:\d+$/, ""));
}
