const END = 0x504b0506;
const ENTRY = 0x504b0102;
const END_SIZE = 22;
const MAX_COMMENT = 65_535;
// Names that are looked at; what makes a kind of ZIP stands among the first.
const MAX_ENTRIES = 5000;

/** The names in a ZIP's directory, unpacking nothing; null when it has none that holds together. */
export function listZipEntries(bytes: Uint8Array): string[] | null {
  const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = bytes.length - END_SIZE; at >= Math.max(0, bytes.length - END_SIZE - MAX_COMMENT); at -= 1) {
    if (v.getUint32(at) !== END) continue;
    const names: string[] = [];
    const count = Math.min(v.getUint16(at + 10, true), MAX_ENTRIES);
    let entry = v.getUint32(at + 16, true);
    for (let i = 0; i < count; i += 1) {
      if (entry + 46 > bytes.length || v.getUint32(entry) !== ENTRY) return null;
      const length = v.getUint16(entry + 28, true);
      names.push(Buffer.from(bytes.subarray(entry + 46, entry + 46 + length)).toString("utf8"));
      entry += 46 + length + v.getUint16(entry + 30, true) + v.getUint16(entry + 32, true);
    }
    return names;
  }
  return null;
}
