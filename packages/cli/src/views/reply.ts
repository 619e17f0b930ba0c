/** Formats a peer's reply with its codes in front, without codes that the message already contains. */
export function formatReply(message: string, codes: readonly (string | number | null | undefined)[]): string {
  const said = new Set(message.split(/[^\w.]+/));
  return [...codes.filter((code) => code && !said.has(String(code))), message].join(" ");
}
