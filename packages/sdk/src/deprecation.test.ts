import { expect, test } from "vitest";
import { Mailsvc } from "./index.ts";

test("a program is warned of an operation that will be gone, once", async () => {
  const warnings: string[] = [];
  const client = new Mailsvc({
    apiKey: "ms_live_test",
    baseUrl: "http://127.0.0.1:9",
    onWarning: (message) => warnings.push(message),
    fetch: async (url) => {
      const ends = String(url).includes("/healthz");
      const headers = {
        "content-type": "application/json",
        ...(ends && { deprecation: "@1803859200", sunset: "Wed, 01 Mar 2028 00:00:00 GMT" }),
      };
      return new Response('{"status":"ok"}', { headers });
    },
  });
  await client.health.live();
  await client.health.live();
  await client.health.ready();
  expect(warnings).toEqual([
    "health.live is deprecated and gone from Wed, 01 Mar 2028 00:00:00 GMT. The API reference says what to use instead.",
  ]);
});
