import type { IncomingMessage } from "node:http";
import { ApiError } from "../../lib/api-error.ts";
import { createByteBudget } from "../../lib/byte-budget.ts";
import { KB, MB } from "../../lib/units.ts";

// Longest silence of a client whose body was refused, before its connection is closed, ms. The server's time limit for a whole request
// applies besides.
const DRAIN_SILENCE_MS = 2000;

/**
 * Reads the body of a Node request, at most `limit` bytes. A body that is not small waits for its share of memory before it is read. A
 * body of unknown size takes the share of the largest of its kind as soon as it turns out not to be small. Throws ApiError
 * payload_too_large, or validation_error when the client disconnects.
 */
export async function readNodeBody(req: IncomingMessage, limit: number, share: BodyShare | null = null): Promise<Uint8Array> {
  const announced = Number(req.headers["content-length"] ?? 0);
  if (share !== null && announced > FREE_BYTES && announced <= limit) await share.receive(announced);
  return new Promise((resolve, reject) => {
    // A connection that broke before its request's turn came emits no further event.
    if (req.destroyed) {
      reject(incomplete());
      return;
    }
    const refuse = (): void => {
      drainRequest(req);
      reject(tooLarge(limit));
    };
    if (announced > limit) {
      refuse();
      return;
    }
    // Nearly every body is a single chunk, which is then not copied.
    let first: Buffer | null = null;
    let chunks: Buffer[] | null = null;
    let size = 0;
    let ended = false;
    let shared = share === null || announced > 0 ? limit : FREE_BYTES;
    // A request closes after its end too: an error for each of them would cost 9 µs, for its stack.
    const fail = (): void => {
      if (!ended) reject(incomplete());
    };
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) return refuse();
      if (size > shared) {
        shared = size > LARGE_BYTES ? limit : Math.min(LARGE_BYTES, limit);
        req.pause();
        void share?.receive(shared).then(() => req.resume());
      }
      if (first === null) first = chunk;
      else if (chunks === null) chunks = [first, chunk];
      else chunks.push(chunk);
    });
    req.on("end", () => {
      ended = true;
      const whole = chunks === null ? (first ?? Buffer.alloc(0)) : Buffer.concat(chunks);
      // The request keeps these listeners until its response is written.
      first = chunks = null;
      resolve(whole);
    });
    req.on("error", fail);
    req.on("close", fail);
  });
}

/** Reads the body of a request made in process, at most `limit` bytes. Throws ApiError payload_too_large. */
export async function readWebBody(request: Request, limit: number): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

/**
 * Discards the rest of a body that is too large, and closes the connection after the response, but not before the client has stopped
 * sending. Closed at once, with bytes unread, the connection would be reset, and most clients would lose the response.
 */
function drainRequest(req: IncomingMessage): void {
  const { socket } = req;
  req.removeAllListeners("data").resume();
  // Node calls this once the response is written.
  socket.destroySoon = () => {
    socket.end();
    socket.setTimeout(DRAIN_SILENCE_MS, () => socket.destroy());
    if (req.complete) socket.destroy();
    else req.once("end", () => socket.destroy());
  };
}

function tooLarge(limit: number): ApiError {
  const size = limit < MB ? `${Math.floor(limit / 1024)} KB` : `${Math.floor(limit / MB)} MB`;
  return new ApiError("payload_too_large", `Request body too large: at most ${size}.`, {
    // The rest of the body is not read, so the connection cannot be used again.
    headers: { connection: "close" },
  });
}

function incomplete(): ApiError {
  return new ApiError("validation_error", "The request ended before its body was complete.");
}

/** Bodies up to this size take no share: nearly all are smaller, and the memory they take is little. */
export const FREE_BYTES = 64 * KB;

/** Bodies beyond this size are large: a slow client that brings one keeps none of the others waiting. */
const LARGE_BYTES = MB;

// Bodies of all callers that are being received, the large ones apart from the others.
const MAX_LARGE = 48 * MB;
const MAX_OTHERS = 32 * MB;
// Bodies that are worked on. One takes more than three times its size, as bytes, text, values and what is stored; a second one beside it
// would be done no sooner.
const MAX_AT_WORK = 32 * MB;

/** The share of one request in the memory for bodies. */
export interface BodyShare {
  /**
   * Waits until a body of more than `FREE_BYTES` fits among those being received, in order of arrival. A second call replaces the first.
   */
  receive(bytes: number): Promise<void>;
  /** Waits until such a body, which was received, may be parsed and stored. */
  work(bytes: number): Promise<void>;
  /** Gives the share back, once the request is done. */
  release(): void;
}

/** The memory for the bodies of all requests of this process. A request waits for its share with its body unread. */
export class BodyMemory {
  readonly #large = createByteBudget(MAX_LARGE);
  readonly #others = createByteBudget(MAX_OTHERS);
  readonly #work = createByteBudget(MAX_AT_WORK);

  /** The share of a request, of which it has nothing yet. */
  open(): BodyShare {
    const taken: (() => void)[] = [];
    let isOver = false;
    const keep = (release: () => void): void => {
      if (isOver) release();
      else taken.push(release);
    };
    return {
      receive: async (bytes) => {
        const release = await (bytes > LARGE_BYTES ? this.#large : this.#others).take(bytes);
        for (const earlier of taken.splice(0)) earlier();
        keep(release);
      },
      work: async (bytes) => {
        keep(await this.#work.take(bytes));
      },
      release: () => {
        isOver = true;
        for (const release of taken.splice(0)) release();
      },
    };
  }
}
