import type { Mailsvc } from "@mailsvc/sdk";
import type { DeliveryDetail, Event, RequestRecord } from "@mailsvc/sdk/contract";
import { EXIT, type Exit } from "../runtime/exit.ts";
import type { RequestInput, Session, Terminal } from "../types.ts";
import { formatDeliveryLine } from "../views/deliveries.ts";
import { formatEventLine } from "../views/events.ts";
import { formatRequestLine } from "../views/requests.ts";

interface Stream {
  open(client: Mailsvc, ids: readonly string[], query: object, signal: AbortSignal): AsyncIterable<unknown>;
  format(item: unknown, term: Terminal): string;
}

/** The streams, by their endpoint. */
const STREAMS: Readonly<Record<string, Stream>> = {
  "events.tail": {
    open: (client, _ids, query, signal) => client.events.tail(query, { signal }),
    format: (item, { out, columns }) => formatEventLine(item as Event, out, columns),
  },
  "requests.tail": {
    open: (client, _ids, query, signal) => client.requests.tail(query, { signal }),
    format: (item, { out, columns }) => formatRequestLine(item as RequestRecord, out, columns),
  },
  "deliveries.tail": {
    open: (client, [slug = ""], query, signal) => client.deliveries.tail(slug, query, { signal }),
    format: (item, { out }) => formatDeliveryLine(item as DeliveryDetail, out),
  },
};

/** Prints what a stream brings as it happens, one per line, until Ctrl-C: for people in columns, in a pipe as JSON. */
export async function followStream(session: Session, id: string, ids: readonly string[], query: RequestInput["query"]): Promise<Exit> {
  const { out, term, signal } = session;
  const stream = STREAMS[id];
  if (!stream) throw new Error(`There is no view for the stream ${id}.`);
  const client = await session.client();
  if (!out.json) out.note(term.err.dim(`Following ${id === "requests.tail" ? "requests" : "events"}. Ctrl-C ends.`));
  for await (const item of stream.open(client, ids, query, signal)) {
    if (out.json) await out.line(item);
    else await out.text(`${stream.format(item, term)}\n`);
  }
  return EXIT.ok;
}
