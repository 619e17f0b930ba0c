/** A message of a stream of server-sent events. */
export interface SseMessage {
  /** The last id that was sent; empty before the first one. */
  readonly id: string;
  /** Null for a message that only carries an id, or none. */
  readonly data: string | null;
}

// A line longer than this is no message of ours.
const MAX_LINE = 16 * 1024 * 1024;

/** Parses server-sent events (the event stream format of the HTML standard) from the bytes of a response. */
export async function* parseSse(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseMessage, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  let named = false;
  let data: string[] = [];
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the end may be half of a CRLF.
    const end = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    const lines = rest.slice(0, end).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + rest.slice(end);
    if (rest.length > MAX_LINE) throw new Error("A line of the stream is too long.");
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0 || named) yield { id, data: data.length > 0 ? data.join("\n") : null };
        data = [];
        named = false;
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") data.push(value);
      else if (field === "id" && !value.includes("\0")) {
        id = value;
        named = true;
      }
    }
  }
}
