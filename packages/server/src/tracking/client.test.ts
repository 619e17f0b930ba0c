import { expect, test } from "vitest";
import { identifyClient } from "./client.ts";

const identify = (agent: string | null, headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET") =>
  identifyClient({ method, header: (name) => (name === "user-agent" ? agent : (headers[name] ?? null)) });

const CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";

test.each([
  [CHROME, "Chrome"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.5.0", "Thunderbird"],
  ["Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)", "Gmail"],
  ["YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html", "Yahoo Mail"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    "Safari",
  ],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148", "Apple Mail"],
  ["Mozilla/4.0 (compatible; ms-office; MSOffice 16)", "Outlook"],
  [`${CHROME} Edg/131.0.0.0`, "Edge"],
  ["SomethingNew/1.0", "other"],
])("a person may use %s", (agent, name) => {
  expect(identify(agent)).toEqual({ name, reason: null });
});

test.each([
  ["Mozilla/5.0", "apple-mail-privacy"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0",
    "prefetch",
  ],
  ["", "scanner"],
  [null, "scanner"],
  ["curl/8.5.0", "scanner"],
  ["python-requests/2.32", "scanner"],
  ["Go-http-client/2.0", "scanner"],
  ["Barracuda Sentinel (EE)", "scanner"],
  ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "scanner"],
  ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36", "scanner"],
  [`${"x".repeat(5000)}bot`, null],
])("only machines say %j", (agent, reason) => {
  expect(identify(agent)).toMatchObject({ reason });
});

test("a browser that fetches ahead, and a request for headers only, are machines", () => {
  expect(identify(CHROME, { "sec-purpose": "prefetch;prerender" })).toEqual({ name: "Chrome", reason: "prefetch" });
  expect(identify(CHROME, { purpose: "prefetch" })).toMatchObject({ reason: "prefetch" });
  expect(identify(CHROME, {}, "HEAD")).toEqual({ name: "Chrome", reason: "head-request" });
});
