import { checkWebhookUrl, type Guard } from "../lib/guard-url.ts";
import { guardedConnector, type Lookup } from "./connect.ts";

/** A file from the Internet. */
interface FetchedFile {
  readonly bytes: Uint8Array;
  /** Its media type without parameters; null when the host names none. */
  readonly contentType: string | null;
}

/** Why a file was not fetched; the message is for the client that named its URL. */
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

const TIMEOUT_MS = 10_000;

/** Makes a function that fetches files over connections like those to webhooks: to public addresses only. It follows no redirect. */
export function createFetchFile({ lookup, guard }: FetchFileParts): FetchFile {
  return async (text, maxBytes) => {
    const fault = checkWebhookUrl(text, guard);
    if (fault !== null) throw new FileFault(fault.replace("A webhook URL", "The URL of a file").replace("webhooks must", "files must"));
    const { buildConnector, Client } = await import("./undici.ts");
    const url = new URL(text);
    const client = new Client(url.origin, { connect: guardedConnector(buildConnector, lookup, guard, TIMEOUT_MS) });
    try {
      const response = await client.request({
        path: `${url.pathname}${url.search}`,
        method: "GET",
        headers: { "user-agent": "mailsvc", accept: "*/*" },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.statusCode !== 200) throw new FileFault(`${url.host} answered ${response.statusCode} instead of 200.`);
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (size > maxBytes) throw new FileFault(`The file is larger than ${maxBytes} bytes.`);
        chunks.push(chunk);
      }
      const type = String(response.headers["content-type"] ?? "").split(";")[0] ?? "";
      return { bytes: Buffer.concat(chunks), contentType: type.trim().toLowerCase() || null };
    } catch (error) {
      if (error instanceof FileFault) throw error;
      throw new FileFault(`${url.host} could not be reached: ${error instanceof Error ? error.message : String(error)}.`);
    } finally {
      await client.destroy();
    }
  };
}
