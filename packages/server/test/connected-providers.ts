import type { Provider } from "@mailsvc/sdk/contract";
import { createWorld, type WorldOptions } from "../src/testing.ts";
import { acceptingMailer } from "./accepting-mailer.ts";
import { MAILGUN_KEY, POSTMARK_KEY, SENDGRID_KEY, standInForAmazon, TOPIC } from "./provider-webhooks.ts";

export const KEYS: Readonly<Record<Provider, string>> = {
  ses: TOPIC,
  postmark: POSTMARK_KEY,
  sendgrid: SENDGRID_KEY,
  mailgun: MAILGUN_KEY,
};
export const TO = "ada@example.com";

/** A world whose workspace has a connection to each provider, with mails that were handed over. */
export async function start(options: WorldOptions = {}) {
  const mailer = acceptingMailer();
  const { fetched, fetchText } = standInForAmazon();
  const world = await createWorld({
    flags: { "inbound-domain": "in.acme.test" },
    mailer,
    fetchText,
    ...options,
  });
  const send = async (to = TO) => {
    const { id } = (await world.sdk.emails.send({ from: "a@acme.test", to, subject: "Hi", text: "Hi" })) as { id: string };
    await world.settle();
    const mail = mailer.mails.find(({ messageId }) => messageId.includes(id));
    return { id, messageId: mail?.messageId ?? "", returnPath: mail?.envelopeFrom ?? "", headers: mail?.headers ?? {} };
  };
  const urls = new Map<string, string>();
  for (const [provider, key] of Object.entries(KEYS) as [Provider, string][])
    urls.set(provider, (await world.sdk.providers.add({ provider, key })).url);
  const post = async (provider: string, body: string, headers: Record<string, string> = {}) => {
    const response = await world.fetch(urls.get(provider) ?? `${world.url}/api/v1/inbound/${provider}`, { method: "POST", body, headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> & { error?: { code: string } } };
  };
  const last = async (id: string) => {
    const { status, events } = await world.sdk.emails.get(id);
    return { status, event: events.at(-1)?.type, data: events.at(-1)?.data };
  };
  return { world, send, post, last, fetched };
}
