import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A server that hangs: it accepts connections, and at some point says no more. */
export interface HangingPeer {
  readonly port: number;
  /** Settles when a connection has come to the point at which it hangs. */
  readonly hangs: Promise<void>;
  close(): Promise<void>;
}

/** Step at which a mail server falls silent. */
export type HangsAt = "greeting" | "EHLO" | "MAIL" | "message" | "QUIT";

/** A server that reads what comes and never answers. */
export function silentServer(): Promise<HangingPeer> {
  return listen((socket, hangs) => socket.on("data", hangs));
}

/** A mail server that answers until it hangs; at `message` it has taken all of one and does not say so. */
export function hangingMailServer(at: HangsAt): Promise<HangingPeer> {
  return listen((socket, hangs) => {
    if (at === "greeting") return hangs();
    socket.write("220 slow.example ESMTP\r\n");
    let text = "";
    let inMessage = false;
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (;;) {
        const end = text.indexOf(inMessage ? "\r\n.\r\n" : "\r\n");
        if (end === -1) return;
        const command = inMessage ? "message" : (text.slice(0, 4).toUpperCase() as HangsAt);
        text = text.slice(end + (inMessage ? 5 : 2));
        inMessage = command.startsWith("DATA");
        if (command === at) return hangs();
        socket.write(inMessage ? "354 go on\r\n" : "250 fine\r\n");
      }
    });
  });
}

async function listen(serve: (socket: Socket, hangs: () => void) => void): Promise<HangingPeer> {
  const sockets = new Set<Socket>();
  let hang = (): void => {};
  const hangs = new Promise<void>((resolve) => {
    hang = resolve;
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket, hang);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    hangs,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
