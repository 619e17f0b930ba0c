export function base64(bytes: Uint8Array | string): string {
  return Buffer.from(bytes).toString("base64");
}

/** A form, with a file or without. */
export function form(fields: Record<string, string | string[]>, file?: { bytes: Uint8Array; name: string; type?: string }): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) data.append(name, one);
  if (file) data.append("file", new Blob([Uint8Array.from(file.bytes)], { type: file.type ?? "" }), file.name);
  return data;
}

/** An image of 16 by 9. */
export const JPEG = Buffer.from("ffd8ffe000104a46494600010100000100010000ffc0001108000900100301220002110103110100ffd9", "hex");

/** A lead magnet to upload. */
export function magnet(fileName: string, bytes: Uint8Array, more: object = {}) {
  return {
    title: "T",
    fileName,
    contentBase64: base64(bytes),
    ...more,
  };
}
