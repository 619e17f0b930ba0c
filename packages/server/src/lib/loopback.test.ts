import { expect, test } from "vitest";
import { isLoopbackAddress } from "./ip-network.ts";

test.each(["127.0.0.1", "127.9.9.9", "::ffff:127.0.0.1", "::1", "0:0:0:0:0:0:0:1", "0000:0000:0000:0000:0000:0000:0000:0001"])(
  "%s is this machine",
  (address) => expect(isLoopbackAddress(address)).toBe(true),
);

test.each(["10.0.0.1", "::2", "2001:db8::1", "::ffff:10.0.0.1", "1127.0.0.1", "0:0:0:0:0:0:0:11", ""])("%s is not", (address) =>
  expect(isLoopbackAddress(address)).toBe(false),
);
