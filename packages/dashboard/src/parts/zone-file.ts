/** A record of DNS to publish. */
interface DnsRecord {
  readonly type: string;
  /** Full name, without a dot at its end. */
  readonly name: string;
  readonly value: string;
}

// A string of a TXT record, in bytes (RFC 1035, section 3.3).
const STRING_BYTES = 255;

/**
 * Records as a zone file, which DNS services import. PTR records are left out: they are in the zone of whoever owns the network address.
 */
export function toZoneFile(records: readonly DnsRecord[]): string {
  const lines = records.filter(({ type }) => type !== "PTR").map(toLine);
  return [...new Set(lines)].join("\n");
}

function toLine({ type, name, value }: DnsRecord): string {
  return `${name}. 3600 IN ${type} ${type === "TXT" ? toStrings(value) : value.replace(/([^.])$/, "$1.")}`;
}

/** The text of a TXT record as quoted strings of printable ASCII; other bytes as `\DDD`. */
function toStrings(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const strings: string[] = [];
  for (let from = 0; from < bytes.length; from += STRING_BYTES) strings.push(quote(bytes.subarray(from, from + STRING_BYTES)));
  return strings.length === 0 ? '""' : strings.join(" ");
}

function quote(bytes: Uint8Array): string {
  const shown = [...bytes].map((byte) => {
    const character = String.fromCharCode(byte);
    if (character === '"' || character === "\\") return `\\${character}`;
    return byte >= 0x20 && byte < 0x7f ? character : `\\${String(byte).padStart(3, "0")}`;
  });
  return `"${shown.join("")}"`;
}
