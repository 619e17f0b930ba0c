import type { Dispatcher } from "undici";
import { checkWebhookUrl, type Guard } from "../lib/guard-url.ts";
import { guardedConnector, type Lookup } from "./connect.ts";

/** A file from the Internet. */
interface FetchedFile {
  readonly bytes: Uint8Array;
  /** Its media type without parameters; null when the host names none. */
  readonly contentType: string | null;
}

/** Reason a file was not fetched; the message is for the client that named its URL. */
export class FileFault extends Error {
  override name = "FileFault";
}

/** Fetches a file of at most `maxBytes`. Throws FileFault. */
export type FetchFile = (url: string, maxBytes: number) => Promise<FetchedFile>;

interface FetchFileParts {
  readonly lookup: Lookup;
  /** The rules for addresses, which are those of webhooks. */
  readonly guard: Guard;
}

// For a file, with all its redirects.
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Makes a function that fetches files over connections like those to webhooks: to public addresses only. It follows up to three redirects,
 * each of which has to keep the same rules.
 */
export function createFetchFile({ lookup, guard }: FetchFileParts): FetchFile {
  return async (text, maxBytes) => {
    const { buildConnector, Client } = await import("./undici.ts");
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    /** One request: the file, or where it is instead. */
    const ask = async (url: URL): Promise<FetchedFile | URL> => {
      const client = new Client(url.origin, { connect: guardedConnector(buildConnector, lookup, guard, TIMEOUT_MS) });
      try {
        const headers = { "user-agent": "mailsvc", accept: "*/*" };
        return await readAnswer(
          url,
          await client.request({ path: `${url.pathname}${url.search}`, method: "GET", headers, signal }),
          maxBytes,
        );
      } catch (error) {
        if (error instanceof FileFault) throw error;
        throw new FileFault(`${url.host} could not be reached: ${error instanceof Error ? error.message : String(error)}.`);
      } finally {
        await client.destroy();
      }
    };
    let url = parseUrl(text, guard, null);
    for (let redirects = 0; ; redirects += 1) {
      const answer: FetchedFile | URL = await ask(url);
      if (!(answer instanceof URL)) return answer;
      if (redirects === MAX_REDIRECTS) throw new FileFault(`${url.host} redirects after ${MAX_REDIRECTS} redirects already.`);
      url = parseUrl(answer.href, guard, url.host);
    }
  };
}

/** The URL of a file, if it may be fetched; `redirectedBy` is the host that named it, if not the client did. Throws FileFault. */
function parseUrl(text: string, guard: Guard, redirectedBy: string | null): URL {
  const fault = checkWebhookUrl(text, guard);
  if (fault === null) return new URL(text);
  const message = fault.replace("A webhook URL", "The URL of a file").replace("webhooks must", "files must");
  throw new FileFault(redirectedBy === null ? message : `${redirectedBy} redirects to a URL that is not fetched. ${message}`);
}

async function readAnswer(url: URL, response: Dispatcher.ResponseData, maxBytes: number): Promise<FetchedFile | URL> {
  const { statusCode, headers } = response;
  const location = REDIRECTS.has(statusCode) ? headers["location"] : undefined;
  if (typeof location === "string" && URL.canParse(location, url)) return new URL(location, url);
  if (statusCode !== 200) throw new FileFault(`${url.host} answered ${statusCode} instead of 200.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw new FileFault(`The file is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  const type = String(headers["content-type"] ?? "").split(";")[0] ?? "";
  return { bytes: Buffer.concat(chunks), contentType: type.trim().toLowerCase() || null };
}
