import type { Mailsvc } from "@mailsvc/sdk";
import { EXIT, type Exit } from "../runtime/exit.ts";
import type { Call, Session } from "../types.ts";
import { formatEventLine } from "./events.ts";

type TailQuery = Parameters<Mailsvc["events"]["tail"]>[0];

/** Prints events as they happen, one per line, until Ctrl-C: for people in columns, in a pipe as JSON. */
export async function followEvents(session: Session, { query }: Call): Promise<Exit> {
  const { out, term, signal } = session;
  const client = await session.client();
  if (!out.json) out.note(term.err.dim("Following events. Ctrl-C ends."));
  for await (const event of client.events.tail(query as TailQuery, { signal })) {
    if (out.json) await out.line(event);
    else await out.text(`${formatEventLine(event, term.out, term.columns)}\n`);
  }
  return EXIT.ok;
}
