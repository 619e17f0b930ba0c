import type { Role } from "@mailsvc/sdk/contract";
import type { TestWorld } from "../src/testing.ts";

/** Host of the dashboard in tests. */
export const HOST = "mail.acme.example";

/** What a browser got. */
export interface Answer {
  readonly status: number;
  readonly cookie: string | null;
  readonly location: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the answers of many pages, of which tests look at single fields.
  readonly body: any;
}

interface Asked {
  readonly cookie?: string;
  readonly body?: object;
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks as a browser does: with the origin of the dashboard, and a cookie. */
export async function browse(
  world: Pick<TestWorld, "fetch" | "url">,
  method: string,
  path: string,
  { cookie, body, origin, headers }: Asked = {},
): Promise<Answer> {
  const response = await world.fetch(`${world.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      host: HOST,
      ...(method === "GET" ? {} : { origin: origin ?? `http://${HOST}` }),
      ...(cookie !== undefined && { cookie }),
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const cookies = response.headers.getSetCookie().map((one) => one.split(";")[0] ?? "");
  const text = await response.text();
  return {
    status: response.status,
    cookie: cookies.find((one) => one.startsWith("mailsvc-session")) ?? cookies[0] ?? null,
    location: response.headers.get("location"),
    body: response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text,
  };
}

/** Signs a browser in by a link, and returns its cookie. */
export async function signIn(world: TestWorld, role: Role = "owner"): Promise<string> {
  const { url } = await world.sdk.dashboard.link({ role });
  return (await browse(world, "POST", "/dashboard/sign-in", { body: { token: url.split("#")[1] } })).cookie ?? "";
}
