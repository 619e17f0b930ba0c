/** Formats an instant in UTC, to the second: `2026-01-31 09:30:00`. Never relative, because the server's clock may differ. */
export function formatTimestamp(iso: string | null | undefined): string {
  const at = iso ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(at) ? (iso ?? "") : new Date(at).toISOString().slice(0, 19).replace("T", " ");
}

/** The same with the zone, for places without a heading that names it. */
export function formatInstant(iso: string | null | undefined): string {
  const text = formatTimestamp(iso);
  return text === "" ? "" : `${text} UTC`;
}

/** Formats a size in bytes. */
export function formatBytes(n: number): string {
  return n < 1024 ? `${n} B` : n < 1024 * 1024 ? `${(n / 1024).toFixed(1)} kB` : `${(n / 1024 / 1024).toFixed(1)} MB`;
}

export function formatNumber(n: number): string {
  return n.toLocaleString("en-US");
}
