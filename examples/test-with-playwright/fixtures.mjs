import { startLocal, toHaveSent } from "@mailsvc/sdk/testing";
import { expect as baseExpect, test as baseTest } from "@playwright/test";
import { startApp } from "./app.mjs";

export const expect = baseExpect.extend({ toHaveSent });

/** Each worker has a mail server and an app of its own, so that tests which run at the same time do not see each other's mail. */
export const test = baseTest.extend({
  mailServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs here
    async ({}, use) => {
      const server = await startLocal();
      await use(server);
      await server.close();
    },
    { scope: "worker" },
  ],
  app: [
    async ({ mailServer }, use) => {
      const app = await startApp(mailServer.sdk);
      await use(app);
      await app.close();
    },
    { scope: "worker" },
  ],
  /** The mail server, empty. */
  mail: async ({ mailServer }, use) => {
    await mailServer.reset();
    await use(mailServer);
  },
});
