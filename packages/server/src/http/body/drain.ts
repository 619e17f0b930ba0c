import type { IncomingMessage } from "node:http";

// A client that still sends is waited for as long as it goes on; the server's own limit for a whole request ends it all.
const SILENT_MS = 2000;

/**
 * Lets a client that sends too much hear so: the connection ends after the answer, but not before the client has stopped sending.
 * Closed at once, with bytes unread, it would be reset, and most clients then lose the answer.
 */
export function drainRequest(req: IncomingMessage): void {
  const { socket } = req;
  // Whatever else comes is dropped.
  req.removeAllListeners("data").resume();
  // What the runtime calls when the answer is out.
  socket.destroySoon = () => {
    socket.end();
    socket.setTimeout(SILENT_MS, () => socket.destroy());
    if (req.complete) socket.destroy();
    else req.once("end", () => socket.destroy());
  };
}
