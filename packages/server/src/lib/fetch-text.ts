/** Gets a text over HTTPS from a host that the caller trusts. Throws for every response but 200. */
export type FetchText = (url: string) => Promise<string>;

const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;

/** Follows no redirect, waits five seconds at most, and reads 64 KB at most. */
export const fetchText: FetchText = async (url) => {
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200 || response.body === null) throw new Error(`${new URL(url).host} answered ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`${new URL(url).host} sent more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};
