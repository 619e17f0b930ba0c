import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the ports that systems choose for connections, and for servers that ask for any (Linux from 32768, others from 49152): those
// may be taken by another program at any moment.
const FIRST = 10_000;
const COUNT = 22_000;

/** A port of this machine that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + randomInt(COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}
