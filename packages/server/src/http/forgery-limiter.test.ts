import { expect, test } from "vitest";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import { ForgeryLimiter } from "./rate-limit.ts";

const forged = () => Promise.reject(new ApiError("invalid_signature", "No."));
const broken = () => Promise.reject(new ApiError("not_ready", "Not now."));
const valid = () => Promise.resolve("taken");

const start = () => {
  const time = { now: 0 };
  const limiter = new ForgeryLimiter({ real: { now: () => time.now } } as Clock);
  const send = (address: string, work: () => Promise<string> = forged): Promise<string> =>
    limiter.run(address, [], work).catch((error: ApiError) => error.code);
  const sendMany = async (address: string, n: number): Promise<void> => {
    for (let i = 0; i < n; i += 1) await send(address);
  };
  return { limiter, time, send, sendMany };
};

test("an address that sends 600 forged webhooks a minute is refused before they are looked at, and told when to come back", async () => {
  const { limiter, time, send, sendMany } = start();
  await sendMany("203.0.113.1", 599);
  expect(await send("203.0.113.1")).toBe("invalid_signature");
  let looked = false;
  const refused: unknown = await limiter
    .run("203.0.113.1", [], async () => {
      looked = true;
    })
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "rate_limited", headers: { "retry-after": "1" } });
  expect(looked).toBe(false);
  expect(await send("203.0.113.2")).toBe("invalid_signature");
  // Ten a second are looked at, so that a provider whose address was abused gets through.
  time.now += 100;
  expect([await send("203.0.113.1"), await send("203.0.113.1")]).toEqual(["invalid_signature", "rate_limited"]);
  time.now += 100;
  expect(await send("203.0.113.1", valid)).toBe("taken");
  await sendMany("203.0.113.1", 500);
  expect(await send("203.0.113.1", valid)).toBe("taken");
});

test("the hosts of one IPv6 network count as one", async () => {
  const { send, sendMany } = start();
  for (let i = 0; i < 600; i += 100) await sendMany(`2001:db8:1:2::${i}`, 100);
  expect(await send("2001:db8:1:2::ffff")).toBe("rate_limited");
  expect(await send("2001:db8:1:3::1")).toBe("invalid_signature");
});

test("what is valid, or fails here, is never counted", async () => {
  const { send } = start();
  for (let i = 0; i < 2000; i += 1) expect(await send("203.0.113.1", i % 2 === 0 ? valid : broken)).not.toBe("rate_limited");
});
