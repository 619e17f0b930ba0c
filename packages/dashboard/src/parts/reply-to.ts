/** Formats addresses for replies as one line, as people write them. The result of `parseReplyTo` comes out as it was typed. */
export function formatReplyTo(replyTo: string | readonly string[] | null): string {
  const [first = "", ...others] = [replyTo ?? []].flat();
  return [first, ...others.map((one) => (one === "" || one.startsWith(" ") ? one : ` ${one}`))].join(",");
}

/**
 * Reads a line as one address, or as several separated by commas. Keeps spaces, because a line that changes while it is typed is hard to
 * correct.
 */
export function parseReplyTo(line: string): string | string[] {
  return line.includes(",") ? line.split(",") : line;
}
