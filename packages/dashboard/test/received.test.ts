import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { type Look, testLooks } from "./looks.ts";
import { createMarket } from "./market.ts";

interface Page<Item> {
  readonly data: readonly Item[];
}

let stage: Stage;
let question = "";
let answered = "";

const list = <Item>(path: string): Promise<Page<Item>> => stage.call<Page<Item>>("GET", path);

/** Sends a mail that can be answered, and answers it as its reader does; the id of the email. */
async function converse(subject: string, reply: string, more: object = {}): Promise<string> {
  const mail = { from: "Acme <hello@acme.example>", to: "Ada Lovelace <ada@example.com>", subject, replyTo: "auto" };
  const { id } = await stage.call<{ id: string }>("POST", "/api/v1/send", { ...mail, text: "How are you?", html: "<p>How are you?</p>" });
  const captured = await stage.call<{ id: string }>("GET", `/__dev/inbox/wait?timeout=60&subject=${encodeURIComponent(subject)}`);
  await stage.call("POST", `/__dev/inbox/${captured.id}/reply`, { text: reply, ...more });
  return id;
}

beforeAll(async () => {
  stage = await createStage();
  await stage.call("POST", "/api/v1/inbound-domains", { domain: "in.acme.example" });
  answered = await converse("Your order", "Where is my parcel?\n\nIt should be here by now.", {
    attachments: [{ filename: "label.txt", content: "aGk=" }],
  });
  await converse("Holidays", "I am away until Monday.", { automatic: true });
  const { data } = await list<{ id: string; emailId: string }>("/api/v1/received");
  question = data.find(({ emailId }) => emailId === answered)?.id ?? "";
}, PATIENCE_MS * 3);
afterAll(() => stage?.[Symbol.asyncDispose]());

const pages = (): readonly Look[] => [
  ["received", "/dashboard/received", "Re: Your order"],
  ["received-none", "/dashboard/received?from=nobody@example.com", "No mail fits these filters"],
  ["thread", `/dashboard/received/${question}`, "It should be here by now."],
  ["inbound-domains", "/dashboard/inbound-domains", "in.acme.example"],
];

testLooks({
  open: (...args) => stage.open(...args),
  pages,
});

test(
  "a person finds an answer from the email, reads the conversation, and answers it by keyboard alone",
  async () => {
    const { page, faults } = await stage.open(`/dashboard/activity/${answered}`);
    await page.getByText("The recipient answered").waitFor();
    await page.getByRole("region", { name: "Answers" }).getByRole("link").focus();
    await page.keyboard.press("Enter");
    await page.getByText("Where is my parcel?").first().waitFor();
    const ours = page.getByRole("article", { name: /^Our mail/ });
    expect(await ours.first().textContent()).toContain("How are you?");
    await expect.poll(() => page.getByRole("article").count()).toBe(2);
    await page.getByLabel("Answer ada@example.com").focus();
    await page.keyboard.type("It comes tomorrow.");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    // The answer joins the conversation, after the mail it answers.
    await page.getByRole("article").filter({ hasText: "It comes tomorrow." }).waitFor();
    const said = await page.getByRole("article").allTextContents();
    expect(said.findIndex((one) => one.includes("It comes tomorrow."))).toBe(2);
    const { data } = await list<{ to: string; subject: string }>("/api/v1/emails?subject=Re:");
    expect(data).toMatchObject([{ to: "ada@example.com", subject: "Re: Your order" }]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "mail by programs is marked, can be filtered, and is not answered",
  async () => {
    const { page, faults } = await stage.open("/dashboard/received");
    await page.getByRole("combobox", { name: "Written by" }).selectOption("programs");
    await page.getByRole("link", { name: "ada@example.com" }).first().waitFor();
    await page.getByText("Re: Your order").waitFor({ state: "detached" });
    await page.getByRole("row").filter({ hasText: "automatic" }).getByRole("link").click();
    await page.getByText("It says that a program has sent it.").waitFor();
    await page.getByText("Mail by programs is not answered").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send the answer" }).count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a person passes an answer on to an agent that may read messages",
  async () => {
    await using market = await createMarket(stage);
    const { page, faults } = await stage.open(`/dashboard/received/${question}`);
    await page.getByText("Where is my parcel?").first().waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Pass on to an agent" }).count()).toBe(0);
    await page.context().close();
    await market.list("helper", "Parcel helper");
    await market.turnOn("helper");
    const again = await stage.open(`/dashboard/received/${question}`);
    await again.page.getByRole("button", { name: "Pass on to an agent" }).click();
    await again.page.getByRole("dialog").getByRole("button", { name: "Pass on to an agent" }).click();
    await again.page.getByText("Passed on to Parcel helper").waitFor();
    const [activation] = (await market.brand.activations.list()).data;
    const [message] = (await market.brand.messages.list(activation?.id ?? "")).data;
    expect(message).toMatchObject({ direction: "inbound", text: expect.stringContaining("Where is my parcel?") });
    expect([...faults, ...again.faults]).toEqual([]);
    await again.page.context().close();
  },
  PATIENCE_MS * 2,
);
