import { expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { accepted, relayDenied, scriptedMailer } from "../../test/scripted-mailer.ts";
import { silentLog } from "../lib/log.ts";
import { HOUR, MINUTE } from "../lib/units.ts";
import { sampleMail } from "../mail/mailer.laws.ts";
import type { Receipt } from "../mail/mailer.ts";
import { LiveRelay } from "./known-relay.ts";

const refused = (message: string): Receipt => ({ outcome: "bounced", error: { message, smtpCode: 550, enhancedCode: null } });

test("a relay that refuses nearly everybody gets one mail a minute that another could take, also after the clock was set back", async () => {
  let now = HOUR;
  const clock = { ...manualTime(), now: () => now };
  const mailer = scriptedMailer(() => relayDenied);
  const relay = new LiveRelay({
    ...{ name: "main", mailer, ratePerSecond: null, processes: () => 1, clock, log: silentLog },
    traced: (made) => made,
  });
  for (let n = 0; n < 20; n += 1)
    await relay.mailer.send(sampleMail({ envelopeTo: `ada${n}@example.com`, origin: { workspaceId: "ws_a", emailId: null } }));
  expect(relay.state.state).toBe("paused");
  expect([relay.takesMail("ws_a"), relay.takesMail("ws_a")]).toEqual([true, false]);
  now += MINUTE;
  expect([relay.takesMail("ws_a"), relay.takesMail("ws_a")]).toEqual([true, false]);
  now -= HOUR;
  expect([relay.takesMail("ws_a"), relay.takesMail("ws_a")]).toEqual([true, false]);
});

test("a relay that refuses the mail of one workspace is out of service for that one alone, and paused once it refuses all", async () => {
  const clock = { ...manualTime(), now: () => HOUR };
  const mailer = scriptedMailer(({ origin }) =>
    origin?.workspaceId === "ws_good" ? accepted : refused(`550 the domain of ${origin?.workspaceId} is not verified`),
  );
  const relay = new LiveRelay({
    ...{ name: "main", mailer, ratePerSecond: null, processes: () => 1, clock, log: silentLog },
    traced: (made) => made,
  });
  const sendFor = async (workspaceId: string): Promise<void> => {
    for (let n = 0; n < 20; n += 1)
      await relay.mailer.send(sampleMail({ envelopeTo: `ada${n}@example.com`, origin: { workspaceId, emailId: null } }));
  };
  await sendFor("ws_good");
  for (let n = 0; n < 3; n += 1) await sendFor("ws_bad");
  const other = new LiveRelay({
    ...{ name: "other", mailer: scriptedMailer(), ratePerSecond: null, processes: () => 1, clock, log: silentLog },
    traced: (made) => made,
  });
  expect([relay.isOutOfService("ws_bad"), relay.isOutOfService("ws_good")]).toEqual([true, false]);
  expect(relay.choose([other], "ws_bad").isOutOfService()).toBe(true);
  expect(relay.choose([other], "ws_good").isOutOfService()).toBe(false);
  expect([relay.takesMail("ws_bad"), relay.takesMail("ws_bad"), relay.takesMail("ws_good")]).toEqual([true, false, true]);
  expect(relay.state.state).toBe("up");
});

test("a relay is paused when it refuses the mail of each workspace with words of its own", async () => {
  const clock = { ...manualTime(), now: () => HOUR };
  const mailer = scriptedMailer(({ origin }) => refused(`550 the domain ${origin?.workspaceId} is not verified`));
  const relay = new LiveRelay({
    ...{ name: "main", mailer, ratePerSecond: null, processes: () => 1, clock, log: silentLog },
    traced: (made) => made,
  });
  for (let n = 0; n < 40; n += 1)
    for (const workspaceId of ["ws_one", "ws_two"])
      await relay.mailer.send(sampleMail({ envelopeTo: `ada${n}@example.com`, origin: { workspaceId, emailId: null } }));
  expect(mailer.sent.length).toBeLessThan(60);
  expect(relay.state).toMatchObject({ state: "paused", reason: expect.stringContaining("is not verified") });
});
