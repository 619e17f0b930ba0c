import { connect } from "node:net";

const WAIT_MS = 1000;

/** True if something accepts connections at the host and port of an address. */
export function listens({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise((done) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port) || (protocol === "https:" ? 443 : 80), timeout: WAIT_MS });
    const end = (answer: boolean) => (): void => {
      socket.destroy();
      done(answer);
    };
    socket.once("connect", end(true)).once("error", end(false)).once("timeout", end(false));
  });
}
