import { expect, test } from "./fixtures.mjs";

test("a user gets a link that works once", async ({ page, app, mail }) => {
  await page.goto(app.url);
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByRole("button").click();
  await expect(page.getByText("a mail is on its way")).toBeVisible();

  const { html, links } = await mail.inbox.waitFor({ to: "ada@example.com", subject: "Reset your password" });
  await page.setContent(html);
  await page.getByRole("link", { name: "Choose a new password" }).click();
  await page.getByLabel("New password").fill("correct horse battery staple");
  await page.getByRole("button").click();
  await expect(page.getByText("Your password is changed, Ada.")).toBeVisible();

  await page.goto(links[0]);
  await expect(page.getByText("This link is not valid any more.")).toBeVisible();
});

test("a stranger gets no mail", async ({ page, app, mail }) => {
  await page.goto(app.url);
  await page.getByLabel("Email").fill("mallory@example.com");
  await page.getByRole("button").click();
  await expect(page.getByText("a mail is on its way")).toBeVisible();
  await expect(mail).not.toHaveSent({ to: "mallory@example.com" });
});
