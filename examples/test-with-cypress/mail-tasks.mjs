import { connectLocal, toHaveSent } from "@mailsvc/sdk/testing";

/**
 * Tasks by which specs, which run in the browser, reach the mail server through `cy.task`. It is the server of `mailsvc dev -- COMMAND`,
 * or the one that runs in this folder. A task without a result returns null, because Cypress takes undefined for a mistake.
 */
export async function connectMail() {
  const server = await connectLocal();
  return {
    sdk: server.sdk,
    tasks: {
      /** Deletes all mail. */
      "mail:reset": async () => {
        await server.reset();
        return null;
      },
      /** The oldest mail that matches, once it is there. Fails when none comes. */
      "mail:wait": async (filter) => {
        const { to, subject, text, html, links, codes } = await server.inbox.waitFor(filter);
        return { to, subject, text, html, links, codes };
      },
      /** Fails if such a mail was sent. It need not wait for mail that may still come: all that is due is sent first. */
      "mail:none": async (filter) => {
        const sent = await toHaveSent(server, filter);
        if (sent.pass) throw new Error(sent.message());
        return null;
      },
      /** Moves the clock by a time such as "3d", and sends what falls due. */
      "mail:advance": async (by) => {
        await server.clock.advance(by);
        return null;
      },
    },
  };
}
