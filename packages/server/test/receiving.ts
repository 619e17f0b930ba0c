import { serveInboundSmtp } from "../src/inbound/inbound.ts";
import type { SmtpListener } from "../src/mail/smtp-listener.ts";
import { createWorld, type TestWorld, type WorldOptions } from "../src/testing.ts";
import { mail } from "./bounce-samples.ts";
import { deliverSmtp } from "./smtp-client.ts";

export const ADA = "ada@example.com";
/** A mail to Ada that she can answer. */
export const message = { from: "Acme <hello@acme.test>", to: ADA, subject: "Hi", text: "How are you?", replyTo: "auto" };

export interface Setting extends AsyncDisposable {
  readonly world: TestWorld;
  readonly server: SmtpListener;
  /** Sends a mail, and answers how it can be answered. */
  send(more?: Partial<typeof message>): Promise<{ id: string; replyTo: string; messageId: string }>;
  /** A mail over SMTP, and the code of the reply. */
  deliver(to: string, raw: Uint8Array, from?: string): Promise<number>;
}

/** A world that receives mail over SMTP. */
export async function start(options: WorldOptions = {}): Promise<Setting> {
  const world = await createWorld(options);
  const server = await serveInboundSmtp(world.app.deps, { host: "127.0.0.1", port: 0 });
  return {
    world,
    server,
    send: async (more) => {
      const { id } = await world.sdk.emails.send({ ...message, ...more });
      await world.settle();
      const sent = (await world.sdk.inbox.list().toArray()).find(({ emailId }) => emailId === id);
      const { headers } = await world.sdk.inbox.get(sent?.id ?? "");
      const find = (name: string): string => headers.find((header) => header.name === name)?.value ?? "";
      return { id, replyTo: find("Reply-To"), messageId: find("Message-ID") };
    },
    deliver: (to, raw, from = ADA) => deliverSmtp(server.port, to, raw, from),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await world.dispose();
    },
  };
}

// End of the last line of a mail on its way.
export const CRLF = Buffer.from("\r\n");

/** A mail by Ada. */
export function write(text: string, headers: Record<string, string> = {}): Buffer {
  const fields = { From: `Ada Lovelace <${ADA}>`, Subject: "Re: Hi", "Message-ID": "<1@mail.example.com>", ...headers };
  return mail(...Object.entries(fields).map(([name, value]) => `${name}: ${value}`), "", text);
}

/** The mail that came last. */
export const newest = async ({ world }: Setting) => {
  const [first] = (await world.sdk.received.list()).data;
  return world.sdk.received.get(first?.id ?? "");
};
