import { connect } from "node:net";

interface Wire {
  /** Sends bytes as they are. */
  write(bytes: string | Uint8Array): void;
  /** Ends the sending half only. */
  half(): void;
  /** Cuts the connection. */
  cut(): void;
  /** Everything received once `until` is found in it, or once the server closed the connection. */
  read(until?: string | RegExp): Promise<string>;
  /** Settles when the connection is closed, by whomever. */
  readonly closed: Promise<void>;
}

/** A bare connection to a server: what no client library would send. */
export function wire(url: string): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let received = "";
    let looking = (): void => {};
    let open = true;
    // Both halves are ended by hand: a client that stops sending may still want its answer.
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const closed = new Promise<void>((done) => {
      socket.once("close", () => {
        open = false;
        looking();
        done();
      });
    });
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      received += chunk;
      looking();
    });
    socket.on("end", () => {
      open = false;
      looking();
      socket.end();
    });
    socket.on("error", reject);
    socket.once("connect", () =>
      resolve({
        write: (bytes) => void socket.write(bytes),
        half: () => void socket.end(),
        cut: () => void socket.resetAndDestroy(),
        read: (until) =>
          new Promise((found) => {
            looking = () => {
              const there = until !== undefined && (typeof until === "string" ? received.includes(until) : until.test(received));
              if (there || !open) found(received);
            };
            looking();
          }),
        closed,
      }),
    );
  });
}
