import type { Mailsvc } from "@mailsvc/sdk";
import { describeMails, type TestInbox, toTestMail } from "@mailsvc/sdk/testing";
import type { Activity } from "./activity.ts";

/** @internal */
interface InboxParts {
  readonly sdk: Mailsvc;
  readonly settle: () => Promise<void>;
  readonly activity: Activity;
}

/**
 * The inbox of a world. `waitFor` throws at once while the clock is frozen, when no request is under way and nothing is due; after 5
 * seconds while it runs.
 * @internal
 */
export function createInbox({ sdk, settle, activity }: InboxParts): TestInbox {
  const all: TestInbox["all"] = async (filter = {}) => {
    await settle();
    return (await sdk.inbox.list(filter).toArray()).reverse();
  };
  return {
    all,
    get: async (id) => {
      await settle();
      return toTestMail(await sdk.inbox.get(id));
    },
    waitFor: async ({ timeout = activity.timeout, ...filter } = {}) => {
      for (;;) {
        await activity.end();
        const mail = await sdk.inbox.wait({ ...filter, timeout }).catch(toNull);
        if (mail) return toTestMail(mail);
        if (!activity.isAsked)
          throw new Error(`No mail matches ${JSON.stringify(filter)}. ${describeMails(await all())}${activity.explain()}`);
      }
    },
  };
}

function toNull(error: unknown): null {
  if ((error as { code?: unknown }).code === "not_found") return null;
  throw error;
}
