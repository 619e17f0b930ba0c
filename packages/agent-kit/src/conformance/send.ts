import { Buffer } from "node:buffer";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { currentTime, sleep } from "../runtime.ts";
import type { Answer, CaseRequest } from "./case.ts";

// Maximum bytes kept of an answer, because a receiver may send without end.
const MAX_ANSWER = 65_536;
// The waits of the service between its direct attempts.
const REPEAT_MS = [1000, 2000, 4000];

/** Sends a request, and again as the service does while a receiver is busy with another copy of it. */
export async function deliver(request: CaseRequest, target: URL, timeoutMs: number): Promise<Answer> {
  let answer = await send(request, target, timeoutMs);
  for (const ms of request.repeat ? REPEAT_MS : []) {
    if (answer.status !== 503) break;
    await sleep(ms);
    answer = await send(request, target, timeoutMs);
  }
  return answer;
}

/** Sends one request on its own connection and waits for the whole answer. Never throws. */
function send({ method, headers, body, chunked }: CaseRequest, target: URL, timeoutMs: number): Promise<Answer> {
  const from = currentTime();
  const since = (): number => currentTime() - from;
  return new Promise((done) => {
    const fail = ({ code, message }: NodeJS.ErrnoException): void =>
      done({
        status: null,
        body: "",
        ms: since(),
        error: code === "ABORT_ERR" ? `no whole answer came within ${timeoutMs / 1000} s` : (code ?? message),
      });
    const open = target.protocol === "https:" ? httpsRequest : httpRequest;
    const length = body === null || chunked ? {} : { "content-length": String(body.length) };
    const options = { method, headers: { ...headers, ...length }, agent: false as const, signal: AbortSignal.timeout(timeoutMs) };
    const request = open(target, options, (response) => {
      const parts: Buffer[] = [];
      let length = 0;
      response.on("data", (part: Buffer) => {
        length += part.length;
        if (length <= MAX_ANSWER) parts.push(part);
      });
      response.on("end", () =>
        done({ status: response.statusCode ?? null, body: Buffer.concat(parts).toString(), ms: since(), error: null }),
      );
      response.on("error", fail);
    });
    request.on("error", fail);
    if (chunked && body !== null) for (let at = 0; at < body.length; at += 100) request.write(body.subarray(at, at + 100));
    request.end(chunked ? undefined : body);
  });
}
