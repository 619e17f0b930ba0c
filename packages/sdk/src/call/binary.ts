/** Bytes in memory that is not shared, as `fetch` takes them. Before TypeScript 5.7, `Uint8Array` has no type argument to say so. */
export type Bytes = ReturnType<Uint8ArrayConstructor["of"]>;

/** Binary content of a field: base64 text, or bytes that the client encodes. */
export type Base64Input = string | Uint8Array | ArrayBuffer | Blob;

/** True if a value holds bytes at any depth; false for one that holds itself, which nobody can write. */
export function hasBinary(value: unknown, around: readonly unknown[] = []): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isBinary(value)) return true;
  if (around.includes(value)) return false;
  const inside = [...around, value];
  for (const inner of Array.isArray(value) ? value : Object.values(value)) if (hasBinary(inner, inside)) return true;
  return false;
}

/** A copy of a value with all bytes replaced by their base64, as JSON needs them. */
export async function encodeBinary(value: unknown): Promise<unknown> {
  if (typeof value !== "object" || value === null) return value;
  if (isBinary(value)) return toBase64(value);
  if (Array.isArray(value)) return Promise.all(value.map(encodeBinary));
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value;
  const fields = Object.entries(value).map(async ([name, inner]) => [name, await encodeBinary(inner)]);
  return Object.fromEntries(await Promise.all(fields));
}

type Binary = Uint8Array | ArrayBuffer | Blob;

function isBinary(value: object): value is Binary {
  return value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof Blob;
}

// Arguments of one call to String.fromCharCode; more would overflow the stack.
const CHUNK = 0x8000;

async function toBase64(value: Binary): Promise<string> {
  const bytes = value instanceof Uint8Array ? value : new Uint8Array(value instanceof Blob ? await value.arrayBuffer() : value);
  if (typeof Buffer !== "undefined") return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}
