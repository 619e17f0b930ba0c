import type { Mailsvc } from "@mailsvc/sdk";
import { describeMails, type TestInbox, toTestMail } from "@mailsvc/sdk/testing";
import { iso } from "../lib/clock.ts";
import type { ControllableClock } from "../lib/controllable-clock.ts";

// Time limit of a wait while the clock runs, seconds of real time.
const RUNNING_TIMEOUT = 5;

// Requests that themselves wait for something to happen.
const WAITING = /\/(?:wait|stream)$/;

/** Current activity of a world: requests under way, and due work. While its clock is frozen nothing else can happen. */
export class Activity {
  readonly #clock: ControllableClock;
  readonly #settle: () => Promise<void>;
  readonly #requests = new Set<Promise<unknown>>();

  constructor(clock: ControllableClock, settle: () => Promise<void>) {
    this.#clock = clock;
    this.#settle = settle;
  }

  /** Counts a request until it is answered. */
  follow({ url }: Request, answering: Promise<unknown>): void {
    if (WAITING.test(new URL(url).pathname)) return;
    const answered = answering.then(
      () => {},
      () => {},
    );
    this.#requests.add(answered);
    void answered.then(() => this.#requests.delete(answered));
  }

  /** True if a request is under way. */
  get isAsked(): boolean {
    return this.#requests.size > 0;
  }

  /** Waits until all requests are answered and nothing is due. */
  async end(): Promise<void> {
    do {
      await Promise.all(this.#requests);
      await this.#settle();
    } while (this.isAsked);
  }

  /** Time to wait for something that has not happened, seconds of real time. With a frozen clock waiting would change nothing. */
  get timeout(): number {
    return this.#clock.mode === "frozen" ? 0 : RUNNING_TIMEOUT;
  }

  /** Explains why nothing more happens; empty when the clock runs. */
  explain(): string {
    if (this.#clock.mode !== "frozen") return "";
    const next = this.#clock.next();
    const due = next === null ? "nothing is due any more" : `nothing is due before ${iso(next.at)}`;
    return `\nThe clock stands at ${iso(this.#clock.now())}, and ${due}: world.clock.advance() moves it. For code that goes on by itself, give waitFor a timeout.`;
  }
}

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
