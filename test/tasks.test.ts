import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { cleanEnvironment } from "./dev-server.ts";
import { blocksOf } from "./markdown.ts";
import { type CliServer, startCliServer } from "./support/cli-server.ts";
import { listVariables, npxScript, startPageServer } from "./support/page-server.ts";

/*
 * Tasks of users, each done by nothing but the commands of a page: those below a heading, or of it the one after a sentence. Then the
 * result is checked. `docs.test.ts` tests that all commands of all pages run.
 */

const root = fileURLToPath(new URL("../", import.meta.url));
let folder = "";
let cliServer: CliServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-tasks-"));
  mkdirSync(join(folder, "bin"));
  cliServer = await startCliServer(join(folder, "cli"));
  writeFileSync(join(folder, "bin/npx"), npxScript(cliServer), { mode: 0o755 });
});
afterAll(async () => {
  await cliServer?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Done {
  readonly client: Mailsvc;
  /** A client with another key. */
  readonly clientOf: (key: string) => Mailsvc;
  /** Output of the commands on stdout. */
  readonly printed: string;
  readonly read: (file: string) => string;
  readonly path: (file: string) => string;
}

interface Task {
  readonly page: string;
  readonly headings: readonly string[];
  /** The beginning of the sentence before the commands, where a heading has those of several tasks. */
  readonly after?: string;
  readonly before?: (client: Mailsvc) => Promise<unknown>;
  readonly check: (done: Done) => Promise<unknown> | unknown;
}

/** The title of a page has its first commands. */
const TASKS: Readonly<Record<string, Readonly<Record<string, Task>>>> = {
  "somebody at a terminal": {
    "sends HTML with a file": {
      page: "cli.md",
      headings: ["Recipes"],
      after: "Send a generated HTML file",
      check: async ({ client }) => {
        const mail = await client.inbox.wait({ to: "ada@example.com", subject: "Report" });
        expect(mail).toMatchObject({ html: expect.stringContaining("All is well"), attachments: [{ filename: "copy.html" }] });
      },
    },
    "schedules a mail, and does not wait for its hour": {
      page: "cli.md",
      headings: ["Recipes"],
      after: "Schedule an email",
      check: async ({ client }) => expect((await client.inbox.list({ to: "later@example.com" })).data).toHaveLength(1),
    },
    "runs a script twice that sends once": {
      page: "cli.md",
      headings: ["Recipes"],
      after: "Repeat a script",
      check: async ({ client }) => expect((await client.emails.list({ to: "ada@example.com" })).data).toHaveLength(1),
    },
    "gives a program a key that only sends": {
      page: "cli.md",
      headings: ["Recipes"],
      after: "Create a key",
      check: async ({ printed, clientOf }) => {
        const sender = clientOf(JSON.parse(printed).key);
        await sender.emails.send({ from: "hello@acme.example", to: "ada@example.com", subject: "Hi", text: "Hi" });
        await expect(sender.contacts.list()).rejects.toMatchObject({ code: "forbidden" });
      },
    },
    "brings contacts in from a file, and out again": {
      page: "cli.md",
      headings: ["Recipes"],
      after: "Import contacts",
      check: async ({ client, read }) => {
        expect((await client.contacts.list({ search: "ada@example.com" })).data).toMatchObject([{ firstName: "Ada" }]);
        expect(read("all.csv")).toContain("ada@example.com");
      },
    },
    "makes a template and sends it": {
      page: "templates.md",
      headings: ["A first template"],
      check: async ({ client }) =>
        expect(await client.inbox.wait({ to: "ada@example.com" })).toMatchObject({
          subject: "Hello Ada",
          html: expect.stringContaining("Hi Ada"),
        }),
    },
    "answers a reply": {
      page: "receiving.md",
      headings: ["Receiving mail"],
      check: async ({ client }) => {
        expect((await client.received.list()).data).toHaveLength(1);
        expect((await client.emails.list({ to: "ada@example.com" })).data).toHaveLength(2);
      },
    },
  },
  "the developer of an app": {
    "writes one mail to several": {
      page: "emails.md",
      headings: ["One mail to several recipients"],
      check: async ({ client }) => {
        const [email] = (await client.emails.list()).data;
        expect(email?.recipients.map(({ kind, email: address }) => `${kind} ${address}`)).toEqual([
          "to ada@example.com",
          "cc grace@example.com",
          "bcc archive@acme.example",
        ]);
      },
    },
    "sends different mails by one call": {
      page: "emails.md",
      headings: ["A batch of different emails"],
      check: async ({ client }) =>
        expect((await client.emails.list()).data.map(({ subject }) => subject).sort()).toEqual(["Your receipt", "Your report"]),
    },
    "sends what nobody gets, on a server in production": {
      page: "emails.md",
      headings: ["Test keys"],
      check: async ({ client }) => {
        expect((await client.testInbox.list()).data).toHaveLength(1);
        expect((await client.emails.list()).data).toEqual([]);
      },
    },
    "sees a bounce, and lets the address get mail again": {
      page: "emails.md",
      headings: ["Suppression"],
      check: async ({ client }) => {
        expect((await client.emails.list({ status: "bounced" })).data).toHaveLength(1);
        expect((await client.suppressions.list()).data).toEqual([]);
      },
    },
    "registers a webhook": {
      page: "webhooks.md",
      headings: ["Webhooks"],
      check: async ({ client, read }) => {
        expect((await client.webhooks.list()).data).toHaveLength(1);
        expect(JSON.parse(read("webhook.json")).secret).toMatch(/^whsec_/);
      },
    },
    "keeps the mail of parallel tests apart": {
      page: "smtp.md",
      headings: ["Parallel tests"],
      check: ({ printed }) => expect(printed).toContain("Of run 7"),
    },
  },
  "a job in CI": {
    "starts a server for several steps": {
      page: "recipes/ci.md",
      headings: ["A server for several steps"],
      check: ({ printed }) => {
        expect(printed).toContain('"subject":"Step 1"');
        expect(printed).toContain('{"reset":true}');
      },
    },
    "keeps a recording of a run that fails": {
      page: "recipes/ci.md",
      headings: ["When a test fails", "What is in a recording"],
      check: ({ printed, path }) => {
        expect(gunzipSync(readFileSync(path("run.ndjson.gz"))).toString()).toContain("bounced@simulator.mailsvc.test");
        expect(printed).toContain("The mailbox does not exist.");
      },
    },
    "writes reports": {
      page: "recipes/ci.md",
      headings: ["Reports"],
      check: ({ read }) => {
        expect(read("mail.xml")).toContain("<testsuite");
        expect(JSON.parse(read("mail.json"))).toMatchObject({ exitCode: 0 });
        expect(read("mail.md")).toContain("| exit code | 0 after");
      },
    },
    "knows that no mail was sent": {
      page: "testing.md",
      headings: ["That no mail came"],
      check: ({ printed }) => expect(JSON.parse(printed)).toMatchObject({ none: true, mails: [] }),
    },
  },
  "who runs the server, and a marketer": {
    "adds a mail server": {
      page: "relays.md",
      headings: ["Add one"],
      check: ({ printed }) => {
        expect(printed).toContain("email-smtp.eu-west-1.amazonaws.com");
        expect(printed).not.toContain("correct-horse");
      },
    },
    "exports and erases a person": {
      page: "contacts.md",
      headings: ["Data subject requests"],
      before: (client) => client.contacts.create({ email: "grace@example.com", firstName: "Grace" }),
      check: async ({ client, read }) => {
        expect(read("grace.json")).toContain("Grace");
        expect((await client.contacts.list({ search: "grace" })).data).toEqual([]);
      },
    },
    "keeps a list": {
      page: "audience.md",
      headings: ["Lists"],
      check: async ({ client }) => {
        const [list] = (await client.lists.list()).data;
        expect((await client.lists.contacts(list?.id ?? "")).data.map(({ contact }) => contact.email)).toEqual(["ada@example.com"]);
      },
    },
    "never writes to somebody again": {
      page: "audience.md",
      headings: ["Suppressions"],
      check: async ({ client }) =>
        expect((await client.suppressions.list()).data).toMatchObject([{ email: "linus@example.com", note: "asked by phone" }]),
    },
    "sends a mailing from a CSV file, and reads its report": {
      page: "campaigns.md",
      headings: ["From a CSV file to a report"],
      check: async ({ client, read }) => {
        const [campaign] = (await client.campaigns.list()).data;
        expect(campaign).toMatchObject({ name: "Launch", status: "SENT" });
        expect(await client.campaigns.stats(campaign?.id ?? "")).toMatchObject({ recipients: { total: 3, bounced: 1 } });
        expect(read("recipients.csv")).toContain("bounced@simulator.mailsvc.test");
      },
    },
    "lets an automation put contacts on a list": {
      page: "automations.md",
      headings: ["As files", "Watching, and trying without doing"],
      check: async ({ client }) => {
        await client.clock.advance({ by: "1h" });
        const [list] = (await client.lists.list()).data;
        expect((await client.lists.contacts(list?.id ?? "")).data.map(({ contact }) => contact.email)).toEqual(["ada@example.com"]);
      },
    },
  },
  "who moves here, and keeps the data right": {
    "moves people from listmonk's file": {
      page: "moving/from-listmonk.md",
      headings: ["From a file"],
      check: async ({ client }) => {
        expect(await statusesOf(client)).toEqual({ "ada@example.com": "SUBSCRIBED", "bob@example.com": "UNSUBSCRIBED" });
        const [list] = (await client.lists.list()).data;
        expect([list?.name, list?.memberCount]).toEqual(["Newsletter", 1]);
      },
    },
    "moves an audience from Mailchimp": {
      page: "moving/from-mailchimp.md",
      headings: ["From Mailchimp"],
      check: async ({ client }) =>
        expect(await statusesOf(client)).toEqual({
          "ada@example.com": "SUBSCRIBED",
          "bob@example.com": "UNSUBSCRIBED",
          "old@example.com": "BOUNCED",
        }),
    },
    "brings contacts and bounces from SendGrid": {
      page: "moving/from-sendgrid.md",
      headings: ["Bringing your data"],
      check: async ({ client }) => {
        expect(await statusesOf(client)).toEqual({ "ada@example.com": "SUBSCRIBED" });
        expect((await client.suppressions.list()).data).toMatchObject([{ email: "gone@example.com", reason: "bounce", scope: "all" }]);
      },
    },
    "takes an import back": {
      page: "importing.md",
      headings: ["Undoing an import"],
      check: async ({ client }) => expect(await statusesOf(client)).toEqual({}),
    },
    "corrects rows of a file that failed": {
      page: "importing.md",
      headings: ["Rows that fail"],
      check: async ({ client }) =>
        expect(await statusesOf(client)).toEqual({ "ada@example.com": "SUBSCRIBED", "bob@example.com": "SUBSCRIBED" }),
    },
    "brings a list of addresses that must get no mail": {
      page: "importing.md",
      headings: ["Suppressions"],
      check: async ({ client }) => {
        const { data } = await client.suppressions.list();
        expect(data.map(({ email, reason }) => `${email} ${reason}`).sort()).toEqual([
          "ada@example.com complaint",
          "old@example.com bounce",
        ]);
      },
    },
    "names a person by an id of its own, who then changes the address": {
      page: "contacts.md",
      headings: ["Your own ids"],
      check: async ({ client }) => expect(await client.contacts.get("user_1042")).toMatchObject({ email: "alan@new.example" }),
    },
    "unsubscribes a person, and lets them get mail again": {
      page: "contacts.md",
      headings: ["Status"],
      before: (client) => client.contacts.create({ email: "ada@example.com" }),
      check: async ({ client, printed }) => {
        expect(printed).toContain("unsubscribe");
        expect(await statusesOf(client)).toEqual({ "ada@example.com": "SUBSCRIBED" });
        expect((await client.suppressions.list()).data).toEqual([]);
      },
    },
    "sets languages of a person, a list and the brand": {
      page: "languages.md",
      headings: ["Which language"],
      check: async ({ client }) => {
        expect((await client.contacts.list()).data).toMatchObject([{ language: "pt-BR" }]);
        expect((await client.lists.list()).data).toMatchObject([{ language: "fr" }]);
        expect(await client.brand.get()).toMatchObject({ locale: "de" });
      },
    },
  },
  "who finds out what happened": {
    "sees who changed a list": {
      page: "debugging.md",
      headings: ["Who changed what"],
      check: async ({ client, read }) => {
        const [update] = (await client.audit.list({ action: "lists.update" })).data;
        expect(update?.changes).toEqual([{ field: "name", before: "News", after: "Newsletter" }]);
        expect(read("changes.ndjson").trim().split("\n")).toHaveLength(2);
      },
    },
    "sees which address bounced, and that it gets no more mail": {
      page: "bounces.md",
      headings: ["What a report does"],
      check: async ({ client, printed }) => {
        expect((await client.emails.list()).data).toMatchObject([{ status: "bounced" }]);
        expect(printed).toContain("bounced@simulator.mailsvc.test");
      },
    },
    "looks at the bounces of the last hour and of yesterday": {
      page: "cli.md",
      headings: ["Times"],
      check: async ({ client, printed }) => {
        expect(JSON.parse(printed.slice(0, printed.indexOf("\n")))).toMatchObject({ data: [] });
        expect(Date.parse((await client.clock.show()).now) - Date.now()).toBeGreaterThan(2 * 24 * 3_600_000);
      },
    },
    "lets three days pass, and sees which mail failed": {
      page: "index.md",
      headings: ["Own the clock"],
      check: async ({ client }) => expect((await client.emails.list({ status: "failed" })).data).toHaveLength(1),
    },
    "repeats a request without a second mail": {
      page: "emails.md",
      headings: ["Idempotency"],
      check: async ({ client }) => expect((await client.emails.list({ subject: "Order 1017" })).data).toHaveLength(1),
    },
    "tries mail with a test key": {
      page: "emails.md",
      headings: ["Test keys"],
      check: async ({ client, printed }) => {
        expect(printed).toContain("Your report");
        expect((await client.testInbox.list({ to: "ada@example.com" })).data).toHaveLength(1);
        expect((await client.keys.list()).data.map(({ name, test }) => [name, test])).toContainEqual(["staging", true]);
      },
    },
    "records purchases, also of the past": {
      page: "automations.md",
      headings: ["Your own events, and revenue"],
      before: (client) => client.contacts.create({ email: "ada@example.com" }),
      check: async ({ client }) => expect((await client.events.list({ type: "contact.tracked" })).data).toHaveLength(3),
    },
    "receives the mail of a domain": {
      page: "receiving.md",
      headings: ["Domains of your own"],
      check: async ({ client }) => expect((await client.inboundDomains.list()).data).toMatchObject([{ domain: "in.acme.example" }]),
    },
  },
};

/** The status of each contact. */
async function statusesOf(client: Mailsvc): Promise<Record<string, string>> {
  return Object.fromEntries((await client.contacts.list()).data.map(({ email, status }) => [email, status]));
}

describe.each(Object.entries(TASKS))("%s", (user, tasks) => {
  test.each(Object.entries(tasks))("%s", async (name, { page, headings, after, before, check }) => {
    const cwd = mkdtempSync(join(folder, "task-"));
    symlinkSync(join(root, "node_modules"), join(cwd, "node_modules"));
    const server = await startPageServer(join(cwd, "data"));
    onTestFinished(() => server.close());
    const clientOf = (apiKey: string): Mailsvc => new Mailsvc({ apiKey, baseUrl: server.url });
    const client = clientOf(server.apiKey ?? "");
    await before?.(client);
    const commands = findCommands(page, headings, after);
    expect(commands, `${user} ${name}: ${page} has such commands`).not.toEqual([]);
    const printed = await type(commands.join("\n"), cwd, { ...listVariables(server), MAILSVC_CONFIG: join(cwd, "config.json") });
    const path = (file: string): string => join(cwd, file);
    await check({ client, clientOf, printed, path, read: (file) => (existsSync(path(file)) ? readFileSync(path(file), "utf8") : "") });
  });
});

test("there are forty tasks at least", () => expect(Object.values(TASKS).flatMap(Object.keys).length).toBeGreaterThanOrEqual(40));

/** The shell commands below headings of a page, or of them those after a sentence. */
function findCommands(page: string, headings: readonly string[], after: string | undefined): string[] {
  const file = join(root, "docs", page);
  const lines = readFileSync(file, "utf8").split("\n");
  const [title = ""] = lines;
  return headings.flatMap((heading) =>
    blocksOf(file)
      .filter((block) => block.language === "sh" && !/curl/i.test(block.label))
      .filter((block) => (block.heading || title.slice(2)) === heading)
      .filter(
        ({ line }) =>
          after === undefined ||
          lines
            .slice(0, line - 1)
            .findLast((text) => text !== "")
            ?.startsWith(after),
      )
      .map(({ text }) => text),
  );
}

/** Types commands into a shell, and returns what they print to stdout. */
async function type(text: string, cwd: string, variables: Record<string, string | undefined>): Promise<string> {
  const inherited = cleanEnvironment();
  const path = [join(folder, "bin"), join(root, "node_modules/.bin"), inherited["PATH"]].join(delimiter);
  const env = { ...inherited, ...variables, PATH: path, NO_COLOR: "1" };
  const script = `exec </dev/null\n${text}`;
  try {
    return (await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd, env })).stdout;
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { stdout: string; stderr: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}
