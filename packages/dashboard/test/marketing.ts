import { Mailsvc } from "@mailsvc/sdk";
import type { Stage } from "./browser.ts";

/** The HTML of a campaign, with two links and a dark scheme. */
export const SPRING = `<!doctype html><html><head><style>body{font-family:sans-serif;margin:0;padding:32px;background:#fff;color:#223}
@media (prefers-color-scheme: dark){body{background:#111;color:#eee}}</style></head><body><h1>Spring is here, {{default firstName "reader"}}</h1>
<p><a href="https://acme.example/spring">Have a look</a> or <a href="https://acme.example/shop">go to the shop</a>.</p></body></html>`;

const NAMES = ["Ada", "Grace", "Joan", "Edith", "Katherine", "Hedy", "Radia", "Barbara"];
const KINDS = ["opened", "clicked", "delivered", "delivered", "delivered", "opened", "bounced", "delivered"];

/** A client of the server's first workspace. */
export function connect({ server }: Stage): Mailsvc {
  return new Mailsvc({ apiKey: server.apiKey ?? "", baseUrl: server.url });
}

/** Contacts whose simulated mail programs open, click and bounce, and one who has unsubscribed; a list of some, a segment of others. */
export async function fillAudience(sdk: Mailsvc, count: number) {
  const contacts = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      sdk.contacts.create({
        email: `${KINDS[i % KINDS.length]}+${i}@simulator.mailsvc.test`,
        firstName: NAMES[i % NAMES.length] ?? "",
        tags: i % 3 === 0 ? ["reader", "gold"] : ["reader"],
      }),
    ),
  );
  const last = contacts.at(-1);
  if (last) await sdk.contacts.update(last.id, { status: "UNSUBSCRIBED" });
  const list = await sdk.lists.create({ name: "Newsletter" });
  await sdk.lists.add(list.id, { contacts: contacts.slice(0, Math.ceil(count / 2)).map(({ id }) => id) });
  const segment = await sdk.segments.create({ name: "Gold members", rules: { field: "tags", operator: "contains", value: "gold" } });
  return { contacts, list, segment };
}

/** A template that is published. */
export async function publish(sdk: Mailsvc, slug: string, subject: string): Promise<string> {
  const mail = { subject, html: `<p>${subject}</p>`, from: "news@acme.example" };
  return (await sdk.templates.create({ name: subject, slug, type: "marketing", ...mail, publish: true })).id;
}
