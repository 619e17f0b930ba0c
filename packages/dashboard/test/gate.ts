import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A port in front of a server: closed, nobody answers there, as if the server were stopped. */
export interface Gate {
  readonly url: string;
  close(): Promise<void>;
  open(): Promise<void>;
  /** Leads to another server from now on. */
  aim(target: string): void;
}

/** Opens a gate to the server at an address. */
export async function createGate(target: string): Promise<Gate> {
  let { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
  };
  let server: Server | null = null;
  let at = 0;
  const open = async (): Promise<void> => {
    if (server?.listening) return;
    server = createServer((socket) => {
      const inner = connect(Number(port), hostname);
      keep(socket);
      keep(inner);
      socket.pipe(inner).pipe(socket);
    });
    await new Promise<void>((done) => server?.listen(at, "127.0.0.1", done));
    at = (server.address() as AddressInfo).port;
  };
  await open();
  return {
    url: `http://127.0.0.1:${at}`,
    open,
    aim: (other) => {
      ({ hostname, port } = new URL(other));
    },
    close: async () => {
      const closed = new Promise((done) => (server?.listening ? server.close(done) : done(null)));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
