/** Addresses for replies as one line, as people write them. */
export function formatReplyTo(replyTo: string | readonly string[] | null): string {
  return [replyTo ?? []].flat().join(", ");
}

/** What a line means: one address, or several that commas separate. */
export function parseReplyTo(line: string): string | string[] {
  return line.includes(",") ? line.split(",").map((address) => address.trim()) : line;
}
