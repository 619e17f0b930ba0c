import { expect, test } from "vitest";
import { isLoopbackHost } from "./loopback.ts";

test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]"])("%s is this machine", (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

test.each(["localhost.example.com", "evil.localhost", "127.0.0.1.example.com", "128.0.0.1", "::1]", "10.0.0.1", ""])(
  "%s is not",
  (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  },
);
