import { expect, test } from "vitest";
import { scriptedMailer } from "../../test/scripted-mailer.ts";
import { ControllableClock } from "../lib/controllable-clock.ts";
import { SECOND } from "../lib/units.ts";
import { Availability } from "./availability.ts";
import { sampleMail } from "./mailer.laws.ts";
import type { Receipt } from "./mailer.ts";

const SENT: Receipt = { outcome: "sent", response: "250 ok" };
const GONE: Receipt = {
  outcome: "deferred",
  unavailable: true,
  error: { message: "421 4.3.2 not now", smtpCode: 421, enhancedCode: null },
};

/** A relay whose replies come when the test gives them, and what its check finds. */
function setUp() {
  const clock = new ControllableClock(1_000_000, "frozen");
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const replies: ((receipt: Receipt) => void)[] = [];
  const found: { check: string | null } = { check: "connection refused" };
  const availability = new Availability(
    {
      ...scriptedMailer(() => SENT),
      send: () => new Promise<Receipt>((resolve) => replies.push(resolve)),
      check: async () => found.check,
    },
    { name: "first", clock, log: { info: note, warn: note, error: note } },
  );
  const mailer = availability.watched();
  const handOver = () => {
    const receipt = mailer.send(sampleMail());
    const reply = replies.pop() as (receipt: Receipt) => void;
    return async (answer: Receipt) => {
      reply(answer);
      await receipt;
    };
  };
  return { availability, clock, found, handOver, lines };
}

test("a relay goes down with the first reply that says so, and up with a mail that it takes afterwards", async () => {
  const { availability, handOver, lines } = setUp();
  expect([availability.reason === null, availability.reason]).toEqual([true, null]);
  await handOver()(GONE);
  expect([availability.reason === null, availability.reason]).toEqual([false, "421 4.3.2 not now"]);
  await handOver()(SENT);
  expect([availability.reason === null, availability.reason]).toEqual([true, null]);
  expect(lines).toEqual(["a relay is out of service", "a relay is in service again"]);
});

test("a mail that was under way when the relay went down does not bring it up", async () => {
  const { availability, handOver } = setUp();
  const before = handOver();
  await handOver()(GONE);
  await before(SENT);
  expect(availability.reason === null).toBe(false);
});

test("it is checked while no mail is sent, and not any more once it is closed", async () => {
  const { availability, clock, found, handOver, lines } = setUp();
  await handOver()(GONE);
  expect(clock.next()?.name).toBe("relays.check");
  found.check = null;
  await clock.advanceTo(clock.now() + 15 * SECOND, () => clock.real.sleep(0));
  expect(availability.reason).toBeNull();
  expect(lines.at(-1)).toBe("a relay is in service again");
  await handOver()(GONE);
  await availability.watched().close();
  expect(clock.next()).toBeNull();
});

test("it is checked after 15 seconds, then after twice as long, and is up once a check succeeds", async () => {
  const { availability, clock, found, handOver } = setUp();
  await handOver()(GONE);
  const isUpAfter = async (seconds: number): Promise<boolean> => {
    await clock.advanceTo(clock.now() + seconds * SECOND, async () => {});
    await clock.real.sleep(0);
    return availability.reason === null;
  };
  found.check = null;
  expect(await isUpAfter(14)).toBe(false);
  found.check = "connection refused";
  expect(await isUpAfter(1)).toBe(false);
  found.check = null;
  expect(await isUpAfter(29)).toBe(false);
  expect(await isUpAfter(1)).toBe(true);
});
