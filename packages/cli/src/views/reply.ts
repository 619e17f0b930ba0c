/** What a peer replied, with its codes in front; a code that the message begins with or contains is not said twice. */
export function formatReply(message: string, codes: readonly (string | number | null | undefined)[]): string {
  const said = new Set(message.split(/[^\w.]+/));
  return [...codes.filter((code) => code && !said.has(String(code))), message].join(" ");
}
