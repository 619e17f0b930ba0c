/** Addresses for replies as one line, as people write them. What `parseReplyTo` has read comes out as it was typed. */
export function formatReplyTo(replyTo: string | readonly string[] | null): string {
  const [first = "", ...others] = [replyTo ?? []].flat();
  return [first, ...others.map((one) => (one === "" || one.startsWith(" ") ? one : ` ${one}`))].join(",");
}

/** What a line means: one address, or several that commas separate. Spaces stay: a line that changed while it is typed could not be corrected. */
export function parseReplyTo(line: string): string | string[] {
  return line.includes(",") ? line.split(",") : line;
}
