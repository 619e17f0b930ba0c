import type { Socket } from "node:net";
import type { Clock, Timer } from "../lib/clock.ts";

/** Other side of a connection: address and port. */
interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

interface Open {
  readonly socket: Socket;
  readonly deadline: Timer;
}

/** The open connections of a server, counted by the address of the other side. Each is cut when it has lasted too long. */
export class OpenConnections {
  readonly #real: Clock["real"];
  readonly #maxMs: number;
  /** Connections by address, then by port. */
  readonly #peers = new Map<string, Map<number, Open>>();
  #size = 0;

  constructor(real: Clock["real"], maxMs: number) {
    this.#real = real;
    this.#maxMs = maxMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a connection, and returns how many its address has now. */
  add(socket: Socket): number {
    const { remotePort = 0 } = socket;
    const address = toAddress(socket);
    const ofPeer = this.#peers.get(address) ?? new Map<number, Open>();
    const peer: Peer = { remoteAddress: address, remotePort };
    const deadline = this.#real.after(this.#maxMs, () => {
      socket.destroy();
      this.remove(peer);
    });
    this.#peers.set(address, ofPeer.set(remotePort, { socket, deadline }));
    this.#size += 1;
    // STARTTLS takes the listeners off the socket; then the connection tells its end itself.
    socket.on("close", () => this.remove(peer));
    return ofPeer.size;
  }

  /** Forgets a connection that has ended; a second time it does nothing. */
  remove(peer: Peer): void {
    const { remotePort = 0 } = peer;
    const address = toAddress(peer);
    const ofPeer = this.#peers.get(address);
    const open = ofPeer?.get(remotePort);
    if (!ofPeer || !open) return;
    open.deadline.cancel();
    ofPeer.delete(remotePort);
    if (ofPeer.size === 0) this.#peers.delete(address);
    this.#size -= 1;
  }

  cutAll(): void {
    for (const ofPeer of this.#peers.values()) for (const { socket } of ofPeer.values()) socket.destroy();
  }
}

/** IPv4 as such, also on a socket for both. */
function toAddress({ remoteAddress = "" }: Peer): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "").toLowerCase();
}
