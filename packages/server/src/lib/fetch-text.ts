/** Gets a text from a host that the caller trusts; null for every response but 200. Throws if the host cannot be reached. */
export type FetchText = (url: string) => Promise<string | null>;

const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;

/** Follows no redirect, waits five seconds at most, and reads 64 KB at most. */
export const fetchText: FetchText = async (url) => {
  const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200 || response.body === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`${new URL(url).host} sent more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};
