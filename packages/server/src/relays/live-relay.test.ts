import { expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { relayDenied, scriptedMailer } from "../../test/scripted-mailer.ts";
import { silentLog } from "../lib/log.ts";
import { HOUR, MINUTE } from "../lib/units.ts";
import { sampleMail } from "../mail/mailer.laws.ts";
import { LiveRelay } from "./live-relay.ts";

test("a relay that refuses nearly everybody gets one mail a minute that another could take, also after the clock was set back", async () => {
  let now = HOUR;
  const clock = { ...manualTime(), now: () => now };
  const mailer = scriptedMailer(() => relayDenied);
  const relay = new LiveRelay({
    ...{ name: "main", stored: null, mailer, ratePerSecond: null, processes: () => 1, clock, log: silentLog },
    traced: (made) => made,
  });
  for (let n = 0; n < 20; n += 1) await relay.mailer.send(sampleMail({ envelopeTo: `ada${n}@example.com` }));
  expect(relay.state.state).toBe("paused");
  expect([relay.takesMail(), relay.takesMail()]).toEqual([true, false]);
  now += MINUTE;
  expect([relay.takesMail(), relay.takesMail()]).toEqual([true, false]);
  now -= HOUR;
  expect([relay.takesMail(), relay.takesMail()]).toEqual([true, false]);
});
