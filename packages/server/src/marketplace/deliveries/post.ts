import type { Client, Dispatcher } from "undici";
import type { Clock } from "../../lib/clock.ts";

/** A connection to a webhook, which carries one request at a time. */
export interface Link {
  readonly client: Client;
  /** Requests it has carried. */
  served: number;
}

/** How a request ended: with an answer, or with an error, `answered` when that came in the middle of one. */
export type Ending =
  | { readonly status: number; readonly bytes: Uint8Array; readonly retryAfter: string | null; readonly whole: boolean }
  | { readonly error: unknown; readonly answered: boolean };

export interface Post {
  readonly path: string;
  /** Names and values in turns. */
  readonly headers: string[];
  readonly body: Uint8Array;
}

/** The whole of an attempt took too long. */
export class TooLong extends Error {
  override name = "TooLong";
  readonly code = "ETIMEDOUT";
}

// What is read of an answer; the rest of it is of no interest, and may have no end.
const READ = 16 * 1024;

const NOTHING = new Uint8Array(0);

/**
 * Sends a request and reads its answer, all within `limit` ms of real time. A receiver may send as slowly or as much as it
 * likes: neither is waited for.
 */
export const post = ({ client }: Link, request: Post, limit: number, real: Clock["real"]): Promise<Ending> =>
  new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | null = null;
    let ended = false;
    let status = 0;
    let retryAfter: string | null = null;
    let read = 0;
    const chunks: Buffer[] = [];
    const end = (ending: Ending): void => {
      if (ended) return;
      ended = true;
      timer.cancel();
      resolve(ending);
    };
    const answer = (whole: boolean): void => {
      const bytes = chunks.length === 0 ? NOTHING : Buffer.concat(chunks).subarray(0, READ);
      end({ status, bytes, retryAfter, whole });
    };
    const timer = real.after(limit, () => {
      const error = new TooLong("The attempt took too long.");
      end({ error, answered: status > 0 });
      controller?.abort(error);
    });
    client.dispatch(
      { path: request.path, method: "POST", headers: request.headers, body: request.body, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart: (started) => {
          controller = started;
          // Its time was over before there was a connection.
          if (ended) started.abort(new TooLong("The attempt took too long."));
        },
        onResponseStart: (_controller, code, headers) => {
          // 1xx only announces the answer.
          if (code < 200) return;
          status = code;
          const wait = headers["retry-after"];
          retryAfter = typeof wait === "string" ? wait : null;
        },
        onResponseData: (started, chunk) => {
          if (ended) return;
          chunks.push(chunk);
          read += chunk.length;
          if (read <= READ) return;
          answer(false);
          started.abort(new Error("Enough was read."));
        },
        onResponseEnd: () => answer(true),
        onResponseError: (_controller, error) => end({ error, answered: status > 0 }),
      },
    );
  });
