/** Reads request headers by name, in any case; null for a header that was not sent. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** Response headers as pairs, written to the connection without building a Headers object first. */
export type HeaderList = [name: string, value: string][];
