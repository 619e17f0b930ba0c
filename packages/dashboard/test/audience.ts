import { Mailsvc } from "@mailsvc/sdk";
import { PATIENCE_MS, type Stage } from "./browser.ts";
import { waitUntil } from "./waiting.ts";

/** People, lists, segments and suppressions to look at. */
export interface Audience {
  readonly sdk: Mailsvc;
  readonly ada: string;
  readonly newsletter: string;
  readonly form: string;
  readonly news: string;
  readonly vips: string;
  readonly bounced: string;
}

const LONG_NAME = "Wolfeschlegelsteinhausenbergerdorff".repeat(2);

/** Fills a server with an audience. */
export async function createAudience({ server: { apiKey, url } }: Stage): Promise<Audience> {
  const sdk = new Mailsvc({ apiKey: apiKey ?? "", baseUrl: url, timeoutMs: PATIENCE_MS });
  const rows = Array.from({ length: 240 }, (_, i) => ({
    email: `reader${i}@example.com`,
    firstName: ["Grace", "Edsger", "Barbara", "Ken", "Radia"][i % 5],
    lastName: ["Hopper", "Dijkstra", "Liskov", "Thompson", "Perlman"][i % 5],
    tags: [...(i % 4 === 0 ? ["vip"] : []), ...(i % 7 === 0 ? ["beta"] : [])],
    customFields: { plan: i % 3 === 0 ? "pro" : "free", orders: i % 10 },
    ...(i % 9 === 0 && { status: "UNSUBSCRIBED" }),
  }));
  await sdk.contacts.import({ rows });
  await sdk.contacts.create({
    email: `${"long".repeat(14)}@${"mail.".repeat(20)}example.com`,
    firstName: LONG_NAME,
    tags: ["a".repeat(100)],
  });
  const { id: ada } = await sdk.contacts.create({
    email: "ada@example.com",
    firstName: "Ada",
    lastName: "Lovelace",
    phone: "+44 20 7946 0000",
    tags: ["vip", "beta"],
    customFields: { plan: "pro", seats: 5, trial: false, since: "2026-01-31", address: { city: "London" } },
  });
  const { id: newsletter } = await sdk.lists.create({ name: "Newsletter", description: "Once a week" });
  await sdk.lists.add(newsletter, { contacts: [ada, ...rows.slice(0, 120).map(({ email }) => email)] });
  const { id: news } = await sdk.lists.create({
    name: "Product news",
    doubleOptIn: true,
    confirmationFrom: "Acme <hello@acme.example>",
    public: false,
  });
  await sdk.lists.add(news, { contacts: [ada, "reader1@example.com", "reader2@example.com"] });
  const { id: vips } = await sdk.segments.create({
    name: "Active VIPs",
    description: "Those who pay and read",
    rules: {
      all: [
        { field: "tags", operator: "contains", value: "vip" },
        { not: { field: "status", operator: "in", value: ["BOUNCED", "COMPLAINED"] } },
        {
          any: [
            { field: "customFields.orders", operator: "gte", value: 5 },
            { field: "createdAt", operator: "withinLast", value: "30d" },
          ],
        },
      ],
    },
  });
  await sdk.suppressions.create({ email: "linus@example.com", note: "asked by phone" });
  await sdk.suppressions.create({ email: "ken@example.com", reason: "complaint" });
  const mail = { from: "Acme <hello@acme.example>", text: "Hello" };
  await sdk.emails.send({ ...mail, to: "ada@example.com", subject: "Your order is on its way" });
  const { id: sent } = await sdk.emails.send({ ...mail, to: "bounced@simulator.mailsvc.test", subject: "Nobody is there" });
  await waitUntil(async () => (await sdk.emails.get(sent)).status === "bounced");
  const { id: bounced } = await sdk.suppressions.get("bounced@simulator.mailsvc.test");
  const { id: form } = await sdk.forms.create({ name: "Letters", listId: newsletter });
  return { sdk, ada, newsletter, form, news, vips, bounced };
}
