import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface SmtpSink {
  readonly url: string;
  /** Number of times each Message-ID was taken, i.e. answered with 250. */
  readonly taken: ReadonlyMap<string, number>;
  /** The same for each recipient: by the Message-ID, a blank, and the address. */
  readonly takenFor: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/**
 * A mail server that notes the Message-ID of what it takes. `delay` says how long it thinks about each message, in ms; `refuses`, asked
 * for each message, whether it closes with 421 instead.
 */
export async function smtpSink(delay: () => number, refuses: () => boolean = () => false): Promise<SmtpSink> {
  const taken = new Map<string, number>();
  const takenFor = new Map<string, number>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    onMailFrom: (_address, _session, answer) =>
      answer(refuses() ? Object.assign(new Error("4.3.2 not now"), { responseCode: 421 }) : undefined),
    onData: (stream, session, answer) => {
      let text = "";
      stream.setEncoding("latin1");
      stream.on("data", (chunk: string) => {
        text += chunk;
      });
      stream.on("end", () => {
        const id = /^message-id:\s*(<[^>]+>)/im.exec(text)?.[1] ?? "";
        // From here on the message is here, whether or not the sender learns of it.
        taken.set(id, (taken.get(id) ?? 0) + 1);
        for (const { address } of session.envelope.rcptTo) {
          const place = `${id} ${address}`;
          takenFor.set(place, (takenFor.get(place) ?? 0) + 1);
        }
        setTimeout(answer, delay());
      });
    },
  });
  // Senders that are killed cut their connections.
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    taken,
    takenFor,
    close: () => new Promise((done) => server.close(() => done())),
  };
}
